import { codeOf, type ErrorCode } from '../errors.ts';
import { certificateAdvice, certificateWords, lookAtCertificate } from './certificate.ts';
import type { ConnectionOptions } from './connection.ts';

/** Why a request got no answer, and whether another try can help; `words` complete "GET …". */
export interface Failure {
  readonly code: ErrorCode;
  readonly words: string;
  readonly retryable: boolean;
}

/** Explains an error of the connection, in fewer words if the signal comes first. */
export async function explainFailure(
  error: unknown,
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Failure> {
  const code = codeOf(error) ?? '';
  const advice = certificateAdvice(code);
  if (advice !== null) return certificateFailure(code, advice, options, signal);
  const words = `could not be read: ${detailOf(error, code)}`;
  return (
    tlsFailure(code) ?? proxyFailure(error, code, options) ?? { code: 'network', words, retryable: true }
  );
}

async function certificateFailure(
  code: string,
  advice: string,
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Failure> {
  const certificate = await lookAtCertificate(options, signal);
  const which = certificate === null ? '' : ` It shows ${certificateWords(certificate)}.`;
  const words = `was not sent, because the certificate is not accepted (${code}).${which} ${advice}`;
  return { code: 'certificate', words, retryable: false };
}

function tlsFailure(code: string): Failure | null {
  if (/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|NO_PROTOCOLS/.test(code)) {
    const words = `was not sent, because the service offers no TLS 1.2 or newer (${code}). An older one is not safe.`;
    return { code: 'tls', words, retryable: false };
  }
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/.test(code)) {
    const words = `was not sent, because what answers there is not TLS (${code}). Check the port and the scheme of DOCMIRROR_BASE_URL.`;
    return { code: 'tls', words, retryable: false };
  }
  return null;
}

/** With a proxy, the host that can't be reached is the proxy: it alone connects to the service. */
function proxyFailure(error: unknown, code: string, { proxy }: ConnectionOptions): Failure | null {
  if (!proxy) return null;
  const message = error instanceof Error ? error.message : '';
  const status = Number(
    /Proxy response \((\d{3})\)|Proxy Authentication Required \((407)\)/.exec(message)?.slice(1).join(''),
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
  const words = `was not sent, because the proxy does not answer (${detailOf(error, code)}). Check ${proxy.variable}, or add the service's host to NO_PROXY.`;
  return { code: 'proxy', words, retryable: true };
}

function detailOf(error: unknown, code: string): string {
  return error instanceof Error && error.message !== '' ? error.message : code || 'no detail';
}
