import { getCACertificates } from 'node:tls';
import type { Dispatcher } from 'undici';
import Pool from 'undici/lib/dispatcher/pool.js';

/** A proxy, as the settings name it. */
export interface ProxySetting {
  readonly variable: string;
  /** With user name and password. */
  readonly url: string;
  /** Without them. */
  readonly shown: string;
}

/** How the service is reached. */
export interface ConnectionOptions {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  /** The most connections at once. */
  readonly connections: number;
  /** If left out or null, the service is reached directly. */
  readonly proxy?: ProxySetting | null;
  /** Certificates (PEM) of authorities to trust besides Node's own; left out or null: none. */
  readonly extraCa?: string | null;
}

/** How long an idle connection is kept, in milliseconds. */
const keepAliveMs = 4_000;

/** The settings of every encrypted connection, whatever the environment says. */
export function tlsOptions({ extraCa }: Pick<ConnectionOptions, 'extraCa'>) {
  return {
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(extraCa && { ca: [...getCACertificates('default'), extraCa] }),
  } as const;
}

/** Makes the connections to the service: direct ones, or through the proxy and never around it. */
export async function connectTo(options: ConnectionOptions): Promise<Dispatcher> {
  const { baseUrl, timeoutMs, connections, proxy } = options;
  const tls = tlsOptions(options);
  const limits = {
    connections,
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: timeoutMs,
    keepAliveTimeout: keepAliveMs,
    allowH2: false,
  };
  if (!proxy) return new Pool(new URL(baseUrl).origin, { ...limits, connect: tls });
  // Loaded only if it is needed, because it loads all of undici.
  const { ProxyAgent } = await import('undici');
  return new ProxyAgent({
    ...limits,
    uri: proxy.url,
    requestTls: tls,
    proxyTls: tls,
    // Without these limits, a request to the proxy for a tunnel could wait for minutes.
    clientFactory: (origin, own) => new Pool(origin, { ...own, headersTimeout: timeoutMs }),
  });
}

/** Rejects when the signal comes: until a connection is made, undici does not listen to it. */
export function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
