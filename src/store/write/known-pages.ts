import type Database from 'better-sqlite3';
import type { Connection } from '../../contract/content.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { contentBytes, hash16 } from '../../contract/sum.ts';
import type { PageItems } from '../../proof/window.ts';
import type { ConnectionNames, Saying } from './connections.ts';

// What a run notes of its pages, so that the next one knows their items by their bytes (known-items.ts).

/** A page whose parse is remembered. */
export interface KnownPage {
  /** The ids of its rows, in the order of its items, as ranges. */
  readonly rows: readonly Range[];
  /** The run that saw it: a later one wrote none of these rows. */
  readonly run: number;
  /** For each item the number of what it says of connections. */
  readonly said: Uint16Array;
  /** The page's pieces, `pieceBytes` each; null if it was not cut. */
  readonly pieces: Buffer | null;
}

/** The run that noted the pages of a list, and how many they are. */
export interface NotedPages {
  readonly by: number;
  readonly count: number;
}

/** Bytes of a piece that is remembered: 16 of its hash, and two of the number of its items. */
export const pieceBytes = contentBytes + 2;

/** The first and the last id of neighbouring rows; SQL reads it as it is. */
export type Range = readonly [first: number, last: number];

/** A page as its row has it. */
interface PageRow extends Pick<KnownPage, 'run' | 'pieces'> {
  readonly rows: string;
  readonly said: Buffer;
  readonly check: Buffer;
}

/** So many pages are at hand. Pieces of one page mostly come from two of the run before. */
const cachedMax = 16;

/** The pages of a list that a run has noted. A row that is not as that run wrote it is none. */
export class KnownPages {
  readonly #sqlite: Database.Database;
  readonly #resource: string;
  readonly #noted: NotedPages | null;
  readonly #find: Database.Statement<[resource: string, digest: Buffer], PageRow>;
  readonly #cached = new Map<string, KnownPage | null>();

  constructor(sqlite: Database.Database, { resource }: ListDefinition, noted: NotedPages | null) {
    [this.#sqlite, this.#resource, this.#noted] = [sqlite, resource, noted];
    this.#find = sqlite.prepare(
      'SELECT run_id AS run, rows, said, pieces, "check" FROM _known_pages WHERE resource = ? AND digest = ?',
    );
  }

  /** The page with that digest; null if it is not known. */
  get(digest: string): KnownPage | null {
    if (this.#noted === null) return null;
    const cached = this.#cached.get(digest);
    if (cached !== undefined) return cached;
    const page = this.#read(digest, this.#noted.by);
    const [oldest] = this.#cached.size < cachedMax ? [] : this.#cached.keys();
    if (oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.set(digest, page);
    return page;
  }

  #read(digest: string, notedBy: number): KnownPage | null {
    const row = this.#find.get(this.#resource, Buffer.from(digest, 'hex'));
    if (row === undefined || !checkOf(this.#resource, notedBy, digest, row).equals(row.check)) return null;
    const { run, rows, said, pieces } = row;
    return { run, rows: JSON.parse(rows), said: numbersIn(said), pieces };
  }

  /** Whether all rows are there, as that run wrote them. */
  get areWhole(): boolean {
    const count = 'SELECT count(*) FROM _known_pages WHERE resource = ?';
    const known = [...this.all()].filter(({ digest }) => this.get(digest) !== null);
    const found = this.#sqlite.prepare<[string], number>(count).pluck().get(this.#resource);
    return found === known.length && found === (this.#noted?.count ?? 0);
  }

  /** The digests of all pages, and their pieces. They are only checked when one is got. */
  all(): Iterable<{ readonly digest: string; readonly pieces: Buffer | null }> {
    if (this.#noted === null) return [];
    const all =
      'SELECT lower(hex(digest)) AS digest, pieces FROM _known_pages WHERE resource = ? ORDER BY rowid';
    return this.#sqlite
      .prepare<[string], { digest: string; pieces: Buffer | null }>(all)
      .iterate(this.#resource);
  }
}

/** 16 bytes over a row of a page, and the run that noted it. */
function checkOf(
  resource: string,
  notedBy: number,
  digest: string,
  { run, rows, said, pieces }: Omit<PageRow, 'check'>,
): Buffer {
  const text = JSON.stringify([resource, notedBy, digest, run, rows, said.length, pieces?.length ?? null]);
  return hash16(Buffer.concat([Buffer.from(text), said, pieces ?? Buffer.alloc(0)]));
}

/** A page that was read in this run. */
export interface ParsedPage extends Pick<KnownPage, 'pieces'> {
  readonly items: PageItems;
  /** For each item the number of what it says of connections; null if one might have none. */
  readonly said: Uint16Array | null;
}

/** The pages of a run, what they say of connections, and the rows that their records have now. */
export interface SeenPages {
  readonly pages: ReadonlyMap<string, ParsedPage>;
  readonly names: ConnectionNames;
  readonly run: number;
  /** Null for a record that has no row. */
  readonly rowsOf: (page: PageItems) => readonly (number | null)[];
}

/** Notes pages that the next run can know, and what they say of connections. */
export class PageNotes {
  readonly #names: Connection[] = [];
  readonly #says: Saying[] = [];
  readonly #seen: SeenPages;
  readonly #resource: string;
  readonly #put: Database.Statement;
  readonly #remove: Database.Statement<[resource: string, digest: Buffer]>;
  readonly #digests = new Set<string>();
  /** The numbers that entries and sayings of this run have here. */
  readonly #entries = new Map<number, number>();
  readonly #sayings = new Map<number, number>([[0, 0]]);

  /** @param before the pages that stay; null if none do. */
  constructor(
    sqlite: Database.Database,
    { resource }: ListDefinition,
    seen: SeenPages,
    before: KnownPages | null,
  ) {
    [this.#seen, this.#resource] = [seen, resource];
    this.#remove = sqlite.prepare('DELETE FROM _known_pages WHERE resource = ? AND digest = ?');
    this.#put =
      sqlite.prepare(`INSERT OR REPLACE INTO _known_pages (resource, digest, run_id, rows, said, pieces, "check")
      VALUES (@resource, @digest, @run, @rows, @said, @pieces, @check)`);
    const digests = Array.from(before?.all() ?? [], ({ digest }) => digest);
    if (before === null) forgetPages(sqlite, resource);
    for (const digest of digests) {
      const page = before?.get(digest) ?? null;
      if (page === null) this.#forget(digest);
      else this.#note(digest, page);
    }
  }

  /** What was noted, as the next run has to know it. */
  get made() {
    const pages: NotedPages = { by: this.#seen.run, count: this.#digests.size };
    return { names: this.#names, sayings: this.#says, pages };
  }

  /** Adds a page of this run; false if a record on it has no row, so that it can't be known. */
  add(digest: string): boolean {
    const parsed = this.#seen.pages.get(digest);
    if (parsed === undefined) return this.#digests.has(digest);
    const { items, said, pieces } = parsed;
    const rows = items.count > 0 && said !== null ? rangesOf(this.#seen.rowsOf(items)) : null;
    if (rows === null || said === null) this.#forget(digest);
    else this.#note(digest, { rows, run: this.#seen.run, said, pieces });
    return rows !== null;
  }

  #forget(digest: string): void {
    this.#digests.delete(digest);
    this.#remove.run(this.#resource, Buffer.from(digest, 'hex'));
  }

  #note(digest: string, page: KnownPage): void {
    this.#digests.add(digest);
    const [resource, { buffer }] = [this.#resource, page.said.map(saying => this.#sayingOf(saying))];
    const { run, pieces } = page;
    const row = { run, rows: JSON.stringify(page.rows), said: Buffer.from(buffer), pieces };
    const check = checkOf(resource, this.#seen.run, digest, row);
    this.#put.run({ resource, digest: Buffer.from(digest, 'hex'), ...row, check });
  }

  #sayingOf(saying: number): number {
    const known = this.#sayings.get(saying);
    if (known !== undefined) return known;
    const { before, entry } = this.#seen.names.sayings[saying - 1] as Saying;
    const number = this.#says.push({ before: this.#sayingOf(before), entry: this.#entryOf(entry) });
    this.#sayings.set(saying, number);
    return number;
  }

  #entryOf(entry: number): number {
    const known = this.#entries.get(entry);
    if (known !== undefined) return known;
    this.#entries.set(entry, this.#names.length);
    return this.#names.push(this.#seen.names.entries[entry] as Connection) - 1;
  }
}

/** Forgets all pages of a list. */
export function forgetPages(sqlite: Database.Database, resource: string): void {
  sqlite.prepare('DELETE FROM _known_pages WHERE resource = ?').run(resource);
}

/** Numbers of two bytes each. */
function numbersIn(bytes: Buffer): Uint16Array {
  return new Uint16Array(new Uint8Array(bytes).buffer);
}

/** The ids in ranges. */
export function idsOf(ranges: readonly Range[]): number[] {
  const ids: number[] = [];
  for (const [first, last] of ranges) for (let id = first; id <= last; id++) ids.push(id);
  return ids;
}

/** Ids as ranges, in their order; null if one is missing. */
export function rangesOf(ids: readonly (number | null)[]): Range[] | null {
  const ranges: [first: number, last: number][] = [];
  for (const id of ids) {
    if (id === null) return null;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === id) last[1] = id;
    else ranges.push([id, id]);
  }
  return ranges;
}
