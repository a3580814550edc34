// Why a request got no page: by its status, by the error of its connection, and by the numbers that a refusal names.

import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { codeOf, type ErrorCode } from '../errors.ts';

/** Why a request got no page, in words that complete "GET …"; `retryable` is false if another try can't help, whatever the code is. */
export type NoPage = readonly [code: ErrorCode, words: string, retryable?: boolean];

/** What a status other than 200 means, by itself or by its hundreds. */
export const statuses: Readonly<Record<number, NoPage>> = {
  401: ['unauthorized', 'the token was refused'],
  403: ['forbidden', 'the token does not allow this list'],
  404: ['not_found', 'there is no page at this address'],
  408: ['timeout', 'the service gave up waiting'],
  425: ['overloaded', 'it is too early'],
  429: ['overloaded', 'too many requests'],
  503: ['overloaded', 'the service is not available'],
  5: ['server_error', 'the service failed'],
  4: ['refused', 'the request was refused'],
  304: ['invalid_response', 'a page was expected'],
  3: ['redirected', 'redirects are not followed; name the final address'],
};

const ownCertificateCodes = /ALERT_(\w+_)?CERT|ALERT_UNKNOWN_CA/;

const certificateCodes =
  /CERT_|ALTNAME|HOSTNAME_MISMATCH|SELF_SIGNED|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/;

const failures: readonly [code: RegExp, failure: NoPage][] = [
  [
    ownCertificateCodes,
    [
      'certificate',
      'was refused, because the service does not accept docmirror without another client certificate',
    ],
  ],
  [certificateCodes, ['certificate', 'was not sent, because the certificate is not accepted']],
  [
    /UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|NO_PROTOCOLS/,
    ['tls', 'was not sent, because the service offers no TLS 1.2 or newer'],
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/,
    ['tls', 'was not sent, because what answers there is not TLS'],
  ],
  [
    /ERR_BUFFER_TOO_LARGE|RES_EXCEEDED_MAX_SIZE/,
    ['response_too_large', 'answered with more than 64 MiB; set DOCMIRROR_PAGE_SIZE to less'],
  ],
  [/^Z_/, ['invalid_response', 'answered with broken gzip']],
  [
    /^UND_ERR_HEADERS_OVERFLOW$/,
    ['invalid_response', 'answered with a header section of more than 64 KiB', false],
  ],
  [
    /^(HPE_UNEXPECTED_CONTENT_LENGTH|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/,
    ['invalid_response', 'answered with a repeated Content-Length, or one beside Transfer-Encoding', false],
  ],
  // A connection that ends early is no wrong answer.
  [
    /^HPE_(?!INVALID_EOF_STATE|CLOSED_CONNECTION|PAUSED)/,
    ['invalid_response', 'answered with what is no HTTP', false],
  ],
];

/** Explains an error of the connection. With a proxy, the host that can't be reached is the proxy; `proxy` is its variable. */
export function brokenConnection(error: unknown, proxy: string | undefined): NoPage {
  const code = codeOf(error) ?? '';
  const [, known] = failures.find(([pattern]) => pattern.test(code)) ?? [];
  if (known !== undefined) return [known[0], `${known[1]} (${code})`, known[2] ?? true];
  const isUnasked =
    code === 'UND_ERR_SOCKET' && error instanceof Error && /^bad (response|upgrade)$/.test(error.message);
  if (isUnasked)
    return ['invalid_response', 'answered 100 Continue, or changed the protocol, without being asked', false];
  const detail = error instanceof Error && error.message !== '' ? error.message : code || 'no detail';
  const status = Number(/Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(detail)?.[1]);
  const isUnreached =
    /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|PRX|SOCKET))/.test(code);
  let because = `does not answer (${detail}). Check ${proxy}, or add the service's host to NO_PROXY`;
  if (status === 407)
    because = `wants a user name and a password (407). Put the right ones into ${proxy}, as http://NAME:PASSWORD@HOST:PORT`;
  else if (status > 0) because = `did not connect to the service (${status})`;
  else if (proxy === undefined || !isUnreached) return ['network', `could not be read: ${detail}`];
  const retryable = !(status < 500) || status === 429;
  return ['proxy', `was not sent, because the proxy ${because}`, retryable];
}

// A service that refuses a page size often names the largest one that it serves. Its words are never shown: they can be an echo of a secret.

/** How much of a refusal's body is read, in bytes, and for how long, in milliseconds. */
const [bodyBytesMax, bodyMsMax] = [16 * 1024, 1_000];
const numbersMax = 8;

const unzip = promisify(gunzip);

interface Body extends AsyncIterable<Uint8Array> {
  destroy(): unknown;
}

/** Reads the numbers that the body of a refusal names, as `numbersIn` does; none if it does not come soon, or is no text. */
export async function numbersOfRefusal(body: Body, headers: IncomingHttpHeaders, status: number) {
  const timer = setTimeout(() => body.destroy(), bodyMsMax);
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= bodyBytesMax) break;
    }
    const received = Buffer.concat(chunks).subarray(0, bodyBytesMax);
    const isPacked = /gzip/i.test(String(headers['content-encoding'] ?? ''));
    const bytes = isPacked ? await unzip(received, { maxOutputLength: bodyBytesMax }) : received;
    return isUtf8(bytes) ? numbersIn(bytes.toString(), status) : [];
  } catch {
    // A refusal needs no body.
    return [];
  } finally {
    clearTimeout(timer);
  }
}

const dateAndTime = /\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?/g;
const range = /(?<![\w.-])(\d{1,3})(?:-|\.{2,3})(?=\d{1,3}(?![\w.-]))/g;
/** A whole number from 1 to 999 that is no part of a word, an address, a fraction, a time or a greater number. */
const numberAlone = /(?<![\w.#/+-])(?<!\d[:,])[1-9]\d{0,2}(?![\w/-]|[.:,]\d)/g;

/** The whole numbers from 1 to 999 in the words of a refusal, but for its status, the greatest first; none in a page for people. */
export function numbersIn(text: string, status: number): number[] {
  if (/^\s*</.test(text)) return [];
  const words = text.replaceAll(dateAndTime, ' ').replaceAll(range, '$1 ');
  const numbers = new Set([...words.matchAll(numberAlone)].map(([digits]) => Number(digits)));
  numbers.delete(status);
  return [...numbers].sort((a, b) => b - a).slice(0, numbersMax);
}
