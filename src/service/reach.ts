import { once } from 'node:events';
import { connect } from 'node:tls';
import { codeOf } from '../errors.ts';
import { openSocket, serverName } from './certificate.ts';
import type { ProxySetting } from './connection.ts';

/**
 * Finds out if a server can be reached, without a request, because a request has a meaning for some servers. Behind a
 * proxy, an `http` address is tried only as far as the proxy.
 *
 * @returns null if it can be reached, otherwise the system's code for the error.
 */
export async function unreachable(
  url: URL,
  proxy: ProxySetting | null,
  signal: AbortSignal,
): Promise<string | null> {
  const isPlain = url.protocol === 'http:';
  const target = isPlain && proxy !== null ? new URL(proxy.url) : url;
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
  try {
    const socket = await openSocket(host, target.hostname, port, { proxy: isPlain ? null : proxy }, signal);
    try {
      if (!isPlain) await once(connect({ socket, ...serverName(host) }), 'secureConnect', { signal });
    } finally {
      socket.destroy();
    }
    return null;
  } catch (error) {
    return signal.aborted ? 'no answer in time' : (codeOf(error) ?? String(error));
  }
}
