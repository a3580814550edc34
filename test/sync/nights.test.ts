import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ListDefinition } from '../../src/contract/lists.ts';
import { type Page, readPage } from '../../src/contract/page.ts';
import { ServiceError } from '../../src/errors.ts';
import { Random } from '../../src/sample/random.ts';
import type { PageRequest, PageSource } from '../../src/sync/ports.ts';
import { exitCodeOf } from '../../src/sync/run.ts';
import { memoryFolder, run } from '../support/in-process.ts';
import { sqlite } from '../support/run-cli.ts';

// Honest services, each for eight nights: 15 records come, 4 are edited and, every other night, 3 go. Nothing is wrong, so each night ends
// with 0, and the mirror is exact.

interface Entry {
  readonly id: number;
  /** The job began then, in minutes; the list can be in this order, and nobody sees it. */
  readonly begun: number;
  /** The time that the record shows. */
  readonly shown: number;
  readonly title: number;
  readonly changed: number;
}

interface Kind {
  readonly order?: 'begun' | 'newest first' | 'title' | 'last change' | 'unseen';
  /** How late the shown time can be, in minutes. */
  readonly late?: number;
  /** How many records share a time. */
  readonly batch?: number;
  readonly count?: number;
  readonly size?: number;
  /** What happens to page sizes; `ignored`: there is one. */
  readonly sizes?: 'several' | 'ignored' | 'refused';
  readonly beyond?: 'empty' | '404' | 'last page';
  /** A record comes while the list is read. */
  readonly arrives?: boolean;
  readonly list?: 'document-exports' | 'collections';
  /** The most requests, as multiples of one reading: if nothing was removed, and if something was. */
  readonly most: readonly [number, number];
}

const byKey = [1.3, 1.7] as const;
const unseen = [2.4, 2.5] as const;

const kinds: Record<string, Kind> = {
  'by time': { most: byKey },
  'newest first': { order: 'newest first', most: byKey },
  'almost by time': { late: 3, most: [1.3, 1.8] },
  'pages of 20': { size: 20, count: 600, most: [1.6, 2] },
  'by title': { order: 'title', most: unseen },
  'by last change': { order: 'last change', most: unseen },
  'in a stable order that nobody sees': { order: 'unseen', most: unseen },
  'in no visible order, one arrives': { order: 'unseen', arrives: true, most: [3.4, 3.4] },
  'with one page size': { size: 50, sizes: 'ignored', most: [2.8, 2.9] },
  'with one page size, others refused': { size: 50, sizes: 'refused', most: [2.8, 3.2] },
  'with one page size, by title': { size: 50, sizes: 'ignored', order: 'title', most: [2.8, 2.9] },
  'batches of 60': { batch: 60, most: [2.9, 2.9] },
  'batches of 60, one arrives': { batch: 60, arrives: true, most: [2.9, 2.9] },
  'batches of 45, pages of 50': { batch: 45, size: 50, most: [2.9, 2.9] },
  'one arrives': { arrives: true, most: byKey },
  '404 beyond the end': { beyond: '404', most: byKey },
  'the last page again beyond the end': { beyond: 'last page', most: byKey },
  'collections by name': { list: 'collections', order: 'title', count: 60, most: [2.4, 2.5] },
};

class NightlyList implements PageSource {
  readonly baseUrl = 'https://nightly.example';
  readonly concurrency = 4;
  readonly traffic = { requests: 0, retries: 0, bytes: 0, waitedMs: 0 };
  readonly size: number;
  entries: Entry[] = [];
  readonly #kind: Kind;
  readonly #random = new Random(7);
  #next = 0;
  #arrivals = 0;

  constructor(kind: Kind) {
    this.#kind = kind;
    this.size = kind.size ?? 100;
    for (let count = kind.count ?? 3_000; count > 0; count--) this.add();
  }

  add(): void {
    const { batch = 1, late = 0 } = this.#kind;
    const id = ++this.#next;
    const begun = Math.floor(id / batch) * batch;
    const shown = begun + Math.round(this.#random.fraction() * late * 60) / 60;
    this.entries.push({ id, begun, shown, title: this.#random.integer(0, 1e9), changed: id });
    this.#sort();
  }

  beginNight(gone: number): void {
    for (let count = 0; count < 15; count++) this.add();
    const any = () => this.#random.integer(0, this.entries.length - 1);
    for (let count = 0; count < 4; count++) {
      const at = any();
      const entry = this.entries[at] as Entry;
      this.entries[at] = { ...entry, title: this.#random.integer(0, 1e9), changed: ++this.#next };
    }
    for (let count = 0; count < gone; count++) this.entries.splice(any(), 1);
    this.#sort();
    this.traffic.requests = 0;
    this.#arrivals = this.#kind.arrives ? 1 : 0;
  }

  #sort(): void {
    const { order = 'begun' } = this.#kind;
    const keyOf = ({ id, begun, title, changed }: Entry): number =>
      order === 'begun'
        ? begun
        : order === 'newest first'
          ? -begun
          : order === 'title'
            ? title
            : order === 'unseen'
              ? (id * 7919) % 10007
              : changed;
    this.entries.sort((a, b) => keyOf(a) - keyOf(b) || a.id - b.id);
  }

  async getPage({ resource }: ListDefinition, { pageNo, pageSize }: PageRequest): Promise<Page> {
    const { list = 'document-exports', sizes = 'several', beyond = 'empty' } = this.#kind;
    if (resource !== list) return answer([], 0, 1, this.size);
    if (++this.traffic.requests === 5 && this.#arrivals-- > 0) this.add();
    for (let turns = this.traffic.requests % 3; turns > 0; turns--) await new Promise(setImmediate);
    if (sizes === 'refused' && pageSize !== null && pageSize !== this.size)
      throw new ServiceError('refused', 'this size is not served', { retryable: false });
    const size = sizes === 'several' ? Math.min(pageSize ?? 50, this.size) : this.size;
    const total = this.entries.length;
    let index = (pageNo ?? 1) - 1;
    if (index > 0 && index * size >= total) {
      if (beyond === '404') throw new ServiceError('not_found', 'there is no page here', { retryable: false });
      if (beyond === 'last page') index = Math.ceil(total / size) - 1;
    }
    const entries = this.entries.slice(index * size, (index + 1) * size);
    return answer(entries.map<object>(list === 'collections' ? toCollection : toExport), total, index + 1, size);
  }

  labels(): string[] {
    return this.entries.map(({ id, title }) => `${id} title ${title}`).sort();
  }
}

function answer(items: object[], totalRecordCount: number, pageNo: number, pageSize: number): Page {
  const pageCount = Math.ceil(totalRecordCount / pageSize);
  const pagination = { pageCount, pageNo, pageSize, totalRecordCount };
  return readPage(Buffer.from(JSON.stringify({ items, pagination })));
}

const connection = { id: 1, name: 'C' };
const toCollection = ({ id, title }: Entry) => ({ id, name: `title ${title}`, sourceConnection: connection });
const toExport = ({ id, title, shown }: Entry) => ({
  sourceConnection: connection,
  sourceDocumentTitle: `title ${title}`,
  sourceDocumentReference: `${id}`,
  exportedAt: new Date(1_700_000_000_000 + Math.round(shown * 60_000)).toISOString(),
});

function stored(path: string, list: string): string[] {
  const sql =
    list === 'collections'
      ? "SELECT id || ' ' || name AS label FROM collections"
      : "SELECT source_document_reference || ' ' || source_document_title AS label FROM document_exports";
  return sqlite(path, sql)
    .map(({ label }) => label as string)
    .sort();
}

test.each(Object.entries(kinds))('an honest list ends each night with 0: %s', async (_name, kind) => {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const { list = 'document-exports', most } = kind;
  const source = new NightlyList(kind);
  const worst: [number, number] = [0, 0];
  for (let night = 0; night < 8; night++) {
    const gone = night % 2 === 1 ? 3 : 0;
    source.beginNight(gone);
    const before = source.labels();
    const summary = await run(path, source, { resources: [list], maxRemovals: 0.5 });
    const [outcome] = summary.resources;
    const why = `night ${night}: ${outcome?.reason}`;
    expect(exitCodeOf(summary, new AbortController().signal), why).toBe(0);
    expect(outcome?.completeness, why).toBe('proven');
    const rows = stored(path, list);
    // A record that arrives meanwhile can come with the next night.
    expect(rows.filter(label => before.includes(label)), why).toEqual(before);
    const listed = new Set(source.labels());
    expect(rows.filter(label => !listed.has(label)), why).toEqual([]);
    const requests = source.traffic.requests / Math.ceil(source.entries.length / source.size);
    const at = gone > 0 ? 1 : 0;
    if (night > 0) worst[at] = Math.max(worst[at] as number, requests);
  }
  expect(worst[0]).toBeLessThanOrEqual(most[0]);
  expect(worst[1]).toBeLessThanOrEqual(most[1]);
});
