import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ResourceName } from '../src/contract/lists.ts';

/** How a list changes; each is a row of the table. */
export type Habit =
  | 'log that grows'
  | 'log with edits'
  | 'log with deletions'
  | 'edits only'
  | 'deletions only'
  | 'insertions at random places'
  | 'sliding window'
  | 'collections';

export const habits: readonly Habit[] = [
  'log that grows',
  'log with edits',
  'log with deletions',
  'edits only',
  'deletions only',
  'insertions at random places',
  'sliding window',
  'collections',
];

interface Entry {
  readonly uid: number;
  /** The list is ordered by these: times in milliseconds, or ids. */
  readonly key: number;
  readonly version: number;
}

/** The time that the list had a version of a record, in changes from the first one; `to` is null while it has it. */
interface Listed {
  readonly from: number;
  to: number | null;
}

const firstTime = 1_600_000_000_000;
const timeStep = 60_000;

/** A list that changes by a habit, and remembers its earlier records. */
export class BusyList {
  readonly #habit: Habit;
  readonly #random: () => number;
  readonly #isNewestFirst: boolean;
  readonly #entries: Entry[] = [];
  readonly #versions = new Map<string, Listed>();
  readonly #born = new Map<number, number>();
  #nextUid = 1;
  #now = 0;

  /**
   * @param random numbers from 0 to 1, the same ones for the same seed.
   * @param isNewestFirst whether the newest record is on the first page.
   */
  constructor(habit: Habit, count: number, random: () => number, isNewestFirst: boolean) {
    this.#habit = habit;
    this.#random = random;
    this.#isNewestFirst = isNewestFirst;
    while (this.#entries.length < count) this.#append();
  }

  get resource(): ResourceName {
    return this.#habit === 'collections' ? 'collections' : 'document-exports';
  }

  get length(): number {
    return this.#entries.length;
  }

  /** How many changes there have been: an instant of the list. */
  get now(): number {
    return this.#now;
  }

  /** Makes one change. */
  change(): void {
    this.#now++;
    const isFirst = this.#random() < 1 / 2;
    const kinds: Record<Habit, () => void> = {
      'log that grows': () => this.#append(),
      'log with edits': () => (isFirst ? this.#append() : this.#edit()),
      'log with deletions': () => (isFirst ? this.#append() : this.#delete(this.#anyPlace())),
      'edits only': () => this.#edit(),
      'deletions only': () => this.#delete(this.#anyPlace()),
      'insertions at random places': () => this.#insert(),
      'sliding window': () => {
        this.#append();
        this.#delete(0);
      },
      collections: () => this.#changeCollections(),
    };
    kinds[this.#habit]();
  }

  /** The texts of the items on a page, from 0. */
  itemsOn(index: number, size: number): string[] {
    const [from, to] = [index * size, (index + 1) * size];
    const count = this.#entries.length;
    const entries = this.#isNewestFirst
      ? this.#entries.slice(Math.max(0, count - to), Math.max(0, count - from)).reverse()
      : this.#entries.slice(from, to);
    return entries.map(entry => this.#textOf(entry));
  }

  /** Rows of a mirror that the list no longer had at an instant. */
  goneBefore(instant: number, labels: ReadonlySet<string>): string[] {
    return [...labels].filter(label => {
      const to = this.#versions.get(label)?.to;
      return to === undefined || (to !== null && to <= instant);
    });
  }

  /**
   * The number of records that the list has had since an instant, and that the mirror has not, or only in an older
   * version.
   */
  missingSince(instant: number, labels: ReadonlySet<string>): number {
    const uids = new Set([...labels].map(label => label.split(' ')[0]));
    return this.#entries.filter(entry => {
      const isOld = (this.#born.get(entry.uid) as number) <= instant;
      const isSame = (this.#versions.get(labelOf(entry))?.from as number) <= instant;
      return isOld && !(isSame ? labels.has(labelOf(entry)) : uids.has(String(entry.uid)));
    }).length;
  }

  #append(): void {
    const last = this.#entries.at(-1);
    const step = this.resource === 'collections' ? 1 : timeStep;
    this.#place(this.#entries.length, last === undefined ? firstTime : last.key + step);
  }

  #insert(): void {
    const from = this.#entries[0]?.key ?? firstTime;
    const to = this.#entries.at(-1)?.key ?? firstTime;
    const key = from + Math.floor(this.#random() * (to - from));
    const at = this.#entries.findIndex(entry => entry.key > key);
    this.#place(at < 0 ? this.#entries.length : at, key);
  }

  #place(at: number, key: number): void {
    const entry = { uid: this.#nextUid++, key, version: 1 };
    this.#entries.splice(at, 0, entry);
    this.#born.set(entry.uid, this.#now);
    this.#versions.set(labelOf(entry), { from: this.#now, to: null });
  }

  #edit(): void {
    const at = this.#anyPlace();
    const entry = this.#entries[at] as Entry;
    const edited = { ...entry, version: entry.version + 1 };
    this.#entries[at] = edited;
    this.#end(entry);
    this.#versions.set(labelOf(edited), { from: this.#now, to: null });
  }

  #delete(at: number): void {
    const [entry] = this.#entries.splice(at, 1);
    if (entry !== undefined) this.#end(entry);
  }

  #end(entry: Entry): void {
    (this.#versions.get(labelOf(entry)) as Listed).to = this.#now;
  }

  #changeCollections(): void {
    const kind = Math.floor(this.#random() * 3);
    if (kind === 0) this.#append();
    else if (kind === 1) this.#edit();
    else this.#delete(this.#anyPlace());
  }

  #anyPlace(): number {
    return Math.floor(this.#random() * this.#entries.length);
  }

  #textOf(entry: Entry): string {
    const source = { id: 1 + (entry.uid % 7), name: `Source ${1 + (entry.uid % 7)}` };
    if (this.resource === 'collections')
      return JSON.stringify({ id: entry.key, name: labelOf(entry), sourceConnection: source });
    return JSON.stringify({
      sourceConnection: source,
      sourceDocumentTitle: labelOf(entry),
      sourceDocumentReference: `DOC-${entry.uid}`,
      sourceDocumentVersion: '1.0',
      sourceDocumentKind: 'report',
      destinationConnection: { id: 101, name: 'Destination 101' },
      destinationReference: `archive/${entry.uid}.pdf`,
      exportedAt: new Date(entry.key).toISOString(),
    });
  }
}

/** The label of a record for the list and the mirror: its identity and version. */
function labelOf({ uid, version }: Entry): string {
  return `${uid} ${version}`;
}

/** A real HTTP server of one busy list. */
export class BusyServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #list: BusyList;
  readonly #largest: number;
  readonly #beforeAnswer: () => void;

  private constructor(list: BusyList, largest: number, beforeAnswer: () => void) {
    this.#list = list;
    this.#largest = largest;
    this.#beforeAnswer = beforeAnswer;
    this.#server = createServer((request, response) => this.#answer(request.url ?? '/', response));
    this.#server.keepAliveTimeout = 60_000;
  }

  /** @param largest the greatest page size that it serves. */
  static async start(list: BusyList, largest: number, beforeAnswer: () => void): Promise<BusyServer> {
    const server = new BusyServer(list, largest, beforeAnswer);
    await new Promise<void>(resolve => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }

  #answer(url: string, response: ServerResponse): void {
    this.#beforeAnswer();
    const { searchParams } = new URL(url, 'http://bench');
    const pageNo = Number(searchParams.get('pageNo') ?? 1);
    const pageSize = Math.min(this.#largest, Number(searchParams.get('pageSize') ?? this.#largest));
    const items = this.#list.itemsOn(pageNo - 1, pageSize);
    const total = this.#list.length;
    const pagination = {
      pageCount: Math.ceil(total / pageSize),
      pageNo,
      pageSize,
      totalRecordCount: total,
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"items":[${items.join(',')}],"pagination":${JSON.stringify(pagination)}}`);
  }
}
