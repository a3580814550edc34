import dns from 'node:dns';
import { connect, isIP, type Socket } from 'node:net';
import { promisify } from 'node:util';
import type { buildConnector } from 'undici';
import { codeOf } from '../errors.ts';

/** The next address is tried that long after the one before, in milliseconds (RFC 8305 §5). */
const nextAddressMs = 250;

/**
 * Makes connections to whichever address of a host answers first. Each try has all of the time; Node itself would end it after 250 ms. When
 * `closing` comes, connections in the making end, which undici does not know of.
 */
export function toAnyAddress(
  secure: buildConnector.connector,
  timeoutMs: number,
  closing?: AbortSignal,
): buildConnector.connector {
  return (options, done) => {
    const { hostname, protocol, port } = options;
    const isTls = protocol === 'https:';
    connectToAny(hostname, Number(port) || (isTls ? 443 : 80), timeoutMs, closing).then(
      socket => {
        if (!isTls) return done(null, socket);
        const end = () => socket.destroy(new Error('the connection was not needed any more'));
        if (closing?.aborted) end();
        closing?.addEventListener('abort', end, { once: true });
        secure({ ...options, httpSocket: socket }, (...made) => {
          closing?.removeEventListener('abort', end);
          done(...made);
        });
      },
      (error: Error) => done(error, null),
    );
  };
}

async function connectToAny(
  host: string,
  port: number,
  timeoutMs: number,
  closing?: AbortSignal,
): Promise<Socket> {
  const left = isIP(host) ? [host] : alternating(await promisify(dns.lookup)(host, { all: true }));
  return new Promise((resolve, reject) => {
    const sockets = new Set<Socket>();
    const errors: Error[] = [];
    let timer: NodeJS.Timeout | undefined;
    const end = (chosen: Socket | null) => {
      clearTimeout(timer);
      clearTimeout(timeout);
      closing?.removeEventListener('abort', close);
      for (const socket of sockets) if (socket !== chosen) socket.destroy();
    };
    const fail = (code: string | undefined, words: string) => {
      end(null);
      reject(Object.assign(new Error(words), { code }));
    };
    const close = () => fail('UND_ERR_ABORTED', 'the connection was not needed any more');
    closing?.addEventListener('abort', close, { once: true });
    const timeout = setTimeout(() => fail('UND_ERR_CONNECT_TIMEOUT', 'no connection in time'), timeoutMs);
    const tryNext = () => {
      clearTimeout(timer);
      const address = left.shift();
      if (address === undefined) {
        if (sockets.size === 0) fail(codeOf(errors[0]), errors.map(({ message }) => message).join('; '));
        return;
      }
      const socket = connect({ host: address, port, noDelay: true, keepAlive: true });
      sockets.add(socket);
      const onError = (error: Error) => {
        sockets.delete(socket);
        errors.push(error);
        tryNext();
      };
      socket.once('error', onError).once('connect', () => {
        socket.off('error', onError);
        end(socket);
        resolve(socket);
      });
      timer = setTimeout(tryNext, nextAddressMs);
    };
    if (closing?.aborted) close();
    else tryNext();
  });
}

/** Addresses of both families in turns, in the order of the resolver: often all of one family lead nowhere. */
function alternating(found: readonly { readonly address: string; readonly family: number }[]): string[] {
  const ofFamily = (isFirst: boolean) =>
    found.filter(({ family }) => (family === found[0]?.family) === isFirst).map(({ address }) => address);
  const [first, other] = [ofFamily(true), ofFamily(false)];
  const pairs = first.flatMap((address, at) => [address, ...other.slice(at, at + 1)]);
  return [...pairs, ...other.slice(first.length)];
}
