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

/** How many pages of a list are noted, and the run whose numbers they have of what is said of connections. */
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

/** The pages of a list that runs have noted. A row that is not as they wrote it is none. */
export class KnownPages {
  readonly #sqlite: Database.Database;
  readonly #resource: string;
  readonly noted: NotedPages | null;
  readonly #find: Database.Statement<[resource: string, digest: Buffer], PageRow>;
  readonly #cached = new Map<string, KnownPage | null>();

  constructor(sqlite: Database.Database, { resource }: ListDefinition, noted: NotedPages | null) {
    [this.#sqlite, this.#resource, this.noted] = [sqlite, resource, noted];
    this.#find = sqlite.prepare(
      'SELECT run_id AS run, rows, said, pieces, "check" FROM _known_pages WHERE resource = ? AND digest = ?',
    );
  }

  /** The page with that digest; null if it is not known. */
  get(digest: string): KnownPage | null {
    if (this.noted === null) return null;
    const cached = this.#cached.get(digest);
    if (cached !== undefined) return cached;
    const page = this.#read(digest, this.noted.by);
    const [oldest] = this.#cached.size < cachedMax ? [] : this.#cached.keys();
    if (oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.set(digest, page);
    return page;
  }

  #read(digest: string, by: number): KnownPage | null {
    const row = this.#find.get(this.#resource, Buffer.from(digest, 'hex'));
    if (row === undefined || !checkOf(this.#resource, by, digest, row).equals(row.check)) return null;
    const { run, rows, said, pieces } = row;
    return { run, rows: JSON.parse(rows), said: numbersIn(said), pieces };
  }

  /** Whether all rows are there, as runs wrote them. */
  get areWhole(): boolean {
    const count = 'SELECT count(*) FROM _known_pages WHERE resource = ?';
    const known = [...this.all()].filter(({ digest }) => this.get(digest) !== null);
    const found = this.#sqlite.prepare<[string], number>(count).pluck().get(this.#resource);
    return found === known.length && found === (this.noted?.count ?? 0);
  }

  /** The digests of all pages, and their pieces. They are only checked when one is got. */
  all(): Iterable<{ readonly digest: string; readonly pieces: Buffer | null }> {
    if (this.noted === null) return [];
    const all =
      'SELECT lower(hex(digest)) AS digest, pieces FROM _known_pages WHERE resource = ? ORDER BY rowid';
    return this.#sqlite
      .prepare<[string], { digest: string; pieces: Buffer | null }>(all)
      .iterate(this.#resource);
  }
}

/** 16 bytes over a row of a page, and the run whose numbers it has. */
function checkOf(
  resource: string,
  by: number,
  digest: string,
  { run, rows, said, pieces }: Omit<PageRow, 'check'>,
): Buffer {
  const text = JSON.stringify([resource, by, digest, run, rows, said.length, pieces?.length ?? null]);
  return hash16(Buffer.concat([Buffer.from(text), said, pieces ?? Buffer.alloc(0)]));
}

/** A page that was read in this run. */
export interface ParsedPage extends Pick<KnownPage, 'pieces'> {
  readonly items: PageItems;
  /** For each item the number of what it says of connections; null if one might have none. */
  readonly said: Uint16Array | null;
  /** Whether it was known as a whole. */
  readonly isKnown: boolean;
}

/** The pages of a run, what they say of connections, and the rows that their records have now. */
export interface SeenPages {
  readonly pages: ReadonlyMap<string, ParsedPage>;
  readonly names: ConnectionNames;
  readonly run: number;
  /** Null for a record that has no row. */
  readonly rowsOf: (page: PageItems) => readonly (number | null)[];
}

/**
 * Notes pages that the next run can know, and what they say of connections. Those that were known stay as they are, with the numbers of
 * what they say, until a name or most of these numbers are in no page any more.
 */
export class PageNotes {
  readonly #sqlite: Database.Database;
  readonly #resource: string;
  readonly #seen: SeenPages;
  readonly #put: Database.Statement;
  /** The run whose numbers count, and the pages so far. */
  readonly #by: number;
  readonly #digests: Set<string>;
  /** What connections are called, anew; null if the numbers of before count. */
  readonly #anew: NewNumbers | null;

  /** @param staysAll whether pages stay that this run has not seen. */
  constructor(
    { sqlite, list: { resource } }: { sqlite: Database.Database; list: ListDefinition },
    before: KnownPages,
    seen: SeenPages,
    staysAll: boolean,
  ) {
    [this.#sqlite, this.#resource, this.#seen] = [sqlite, resource, seen];
    this.#put =
      sqlite.prepare(`INSERT OR REPLACE INTO _known_pages (resource, digest, run_id, rows, said, pieces, "check")
      VALUES (@resource, @digest, @run, @rows, @said, @pieces, @check)`);
    const by = before.noted?.by ?? seen.run;
    const isAnew = by === seen.run || (!staysAll && areUnused(seen));
    this.#anew = isAnew ? new NewNumbers(seen.names) : null;
    this.#by = isAnew ? seen.run : by;
    this.#digests = new Set(
      staysAll
        ? Array.from(before.all(), ({ digest }) => digest).filter(each => before.get(each) !== null)
        : [],
    );
  }

  /** Adds a page of this run; false if a record on it has no row, so that it can't be known. */
  add(digest: string): boolean {
    const parsed = this.#seen.pages.get(digest);
    if (parsed === undefined) return this.#digests.has(digest);
    const { items, said, pieces, isKnown } = parsed;
    if (isKnown && this.#anew === null) this.#digests.add(digest);
    else {
      const rows = items.count > 0 && said !== null ? rangesOf(this.#seen.rowsOf(items)) : null;
      if (rows === null || said === null) this.#digests.delete(digest);
      else this.#note(digest, { rows, run: this.#seen.run, said, pieces });
    }
    return this.#digests.has(digest);
  }

  #note(digest: string, { rows, run, said, pieces }: KnownPage): void {
    this.#digests.add(digest);
    const resource = this.#resource;
    const { buffer } =
      this.#anew === null ? new Uint16Array(said) : said.map(each => this.#anew?.of(each) ?? 0);
    const row = { run, rows: JSON.stringify(rows), said: Buffer.from(buffer), pieces };
    const check = checkOf(resource, this.#by, digest, row);
    this.#put.run({ resource, digest: Buffer.from(digest, 'hex'), ...row, check });
  }

  /** Removes the rows of all other pages. Returns what the state of the list has of the notes. */
  end() {
    const all = 'SELECT lower(hex(digest)) FROM _known_pages WHERE resource = ?';
    const remove = this.#sqlite.prepare('DELETE FROM _known_pages WHERE resource = ? AND digest = ?');
    for (const digest of this.#sqlite.prepare<[string], string>(all).pluck().all(this.#resource))
      if (!this.#digests.has(digest)) remove.run(this.#resource, Buffer.from(digest, 'hex'));
    const { entries, sayings } = this.#anew ?? this.#seen.names;
    const pages: NotedPages = { by: this.#by, count: this.#digests.size };
    return { names: entries, sayings, pages };
  }
}

/** So many numbers of what no page says can stay in any case. */
const unusedMax = 100;

/** Whether a name is in no page any more, which must not stay in the file, or most numbers are in none. */
function areUnused({ pages, names: { entries, sayings } }: SeenPages): boolean {
  const isUsed = new Uint8Array(sayings.length + 1);
  for (const { said } of pages.values()) for (const each of said ?? []) isUsed[each] = 1;
  const said = new Set<number>();
  let used = 0;
  for (let number = sayings.length; number > 0; number--) {
    if (isUsed[number] === 0) continue;
    const { before, entry } = sayings[number - 1] as Saying;
    isUsed[before] = 1;
    said.add(entry);
    used++;
  }
  return said.size < entries.length || sayings.length > 2 * used + unusedMax;
}

/** New numbers of what pages say of connections, without those that no page has. */
class NewNumbers {
  readonly entries: Connection[] = [];
  readonly sayings: Saying[] = [];
  readonly #names: ConnectionNames;
  readonly #newEntries = new Map<number, number>();
  readonly #newSayings = new Map<number, number>([[0, 0]]);

  constructor(names: ConnectionNames) {
    this.#names = names;
  }

  of(saying: number): number {
    const known = this.#newSayings.get(saying);
    if (known !== undefined) return known;
    const { before, entry } = this.#names.sayings[saying - 1] as Saying;
    const number = this.sayings.push({ before: this.of(before), entry: this.#entryOf(entry) });
    this.#newSayings.set(saying, number);
    return number;
  }

  #entryOf(entry: number): number {
    const known = this.#newEntries.get(entry);
    if (known !== undefined) return known;
    this.#newEntries.set(entry, this.entries.length);
    return this.entries.push(this.#names.entries[entry] as Connection) - 1;
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
