import { Random } from '../../examples/sample-service/random.ts';
import type { ListDefinition } from '../../src/contract/lists.ts';
import type { Page, PageRequest, PageSource } from '../../src/contract/page.ts';
import { ServiceError } from '../../src/errors.ts';
import { answer } from './moving-list.ts';

interface Entry {
  readonly id: number;
  /** When the job began, in minutes; the list can be in this order, and nobody sees it. */
  readonly begun: number;
  /** The time that the record shows; null for none. */
  readonly shown: number | null;
  readonly title: number;
  readonly changed: number;
}

/** How an honest service lists its records. */
export interface Kind {
  readonly order?: 'begun' | 'newest first' | 'title' | 'last change' | 'unseen';
  /** How late the shown time can be, in minutes. */
  readonly late?: number;
  /** The time that a record shows in the place of its own, in minutes; null for none. */
  readonly outlier?: (id: number, begun: number) => number | null | undefined;
  /** How many records share a time. */
  readonly batch?: number;
  readonly count?: number;
  readonly size?: number;
  /** What happens to page sizes; `ignored`: there is one. */
  readonly sizes?: 'several' | 'ignored' | 'refused';
  readonly beyond?: 'empty' | '404' | 'last page';
  /** Whether one record comes while the list is read. */
  readonly arrives?: boolean;
  /** Changes while one reading is made: records come, and as many go. */
  readonly rate?: number;
  readonly list?: 'document-exports' | 'collections';
}

/** A service of one honest list, as a source of pages without HTTP: so that some hundred runs can be tried in seconds. */
export class NightlyList implements PageSource {
  readonly baseUrl = 'https://nightly.example';
  readonly concurrency = 4;
  readonly traffic = { requests: 0, retries: 0, bytes: 0, waitedMs: 0 };
  readonly size: number;
  /** The labels of the records that were listed all through the run, and of those that were listed at any moment of it. */
  throughout = new Set<string>();
  listed = new Set<string>();
  readonly #kind: Kind;
  readonly #random: Random;
  #entries: Entry[] = [];
  #next = 0;

  constructor(kind: Kind, seed = 7) {
    this.#kind = kind;
    this.#random = new Random(seed);
    this.size = kind.size ?? 100;
    this.grow(kind.count ?? 3_000);
  }

  /** The one list that has records. */
  get resource(): 'document-exports' | 'collections' {
    return this.#kind.list ?? 'document-exports';
  }

  /** The pages of one reading. */
  get pages(): number {
    return Math.ceil(this.#entries.length / this.size);
  }

  grow(count: number): void {
    const { batch = 1, late = 0, outlier } = this.#kind;
    for (let left = count; left > 0; left--) {
      const id = ++this.#next;
      const begun = Math.floor(id / batch) * batch;
      const own = begun + Math.round(this.#random.fraction() * late * 60) / 60;
      const other = outlier?.(id, begun);
      const shown = other === undefined ? own : other;
      const entry = { id, begun, shown, title: this.#random.integer(0, 1e9), changed: id };
      this.#entries.push(entry);
      this.listed.add(labelOf(entry));
    }
    this.#sort();
  }

  /** Lets a day go by: records come, are edited and go. */
  change(come: number, edited: number, gone: number): void {
    this.grow(come);
    for (let left = edited; left > 0; left--) {
      const at = this.#any();
      const entry = this.#entries[at] as Entry;
      this.#entries[at] = { ...entry, title: this.#random.integer(0, 1e9), changed: ++this.#next };
    }
    for (let left = gone; left > 0; left--) this.#entries.splice(this.#any(), 1);
    this.#sort();
  }

  beginRun(): void {
    this.traffic.requests = 0;
    this.throughout = new Set(this.#entries.map(labelOf));
    this.listed = new Set(this.throughout);
  }

  #any(): number {
    return this.#random.integer(0, this.#entries.length - 1);
  }

  #sort(): void {
    const { order = 'begun' } = this.#kind;
    const keys: Record<typeof order, (entry: Entry) => number> = {
      begun: ({ begun }) => begun,
      'newest first': ({ begun }) => -begun,
      title: ({ title }) => title,
      'last change': ({ changed }) => changed,
      unseen: ({ id }) => (id * 7919) % 10007,
    };
    const keyOf = keys[order];
    this.#entries.sort((a, b) => keyOf(a) - keyOf(b) || a.id - b.id);
  }

  #changeMeanwhile(): void {
    const { arrives = false, rate = 0 } = this.#kind;
    if (arrives && this.traffic.requests === 5) this.grow(1);
    if (this.#random.chance(rate / this.pages))
      if (this.#random.chance(0.5)) this.grow(1);
      else for (const gone of this.#entries.splice(this.#any(), 1)) this.throughout.delete(labelOf(gone));
  }

  async getPage({ resource }: ListDefinition, { pageNo, pageSize }: PageRequest): Promise<Page> {
    const { sizes = 'several', beyond = 'empty', arrives, rate } = this.#kind;
    if (resource !== this.resource) return answer([], 0, 1, this.size);
    this.traffic.requests++;
    if (arrives || rate !== undefined) this.#changeMeanwhile();
    if (sizes === 'refused' && pageSize !== null && pageSize !== this.size)
      throw new ServiceError('refused', 'this size is not served', { retryable: false });
    const size = sizes === 'several' ? Math.min(pageSize ?? 50, this.size) : this.size;
    const total = this.#entries.length;
    let index = (pageNo ?? 1) - 1;
    if (index > 0 && index * size >= total) {
      if (beyond === '404')
        throw new ServiceError('not_found', 'there is no page here', { retryable: false });
      if (beyond === 'last page') index = Math.ceil(total / size) - 1;
    }
    const toItem: (entry: Entry) => object = resource === 'collections' ? toCollection : toExport;
    const items = this.#entries.slice(index * size, (index + 1) * size).map(toItem);
    // Answers come in another order than they were asked for.
    for (let turns = this.traffic.requests % 3; turns > 0; turns--) await new Promise(setImmediate);
    return answer(items, total, index + 1, size);
  }
}

const labelOf = ({ id, title }: Entry): string => `${id} title ${title}`;
const connection = { id: 1, name: 'C' };
const toCollection = ({ id, title }: Entry) => ({ id, name: `title ${title}`, sourceConnection: connection });
const toExport = ({ id, title, shown }: Entry) => ({
  sourceConnection: connection,
  sourceDocumentTitle: `title ${title}`,
  sourceDocumentReference: `${id}`,
  exportedAt: shown === null ? null : new Date(1_700_000_000_000 + Math.round(shown * 60_000)).toISOString(),
});
