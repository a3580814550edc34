import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ResourceName } from '../../src/contract/lists.ts';

/** The page that was asked for. */
export interface AskedPage {
  /** From 0. */
  readonly index: number;
  /** The page size that is served. */
  readonly size: number;
  /** Counts the answers of the service, from 1. */
  readonly n: number;
}

/** What a page answers. */
export interface ServedPage {
  readonly items: readonly object[];
  readonly total: number;
  /** By the total if it is left out. */
  readonly pageCount?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How many records a page showed, and the total that it stated. */
export interface AnsweredPage extends AskedPage {
  readonly shown: number;
  readonly total: number;
}

/** An answer in a sentence about a run: page/size, records shown of a total. */
export const storyOf = ({ index, size, shown, total }: AnsweredPage): string =>
  `${index + 1}/${size} ${shown} of ${total}`;

/** How a service cuts pages. */
export interface Paging {
  /** Its one list; exports if it is left out. */
  readonly resource?: ResourceName;
  /** The greatest page size, or the only one. */
  readonly largest: number;
  /** Whether other sizes are ignored. */
  readonly hasOneSize: boolean;
}

const token = 'secret-token';

/** Makes a page; null if there is none at that address. */
type Serve = (asked: AskedPage) => ServedPage | null | Promise<ServedPage | null>;

/** A real HTTP server for one list, whose pages `serve` makes. */
export class PagedService implements AsyncDisposable {
  readonly options = { token };
  /** Its pages, in the order of asking. */
  readonly asked: AskedPage[] = [];
  /** What these pages showed, in the order of asking. */
  readonly answered: AnsweredPage[] = [];
  readonly #paging: Paging;
  readonly #serve: Serve;
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  #fault: unknown = null;

  constructor(paging: Paging, serve: Serve) {
    this.#paging = paging;
    this.#serve = serve;
    this.#server.keepAliveTimeout = 60_000;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close().closeAllConnections();
    await once(this.#server, 'close');
    if (this.#fault !== null) throw this.#fault;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    if (request.headers.authorization !== `Bearer ${token}`) return end(response, 401, {});
    const { largest, hasOneSize, resource = 'document-exports' } = this.#paging;
    if (url.pathname !== `/v2/${resource}`) return end(response, 404, {});
    const numberOf = (name: string, otherwise: number) => Number(url.searchParams.get(name) ?? otherwise);
    const size = hasOneSize ? largest : Math.min(largest, numberOf('pageSize', 50));
    const pageNo = numberOf('pageNo', 1);
    const asked = { index: pageNo - 1, size, n: this.asked.length + 1 };
    this.asked.push(asked);
    try {
      const page = await this.#serve(asked);
      if (page !== null) this.answered.push({ ...asked, shown: page.items.length, total: page.total });
      // Answers come in another order than they were asked for.
      for (let turns = asked.n % 3; turns > 0; turns--) await new Promise(setImmediate);
      if (page === null) return end(response, 404, {});
      const { items, total, pageCount = Math.ceil(total / size), headers } = page;
      const pagination = { pageCount, pageNo, pageSize: size, totalRecordCount: total };
      end(response, 200, { items, pagination }, headers);
    } catch (error) {
      this.#fault ??= error;
      response.destroy();
    }
  }
}

function end(response: ServerResponse, status: number, body: object, headers: ServedPage['headers'] = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
