import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, so that none that waits for nothing holds up its end. Node calls one idle only after its first answer. */
export function connectionsOf(server: Server) {
  /** The answers that each is waiting for. */
  const answers = new Map<Socket, number>();
  let isEnding = false;
  const count = (socket: Socket, more: number) => {
    const sum = (answers.get(socket) ?? 0) + more;
    if (answers.has(socket)) answers.set(socket, sum);
    // What was written before is still sent.
    if (isEnding && sum === 0) socket.destroySoon();
  };
  server.on('connection', (socket: Socket) => {
    answers.set(socket, 0);
    socket.once('close', () => answers.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    count(socket, 1);
    response.once('close', () => count(socket, -1));
  });
  return {
    /** Ends all connections on which nothing is being answered, now and from now on. */
    endSilent(): void {
      isEnding = true;
      for (const socket of answers.keys()) count(socket, 0);
    },

    endAll(): void {
      for (const socket of answers.keys()) socket.destroy();
    },
  };
}
