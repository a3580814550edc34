import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

/** A fault of a request on its way to the engine or back. */
export type Fault =
  /** The connection ends, and the engine never hears of it. */
  | { kind: 'cut-before' }
  /** The engine does it, and the connection ends without an answer. */
  | { kind: 'cut-after' }
  /** Half of the answer comes; an empty one not at all. */
  | { kind: 'cut-answer' }
  | { kind: 'answer'; status: number; body: string; headers?: Record<string, string> }
  | { kind: 'slow'; ms: number };

/** A proxy between docmirror and an engine, or in the place of one. */
export class FaultyProxy implements AsyncDisposable {
  /** The address that requests go to. It changes when an engine starts again. */
  target: string;
  /** The fault of the n-th request, counted from 1. */
  faults: (n: number, request: IncomingMessage) => Fault | undefined = () => undefined;
  requestCount = 0;
  readonly #server: Server;

  static async start(target = 'http://127.0.0.1:9'): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await new Promise<void>(resolve => {
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  private constructor(target: string) {
    this.target = target;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = this.faults(++this.requestCount, request);
    const sent = await buffer(request);
    if (fault?.kind === 'cut-before') return void response.destroy();
    if (fault?.kind === 'slow') await wait(fault.ms);
    if (fault?.kind === 'answer') {
      response.writeHead(fault.status, fault.headers).end(fault.body);
      return;
    }
    const answer = await fetch(this.target + request.url, {
      method: request.method ?? 'GET',
      headers: { authorization: request.headers.authorization ?? '' },
      ...(request.method === 'GET' ? {} : { body: sent }),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    if (fault?.kind === 'cut-after') return void response.destroy();
    const code = answer.headers.get('x-clickhouse-exception-code');
    const headers = {
      'content-length': `${body.length}`,
      ...(code !== null && { 'x-clickhouse-exception-code': code }),
      // The end of a connection can come after the next request is sent, which would then fail, too.
      ...(fault?.kind === 'cut-answer' && { connection: 'close' }),
    };
    response.writeHead(answer.status, headers);
    if (fault?.kind !== 'cut-answer') return void response.end(body);
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => {
      this.#server.close(resolve);
    });
  }
}
