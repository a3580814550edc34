import { codeOf, type ErrorCode } from '../errors.ts';

/** Why a request got no page, and whether another try can help; `words` complete "GET …". */
export interface Failure {
  readonly code: ErrorCode;
  readonly words: string;
  readonly retryable: boolean;
}

/** By status, or by its hundreds. */
const statuses: Readonly<Record<number, readonly [ErrorCode, words: string, retryable: boolean]>> = {
  401: ['unauthorized', 'the token was refused', false],
  403: ['forbidden', 'the token does not allow this list', false],
  404: ['not_found', 'there is no page at this address', false],
  408: ['timeout', 'the service gave up waiting', true],
  429: ['overloaded', 'too many requests', true],
  503: ['overloaded', 'the service is not available', true],
  5: ['server_error', 'the service failed', true],
  4: ['refused', 'the request was refused', false],
  3: ['redirected', 'redirects are not followed; name the final address', false],
};

/** Explains a status other than 200. */
export function failureOf(status: number): Failure {
  const [code, words, retryable] = statuses[status] ??
    statuses[Math.floor(status / 100)] ?? ['invalid_response', 'a page was expected', true];
  return { code, words: `answered ${status}: ${words}`, retryable };
}

/** What the codes of OpenSSL and Node mean, if no other try can help. */
const refusals: readonly [code: RegExp, ErrorCode, because: string][] = [
  [
    /CERT_|ALTNAME|HOSTNAME_MISMATCH|SELF_SIGNED|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/,
    'certificate',
    'the certificate is not accepted',
  ],
  [/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|NO_PROTOCOLS/, 'tls', 'the service offers no TLS 1.2 or newer'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/, 'tls', 'what answers there is not TLS'],
];

/**
 * Explains an error of the connection.
 *
 * @param proxy the variable that names the proxy; undefined if there is none.
 * @param isOver whether the timeout of the request is over.
 */
export function explainFailure(
  error: unknown,
  proxy: string | undefined,
  isOver: boolean,
  timeoutMs: number,
): Failure {
  const code = codeOf(error) ?? '';
  if (isOver || code === 'UND_ERR_CONNECT_TIMEOUT')
    return { code: 'timeout', words: `did not answer completely within ${timeoutMs} ms`, retryable: true };
  if (code === 'ERR_BUFFER_TOO_LARGE' || code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    const words = 'answered with more than 64 MiB; set DOCMIRROR_PAGE_SIZE to less';
    return { code: 'response_too_large', words, retryable: false };
  }
  if (code.startsWith('Z_'))
    return { code: 'invalid_response', words: 'answered with broken gzip', retryable: true };
  const detail = error instanceof Error && error.message !== '' ? error.message : code || 'no detail';
  for (const [pattern, errorCode, because] of refusals)
    if (pattern.test(code))
      return { code: errorCode, words: `was not sent, because ${because} (${code})`, retryable: false };
  const ofProxy = proxy === undefined ? null : proxyFailure(code, detail, proxy);
  return ofProxy ?? { code: 'network', words: `could not be read: ${detail}`, retryable: true };
}

/** With a proxy, the host that can't be reached is the proxy: it alone connects to the service. */
function proxyFailure(code: string, detail: string, variable: string): Failure | null {
  const failure = (because: string, retryable: boolean): Failure => {
    return { code: 'proxy', words: `was not sent, because the proxy ${because}`, retryable };
  };
  const status = Number(/Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(detail)?.[1]);
  if (status === 407)
    return failure(
      `wants a user name and a password (407). Put the right ones into ${variable}, as http://NAME:PASSWORD@HOST:PORT`,
      false,
    );
  if (status > 0)
    return failure(`did not connect to the service (${status})`, status >= 500 || status === 429);
  return /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|PRX|SOCKET))/.test(code)
    ? failure(`does not answer (${detail}). Check ${variable}, or add the service's host to NO_PROXY`, true)
    : null;
}
