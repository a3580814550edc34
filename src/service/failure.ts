import { codeOf, type ErrorCode } from '../errors.ts';
import type { ConnectionOptions } from './connection.ts';

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
  425: ['overloaded', 'too many requests', true],
  429: ['overloaded', 'too many requests', true],
  503: ['overloaded', 'the service is not available', true],
  5: ['server_error', 'the service failed', true],
  4: ['refused', 'the request was refused', false],
  3: ['redirected', 'redirects are not followed; name the final address', false],
  // A 304 has no address: it says that an older answer is still valid, and docmirror never names one.
  304: ['invalid_response', 'a page was expected', true],
};

/** Explains a status other than 200. */
export function failureOf(status: number): Failure {
  const found = statuses[status] ?? statuses[Math.floor(status / 100)] ?? statuses[304];
  const [code, words, retryable] = found as (typeof statuses)[number];
  return { code, words: `answered ${status}: ${words}`, retryable };
}

/** What the codes of OpenSSL and Node mean, if no other try can help. */
const refusals: readonly [code: RegExp, ErrorCode, because: string, advice: string][] = [
  [
    /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/,
    'certificate',
    'the certificate is not accepted',
    "Check this machine's clock; else the service must renew it.",
  ],
  [
    /ALTNAME|HOSTNAME_MISMATCH/,
    'certificate',
    'the certificate is not accepted',
    'It is for another host: check DOCMIRROR_BASE_URL.',
  ],
  [
    /SELF_SIGNED|UNABLE_TO_|CERT_UNTRUSTED|CERT_CHAIN|CERT_SIGNATURE/,
    'certificate',
    'the certificate is not accepted',
    "If your company's own authority made it, name the file of that authority's certificate in NODE_EXTRA_CA_CERTS.",
  ],
  [
    /^CERT_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/,
    'certificate',
    'the certificate is not accepted',
    'The service needs another one.',
  ],
  [
    /UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|NO_PROTOCOLS/,
    'tls',
    'the service offers no TLS 1.2 or newer',
    'An older one is not safe.',
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/,
    'tls',
    'what answers there is not TLS',
    'Check the port and the scheme of DOCMIRROR_BASE_URL.',
  ],
];

/** Explains an error of the connection. */
export function explainFailure(error: unknown, options: ConnectionOptions): Failure {
  const code = codeOf(error) ?? '';
  const detail = error instanceof Error && error.message !== '' ? error.message : code || 'no detail';
  for (const [pattern, errorCode, because, advice] of refusals)
    if (pattern.test(code)) {
      const words = `was not sent, because ${because} (${code}). ${advice}`;
      return { code: errorCode, words, retryable: false };
    }
  return (
    proxyFailure(code, detail, options) ?? {
      code: 'network',
      words: `could not be read: ${detail}`,
      retryable: true,
    }
  );
}

/** With a proxy, the host that can't be reached is the proxy: it alone connects to the service. */
function proxyFailure(code: string, detail: string, { proxy }: ConnectionOptions): Failure | null {
  if (!proxy) return null;
  const status = Number(
    /Proxy response \((\d{3})\)|Proxy Authentication Required \((407)\)/.exec(detail)?.slice(1).join(''),
  );
  if (status === 407) {
    const words = `was not sent, because the proxy wants a user name and a password (407). Put the right ones into ${proxy.variable}, as http://NAME:PASSWORD@HOST:PORT.`;
    return { code: 'proxy', words, retryable: false };
  }
  if (status > 0) {
    const words = `was not sent, because the proxy did not connect to the service (${status}).`;
    return { code: 'proxy', words, retryable: status >= 500 || status === 429 };
  }
  if (!/^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|PRX|SOCKET))/.test(code)) {
    return null;
  }
  const words = `was not sent, because the proxy does not answer (${detail}). Check ${proxy.variable}, or add the service's host to NO_PROXY.`;
  return { code: 'proxy', words, retryable: true };
}
