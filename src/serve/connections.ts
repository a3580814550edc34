import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps a server's connections within a bound. A new one is taken in the place of that one which has been idle longest, so that those
 * who only hold connections keep nobody out. If all are being answered, the new one is dropped.
 */
export function boundConnections(server: Server, connectionsMax: number): void {
  /** Requests that are being answered, by connection; those that were used last come last. */
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
