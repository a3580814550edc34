import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Limits the number of a server's connections. A new one replaces the one that has been idle longest, so clients that only keep
 * connections open block nobody. If all are busy, the new one is dropped.
 */
export function boundConnections(server: Server, connectionsMax: number): void {
  /** The number of requests being answered, by connection. The connection that was used last comes last. */
  const open = new Map<Socket, number>();
  server.on('connection', socket => {
    open.set(socket, 0);
    socket.once('close', () => open.delete(socket));
    if (open.size <= connectionsMax) return;
    const [idlest = socket] = [...open].find(([, requests]) => requests === 0) ?? [];
    idlest.destroy();
    open.delete(idlest);
  });
  server.on('request', ({ socket }, response) => {
    const count = (by: number) => {
      const requests = open.get(socket);
      if (requests === undefined) return;
      open.delete(socket);
      open.set(socket, requests + by);
    };
    count(1);
    response.once('close', () => count(-1));
  });
}
