import type Database from 'better-sqlite3';
import type { ListDefinition } from '../../contract/lists.ts';
import { contentBytes, hash16 } from '../../contract/sum.ts';
import type { PageItems } from '../../proof/window.ts';

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
    if (row === undefined || !pageCheck(this.#resource, by, digest, row).equals(row.check)) return null;
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
export function pageCheck(
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
