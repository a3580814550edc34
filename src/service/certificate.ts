import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { type ConnectionOptions, tlsOptions } from './connection.ts';

interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  readonly validFrom: string;
  readonly validTo: string;
}

/** The codes of OpenSSL and Node for a certificate that is refused, each with what to do about it. */
const refusals: readonly [code: RegExp, advice: string][] = [
  [/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/, "Check this machine's clock; else the service must renew it."],
  [/ALTNAME|HOSTNAME_MISMATCH/, 'It is for another host: check DOCMIRROR_BASE_URL.'],
  [
    /SELF_SIGNED|UNABLE_TO_|CERT_UNTRUSTED|CERT_CHAIN|CERT_SIGNATURE/,
    "If your company's own authority made it, name the file of that authority's certificate in NODE_EXTRA_CA_CERTS.",
  ],
  [/^CERT_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/, 'The service needs another one.'],
];

/** Advice for an error code that means that a certificate was refused; null if the code means something else. */
export function certificateAdvice(code: string): string | null {
  return refusals.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}

/** A certificate as an error or `doctor` names it. */
export function certificateWords({ subject, issuer, validFrom, validTo }: Certificate): string {
  return `${subject}, issued by ${issuer}, valid from ${validFrom} to ${validTo}`;
}

/**
 * Looks at the certificate that the service shows, even if it is refused. It sends only the handshake.
 *
 * @returns null if there is none, or if the signal comes first.
 */
export async function lookAtCertificate(
  options: Pick<ConnectionOptions, 'baseUrl' | 'proxy' | 'extraCa'>,
  signal: AbortSignal,
): Promise<Certificate | null> {
  const { protocol, hostname, port } = new URL(options.baseUrl);
  if (protocol !== 'https:') return null;
  const host = hostname.replace(/^\[|\]$/g, '');
  try {
    const socket = await openSocket(host, hostname, Number(port || 443), options, signal);
    return await lookThrough(socket, host, options, signal);
  } catch {
    return null;
  }
}

function lookThrough(
  socket: Socket,
  host: string,
  options: Pick<ConnectionOptions, 'extraCa'>,
  signal: AbortSignal,
): Promise<Certificate | null> {
  return new Promise(resolve => {
    // Accepted here only to be shown: no request is ever made over this connection.
    const shown = connect({ ...tlsOptions(options), rejectUnauthorized: false, socket, ...serverName(host) });
    const end = (found: Certificate | null) => {
      shown.destroy();
      resolve(found);
    };
    signal.addEventListener('abort', () => end(null), { once: true });
    shown.once('error', () => end(null));
    shown.once('secureConnect', () => end(describe(shown)));
  });
}

/** The name that TLS sends; an address has none. */
export function serverName(host: string): { host: string; servername?: string } {
  return /^[\d.]+$|:/.test(host) ? { host } : { host, servername: host };
}

/** Opens a connection to a host, through the proxy if there is one; it rejects with the error of the system. */
export async function openSocket(
  host: string,
  hostname: string,
  port: number,
  { proxy }: Pick<ConnectionOptions, 'proxy'>,
  signal: AbortSignal,
): Promise<Socket> {
  if (!proxy) {
    const socket = connectPlain({ host, port, signal });
    await once(socket, 'connect');
    return socket;
  }
  const url = new URL(proxy.url);
  // Loaded only here, because these modules cost 25 ms, and most runs do not need them.
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new Promise((resolve, reject) => {
    const account = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    const authorization = `Basic ${Buffer.from(account).toString('base64')}`;
    request({
      method: 'CONNECT',
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || (url.protocol === 'https:' ? 443 : 80),
      path: `${hostname}:${port}`,
      signal,
      ...(account !== ':' && { headers: { 'proxy-authorization': authorization } }),
    })
      .once('connect', (_answer, socket) => resolve(socket))
      .once('response', () => reject(new Error('the proxy did not connect')))
      .once('error', reject)
      .end();
  });
}

function describe(socket: TLSSocket): Certificate {
  const { subject, issuer, valid_from, valid_to } = socket.getPeerCertificate();
  return {
    subject: nameOf(subject),
    issuer: nameOf(issuer),
    validFrom: day(valid_from),
    validTo: day(valid_to),
  };
}

function nameOf(name: PeerCertificate['subject'] | undefined): string {
  const parts = Object.entries(name ?? {}).map(([kind, value]) => `${kind}=${String(value)}`);
  return parts.length === 0 ? 'nobody' : parts.join(', ');
}

function day(time: string): string {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? time : new Date(ms).toISOString().slice(0, 10);
}
