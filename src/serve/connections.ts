import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, so that none that waits for nothing holds up its end. Node calls one idle only after its first answer. */
export class Connections {
  /** The answers that each is waiting for. */
  readonly #answers = new Map<Socket, number>();
  #isEnding = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#answers.set(socket, 0);
      socket.once('close', () => this.#answers.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.#count(socket, 1);
      response.once('close', () => this.#count(socket, -1));
    });
  }

  /** Ends all connections on which nothing is being answered, now and from now on. */
  endSilent(): void {
    this.#isEnding = true;
    for (const socket of this.#answers.keys()) this.#count(socket, 0);
  }

  /** Ends all connections at once. */
  endAll(): void {
    for (const socket of this.#answers.keys()) socket.destroy();
  }

  #count(socket: Socket, more: number): void {
    const count = this.#answers.get(socket);
    if (count === undefined) return;
    this.#answers.set(socket, count + more);
    // What was written before is still sent.
    if (this.#isEnding && count + more === 0) socket.destroySoon();
  }
}
