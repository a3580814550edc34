import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32, gzipSync } from 'node:zlib';

/** An object is sent as its JSON; a string is sent verbatim, for malformed items and big numbers. */
export type Item = SampleItem | string;
export type SampleItem = Record<string, unknown>;

export interface Lists {
  'document-exports': Item[];
  collections: Item[];
  webhooks: Item[];
}

export type Resource = keyof Lists;

/** How the service behaves, unless a test says otherwise. */
const defaults = {
  /** A wrong or missing bearer token is answered with 401. */
  token: 'secret-token',
  basePath: '',
  firstPage: 1 as 0 | 1,
  defaultPageSize: 50,
  maxPageSize: 1000,
  /**
   * The answer to a `pageSize` above the largest: `honest` serves the largest and says so, `silent`
   * serves the largest and echoes the asked size, `refuse` answers 400.
   */
  clamp: 'honest' as 'honest' | 'silent' | 'refuse',
  /** What it says when it refuses a size. */
  complaint: 'pageSize too large',
  /** The size by which a silent clamp computes `pageCount`. */
  silentPageCount: 'effective' as 'asked' | 'effective',
  /**
   * The answer past the last page. An empty one that counts no records is `zeroed`, one that has no `pagination` is `bare`. The last
   * page again is `last` under its own number, and `last-echoed` under the one that was asked for.
   */
  beyond: 'empty' as
    | ('empty' | 'zeroed' | 'bare' | '204' | '400' | '404')
    | ('last' | 'last-otherwise' | 'last-echoed'),
  /** `ignored` always serves the first page and says so; with a lying echo it claims to be the asked page. */
  pageNo: 'honest' as ('honest' | 'ignored' | 'ignored-lying-echo') | { answersAhead: number },
  gzip: false,
  /** A walk begins whenever the first page is asked for. */
  order: 'stable' as 'stable' | 'shuffled-per-walk' | 'shuffled-per-request',
  /** Added to `totalRecordCount`. */
  totalError: 0,
  /** Added to `pageCount`. */
  extraPageCount: 0,
  /** Lists that answer every authorized request with that status. */
  status: {} as Partial<Record<Resource, number>>,
  /** The wait between computing an answer and sending it. */
  latencyMs: 0,
  /** The whole body of a 200, in place of the page. */
  rawBody: undefined as
    | ((resource: Resource, pageNo: number, pageSize: number) => Buffer | string | undefined)
    | undefined,
  /** Further headers of a request's answer; they replace its own. */
  headers: undefined as ((request: RecordedRequest) => Record<string, string>) | undefined,
  /** The fault of a request; comes before every other answer. */
  faults: undefined as ((request: RecordedRequest) => Fault | undefined) | undefined,
};

export type StandInOptions = typeof defaults;

export type Fault =
  | { kind: 'status'; status: number; headers?: Record<string, string> }
  | { kind: 'html' }
  | { kind: 'reset' }
  /** Half of the body, then the connection ends: short of its `Content-Length`, or between its chunks. */
  | { kind: 'cut'; chunked?: boolean }
  /** Half of the body, then nothing for so long, then the connection ends. */
  | { kind: 'stall'; ms: number };

export interface RecordedRequest {
  /** Counted from 1, over all lists. */
  n: number;
  method: string;
  /** One of the lists, or the whole path if it is none of them. */
  resource: string;
  /** `null` when omitted, `NaN` when not an integer. */
  pageNo: number | null;
  pageSize: number | null;
  /** The query as it was sent, with its question mark. */
  search: string;
  authorization: string | undefined;
  headers: IncomingHttpHeaders;
  /** Milliseconds since the start of the service. */
  atMs: number;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Starts a real HTTP server on a free loopback port that imitates the Document Export Service. */
export async function startStandIn(options: Partial<StandInOptions> = {}): Promise<StandIn> {
  const standIn = new StandIn({ ...defaults, ...options });
  await standIn.listen();
  return standIn;
}

/** Everything public can be changed between and within requests. A hook that throws makes `close` reject. */
export class StandIn implements AsyncDisposable {
  readonly options: StandInOptions;
  lists: Lists = { 'document-exports': [], collections: [], webhooks: [] };
  requests: RecordedRequest[] = [];
  /** Called before the answer is computed. */
  onRequest: ((request: RecordedRequest) => void | Promise<void>) | undefined;

  readonly #server = createServer((request, response) => void this.#handle(request, response));
  readonly #startedAtMs = performance.now();
  readonly #closing = new AbortController();
  readonly #hookErrors: unknown[] = [];
  readonly #walkSeeds = new Map<string, number>();
  #requestCount = 0;

  constructor(options: StandInOptions) {
    this.options = options;
    // A client that reuses a connection just as it expires would see a reset that no test asked for.
    this.#server.keepAliveTimeout = 60_000;
  }

  /** The base address, with the base path. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${this.options.basePath}`;
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#server.close().closeAllConnections();
    await once(this.#server, 'close');
    const errors = this.#hookErrors.splice(0);
    if (errors.length > 0) throw new AggregateError(errors, `A hook of the stand-in threw: ${errors[0]}`);
  }

  [Symbol.asyncDispose] = () => this.close();

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const request = this.#record(incoming);
      await this.onRequest?.(request);
      const fault = this.options.faults?.(request);
      const made = this.#compress(request, faultAnswer(fault) ?? this.#answer(request));
      const answer = { ...made, headers: { ...made.headers, ...this.options.headers?.(request) } };
      if (this.options.latencyMs > 0) await this.#pause(this.options.latencyMs);
      await this.#send(response, answer, fault);
    } catch (error) {
      this.#hookErrors.push(error);
      response.destroy();
    }
  }

  #record(incoming: IncomingMessage): RecordedRequest {
    const url = new URL(incoming.url ?? '/', 'http://stand-in');
    this.#requestCount += 1;
    const request: RecordedRequest = {
      n: this.#requestCount,
      method: incoming.method ?? '',
      resource: resourceAt(url.pathname, this.options.basePath),
      search: url.search,
      pageNo: integerOf(url.searchParams.get('pageNo')),
      pageSize: integerOf(url.searchParams.get('pageSize')),
      authorization: incoming.headers.authorization,
      headers: incoming.headers,
      atMs: performance.now() - this.#startedAtMs,
    };
    this.requests.push(request);
    return request;
  }

  #answer(request: RecordedRequest): Answer {
    const { options, lists } = this;
    const { resource } = request;
    if (request.method !== 'GET') return refusal(405, 'method not allowed', { allow: 'GET' });
    if (request.authorization !== `Bearer ${options.token}`) return refusal(401, 'unauthorized');
    if (!isResource(resource, lists)) return refusal(404, 'not found');
    const status = options.status[resource];
    if (status !== undefined) return refusal(status, `status ${status}`);
    const asked = {
      pageNo: request.pageNo ?? options.firstPage,
      pageSize: request.pageSize ?? options.defaultPageSize,
    };
    const complaint = complaintAbout(asked, options);
    if (complaint !== undefined) return refusal(400, complaint);
    const raw = options.rawBody?.(resource, asked.pageNo, asked.pageSize);
    if (raw !== undefined) return json(200, raw);
    return pageAnswer(inOrder(lists[resource], options.order, this.#seed(request, asked)), asked, options);
  }

  #seed({ n, resource }: RecordedRequest, asked: Asked): number {
    if (this.options.order === 'shuffled-per-request') return n;
    if (asked.pageNo === this.options.firstPage) this.#walkSeeds.set(resource, n);
    return this.#walkSeeds.get(resource) ?? 0;
  }

  #compress({ headers }: RecordedRequest, answer: Answer): Answer {
    const isAccepted = String(headers['accept-encoding'] ?? '').includes('gzip');
    if (!this.options.gzip || !isAccepted) return answer;
    const body = gzipSync(answer.body);
    return { ...answer, headers: { ...answer.headers, 'content-encoding': 'gzip' }, body };
  }

  async #send(response: ServerResponse, answer: Answer, fault: Fault | undefined) {
    if (response.destroyed) return;
    if (fault?.kind === 'reset') {
      response.socket?.resetAndDestroy();
    } else if (fault?.kind === 'cut') {
      await sendHalf(response, answer, fault.chunked === true);
      response.destroy();
    } else if (fault?.kind === 'stall') {
      await sendHalf(response, answer, false);
      await this.#pause(fault.ms);
      response.destroy();
    } else {
      response.writeHead(answer.status, withLength(answer)).end(answer.body);
    }
  }

  /** Waits, or ends early if `close` is called. */
  async #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    await wait(ms, undefined, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

interface Asked {
  readonly pageNo: number;
  readonly pageSize: number;
}

function complaintAbout({ pageNo, pageSize }: Asked, options: StandInOptions): string | undefined {
  if (!Number.isSafeInteger(pageNo) || pageNo < options.firstPage) return 'invalid pageNo';
  if (!Number.isSafeInteger(pageSize) || pageSize < 1) return 'invalid pageSize';
  if (options.clamp === 'refuse' && pageSize > options.maxPageSize) return options.complaint;
  return undefined;
}

function pageAnswer(items: readonly Item[], asked: Asked, options: StandInOptions): Answer {
  const size = Math.min(asked.pageSize, options.maxPageSize);
  const lastIndex = Math.max(0, Math.ceil(items.length / size) - 1);
  let { servedNo, echoedNo } = readPlace(asked.pageNo, options);
  if (servedNo - options.firstPage > lastIndex) {
    if (options.beyond === '204') return { status: 204, headers: {}, body: Buffer.alloc(0) };
    if (options.beyond === '400' || options.beyond === '404')
      return refusal(Number(options.beyond), 'no such page');
    if (options.beyond === 'bare') return json(200, '{"items":[]}');
    if (options.beyond.startsWith('last')) servedNo = lastIndex + options.firstPage;
    if (options.beyond === 'last' || options.beyond === 'last-otherwise') echoedNo = servedNo;
  }
  const offset = (servedNo - options.firstPage) * size;
  const silent = options.clamp === 'silent';
  const countSize = silent && options.silentPageCount === 'asked' ? asked.pageSize : size;
  const pagination = {
    pageCount: Math.max(0, Math.ceil(items.length / countSize) + options.extraPageCount),
    pageNo: echoedNo,
    pageSize: silent ? asked.pageSize : size,
    totalRecordCount: Math.max(0, items.length + options.totalError),
  };
  const served = items.slice(offset, offset + size).map(textOf);
  if (options.beyond === 'zeroed' && served.length === 0)
    pagination.totalRecordCount = pagination.pageCount = 0;
  const isOtherwise = options.beyond === 'last-otherwise' && servedNo !== asked.pageNo;
  const texts = isOtherwise ? served.toReversed().map(text => text.replace('{', '{ ')) : served;
  return json(200, `{"items":[${texts.join(',')}],"pagination":${JSON.stringify(pagination)}}`);
}

function readPlace(asked: number, { pageNo, firstPage }: StandInOptions) {
  if (pageNo === 'honest') return { servedNo: asked, echoedNo: asked };
  if (pageNo === 'ignored') return { servedNo: firstPage, echoedNo: firstPage };
  if (pageNo === 'ignored-lying-echo') return { servedNo: firstPage, echoedNo: asked };
  return { servedNo: asked, echoedNo: asked + pageNo.answersAhead };
}

/** A shuffle places an item by its content and the seed alone, so that changing a list moves no other item. */
function inOrder(items: readonly Item[], order: StandInOptions['order'], seed: number): readonly Item[] {
  if (order === 'stable') return items;
  return items
    .map(item => ({ item, place: mixed(crc32(textOf(item)), seed) }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

function mixed(value: number, seed: number): number {
  const spread = Math.imul(value ^ Math.imul(seed, 0x9e3779b1), 0x85ebca6b);
  const folded = Math.imul(spread ^ (spread >>> 13), 0xc2b2ae35);
  return (folded ^ (folded >>> 16)) >>> 0;
}

function faultAnswer(fault: Fault | undefined): Answer | undefined {
  if (fault?.kind === 'status') return refusal(fault.status, `status ${fault.status}`, fault.headers);
  if (fault?.kind !== 'html') return undefined;
  const body = Buffer.from('<!doctype html><title>Sign in</title>');
  return { status: 200, headers: { 'content-type': 'text/html' }, body };
}

function refusal(status: number, error: string, headers: Record<string, string> = {}): Answer {
  return json(status, JSON.stringify({ error }), headers);
}

function json(status: number, body: Buffer | string, headers: Record<string, string> = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: Buffer.from(body) };
}

async function sendHalf(response: ServerResponse, answer: Answer, chunked: boolean): Promise<void> {
  response.writeHead(answer.status, chunked ? answer.headers : withLength(answer));
  response.flushHeaders();
  const half = answer.body.subarray(0, answer.body.length / 2);
  await new Promise<void>(resolve => response.write(half, () => resolve()));
}

function withLength({ headers, body }: Answer): Record<string, string> {
  return { ...headers, 'content-length': String(body.length) };
}

function resourceAt(path: string, basePath: string): string {
  const prefix = `${basePath}/v2/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

function isResource(resource: string, lists: Lists): resource is Resource {
  return Object.hasOwn(lists, resource);
}

function integerOf(text: string | null): number | null {
  if (text === null) return null;
  return /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
}

function textOf(item: Item): string {
  return typeof item === 'string' ? item : JSON.stringify(item);
}

/** The same item for the same number, a minute later than the one before; fields given as `over` replace its own. */
export function documentExport(n: number, over: SampleItem = {}): SampleItem {
  return {
    sourceConnection: connection(1 + (n % 5)),
    sourceDocumentTitle: titleOf(n),
    sourceDocumentReference: `DOC-${n}`,
    sourceDocumentVersion: `${1 + (n % 3)}.0`,
    sourceDocumentKind: n % 2 === 0 ? 'invoice' : 'contract',
    destinationConnection: connection(101 + (n % 3)),
    destinationReference: `archive/${n}.pdf`,
    exportedAt: minuteOf(n),
    ...over,
  };
}

export function collection(n: number, over: SampleItem = {}): SampleItem {
  return {
    id: n,
    name: `Collection ${n}`,
    sourceConnection: connection(1 + (n % 5)),
    destinationConnection: connection(101 + (n % 3)),
    ...over,
  };
}

export function webhook(n: number, over: SampleItem = {}): SampleItem {
  return {
    id: n,
    endpoint: `https://hooks.example.com/${n}?key=endpoint-secret-${n}`,
    description: `Webhook ${n}`,
    events: n % 2 === 0 ? ['document.exported'] : ['document.exported', 'collection.updated'],
    connections: [connection(1 + (n % 5)), connection(101 + (n % 3))],
    ...over,
  };
}

export function connection(id: number): { id: number; name: string } {
  return { id, name: `Connection ${id}` };
}

function titleOf(n: number): string {
  if (n % 7 === 3) return `The "quoted" \\ document's title ${n}`;
  if (n % 11 === 5) return `Ünïcode 🗂️ 𝒟ocument\n${n}`;
  return `Document ${n}`;
}

function minuteOf(n: number): string {
  return new Date(Date.UTC(2024, 0, 1) + n * 60_000).toISOString().replace('.000Z', 'Z');
}
