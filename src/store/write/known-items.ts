// What runs note of pages, so that the next one knows their items by their bytes.

import type Database from 'better-sqlite3';
import type { ListDefinition } from '../../contract/lists.ts';
import { type Page, parseItems, parsePiece, piecesOf } from '../../contract/page.ts';
import { contentBytes, hash16, writeHash16 } from '../../contract/sum.ts';
import { tryToRead } from '../../errors.ts';
import { firstValue } from '../tables/ask.ts';
import { InternTable, idsOf, type Range, rangesOf } from './compact-sets.ts';
import type { ListSql } from './list-sql.ts';
import type { ListContext } from './mirror.ts';
import type { NotedPages } from './sync-state.ts';

// Items that come as the mirror remembers them are not parsed. They are known by their bytes: those of a whole page, or of a piece of one.
//
//     last night   | a b c d | e f | g h i |         a page in pieces; where one ends, its last item tells
//     tonight    | n a b c d | e f | g h |           one record came, and all others moved by one place
//                                                    e and f are known; a to d and g to i are in pieces with other bytes
//
// No cut is a guess. Each piece of a remembered page was JSON by itself, so its brackets are even, and the next one begins at the level of the
// list. A page of which each piece is known, or is JSON by itself, has therefore the items of these pieces, and no others.

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

/** Bytes of a piece that is remembered: 16 of its hash, and two of the number of its items. */
export const pieceBytes = contentBytes + 2;

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
    // Numbers of two bytes each.
    return { run, rows: JSON.parse(rows), said: new Uint16Array(new Uint8Array(said).buffer), pieces };
  }

  /** Whether all rows are there, as runs wrote them. */
  get areWhole(): boolean {
    const count = 'SELECT count(*) FROM _known_pages WHERE resource = ?';
    const known = [...this.all()].filter(({ digest }) => this.get(digest) !== null);
    const found = firstValue<number>(this.#sqlite, count, this.#resource);
    return found === known.length && found === (this.noted?.count ?? 0);
  }

  /** The digests of all pages, and their pieces. They are only checked when one is got. */
  all(): Iterable<{ readonly digest: string; readonly pieces: Buffer | null }> {
    if (this.noted === null) return [];
    const all =
      'SELECT lower(hex(digest)) AS digest, pieces FROM _known_pages WHERE resource = ? ORDER BY rowid';
    const pages = this.#sqlite.prepare<[string], { digest: string; pieces: Buffer | null }>(all);
    return pages.iterate(this.#resource);
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

/** A page's items as they were read. */
export interface ItemsRead extends Pick<Page, 'items' | 'unknown'> {
  /** Of known items their keys, and what they say of connections, by the numbers of `ConnectionNames`. */
  readonly keys: Float64Array;
  readonly said: Uint16Array;
  readonly known: readonly RowsInPlace[];
  /** As in a `KnownPage`. */
  readonly pieces: KnownPage['pieces'];
}

/** The rows of known items that follow each other, from a place on the page, and their contents, of 16 bytes each. */
export interface RowsInPlace {
  readonly place: number;
  readonly rows: readonly number[];
  readonly contents: Buffer;
}

/** Known items that follow each other: on the page that is read, and on one that is remembered. */
interface KnownNeighbours {
  readonly place: number;
  readonly page: KnownPage;
  readonly from: number;
  count: number;
}

/** Items of which nothing is known. */
export function notKnown(
  items: readonly unknown[],
  unknown: Buffer,
  pieces: Buffer | null = null,
): ItemsRead {
  const [keys, said] = [new Float64Array(items.length), new Uint16Array(items.length)];
  return { items, unknown, keys, said, known: [], pieces };
}

/** The items that a run knows of a list, by what the runs before have noted. */
export class KnownItems {
  readonly #pages: KnownPages;
  readonly #find: Database.Statement<[ranges: string], FoundRows>;
  #index: PieceIndex | null = null;
  /** Without rows nothing is known, and pieces would cost a first copy more than they save the next run. */
  #isCut: boolean;

  constructor({ sqlite, sumBefore }: ListContext, sql: ListSql, pages: KnownPages) {
    this.#pages = pages;
    this.#find = sqlite.prepare<[string], FoundRows>(sql.known);
    this.#isCut = sumBefore.count > 0;
  }

  /** A page that is known as a whole; null if it is not, or if its rows have changed. */
  page(digest: string): ItemsRead | null {
    const page = this.#pages.get(digest);
    if (page === null) return null;
    const rows = idsOf(page.rows);
    const keys = new Float64Array(rows.length);
    const contents = this.#contentsOf(page.rows, page.run, keys);
    if (contents === null) return null;
    const { said, pieces } = page;
    return { items: null, unknown: nothing, keys, said, known: [{ place: 0, rows, contents }], pieces };
  }

  /** Reads the items of a page that is not known as a whole. Throws a SyntaxError if they are not JSON. */
  read(bytes: Buffer): ItemsRead {
    const read = this.#isCut ? tryToRead(() => this.#readPieces(bytes)) : null;
    if (read) return read;
    const items = parseItems(bytes);
    // Items of an unusual form will not be otherwise on the next page.
    if (items.length > 0) this.#isCut = false;
    return notKnown(items, bytes);
  }

  /** Null if there is nothing to cut. Throws a SyntaxError if a piece is not whole items. */
  #readPieces(bytes: Buffer): ItemsRead | null {
    const cut = piecesOf(bytes);
    if (cut === null) return null;
    this.#index ??= new PieceIndex(this.#pages);
    // They stay until the end of the run, so they are no part of a larger buffer.
    const hashes = Buffer.allocUnsafeSlow(cut.length * pieceBytes);
    const all: KnownNeighbours[] = [];
    const [items, unknown]: [unknown[], Buffer[]] = [[], []];
    for (const [at, piece] of cut.entries()) {
      const text = bytes.subarray(piece.from, piece.to);
      writeHash16(text, hashes, at * pieceBytes);
      const known = this.#index.find(hashes, at * pieceBytes);
      const parsed = known === null ? parsePiece(bytes, piece) : new Array<undefined>(known.count);
      hashes.writeUInt16LE(parsed.length, at * pieceBytes + contentBytes);
      if (known === null) unknown.push(text);
      else addNeighbours(all, { ...known, place: items.length });
      for (const item of parsed) items.push(item);
    }
    // Nothing is copied of a page of which nothing is known.
    const read = notKnown(items, all.length === 0 ? bytes : Buffer.concat(unknown), hashes);
    const known = this.#rowsOf(all, read);
    // If a row has changed, nothing is known.
    return known === null ? notKnown(parseItems(bytes), bytes, hashes) : { ...read, known };
  }

  /** The rows of known items; null if one has changed. Notes their keys, and what they say. */
  #rowsOf(all: readonly KnownNeighbours[], { keys, said }: ItemsRead): RowsInPlace[] | null {
    const rows: RowsInPlace[] = [];
    for (const [seenBy, its] of Map.groupBy(all, ({ page }) => page.run)) {
      const ids = its.map(({ page, from, count }) => idsOf(page.rows).slice(from, from + count));
      const found = new Float64Array(ids.reduce((sum, { length }) => sum + length, 0));
      const contents = this.#contentsOf(rangesOf(ids.flat()) ?? [], seenBy, found);
      if (contents === null) return null;
      let at = 0;
      for (const [number, { place, page, from, count }] of its.entries()) {
        const [first, last] = [at, at + count];
        at = last;
        keys.set(found.subarray(first, last), place);
        said.set(page.said.subarray(from, from + count), place);
        const own = contents.subarray(first * contentBytes, last * contentBytes);
        rows.push({ place, rows: ids[number] ?? [], contents: own });
      }
    }
    return rows;
  }

  /** The contents of rows, whose keys it notes; null if a row is gone, or was written by a later run than the one that saw their pages. */
  #contentsOf(ranges: readonly Range[], seenBy: number, keys: Float64Array): Buffer | null {
    if (keys.length === 0) return nothing;
    const found = this.#find.get(JSON.stringify(ranges)) as FoundRows;
    const { run, contents } = found;
    const isSame = run !== null && run <= seenBy; // guard: rows of known pages
    if (!isSame || contents?.length !== keys.length * contentBytes) return null;
    const all: readonly (number | null)[] = JSON.parse(found.keys);
    for (const [at, key] of all.entries()) keys[at] = key ?? Number.NaN;
    return contents;
  }
}

const nothing = Buffer.alloc(0);

/** What SQL finds of some rows: the newest run that wrote one of them, their contents one after the other, and their keys as JSON. */
interface FoundRows {
  readonly run: number | null;
  readonly contents: Buffer | null;
  readonly keys: string;
}

/** Adds known items to those before them on the page that is read. */
function addNeighbours(all: KnownNeighbours[], next: KnownNeighbours): void {
  const last = all.at(-1);
  const isNext = last?.page === next.page && last.from + last.count === next.from;
  if (isNext && last.place + last.count === next.place) last.count += next.count;
  else all.push(next);
}

/** The pieces of remembered pages, by their hashes. */
class PieceIndex {
  readonly #pages: KnownPages;
  readonly #digests: string[] = [];
  readonly #hashes: InternTable;
  /** By the number of a piece: its page, the place of its first item there, and how many items it has. */
  readonly #pageOf: Uint32Array;
  readonly #fromOf: Uint32Array;
  readonly #countOf: Uint16Array;

  constructor(pages: KnownPages) {
    let count = 0;
    for (const { pieces } of pages.all()) count += (pieces?.length ?? 0) / pieceBytes;
    this.#pages = pages;
    this.#hashes = new InternTable(count);
    this.#pageOf = new Uint32Array(count + 1);
    this.#fromOf = new Uint32Array(count + 1);
    this.#countOf = new Uint16Array(count + 1);
    for (const { digest, pieces } of pages.all()) if (pieces !== null) this.#add(digest, pieces);
  }

  #add(digest: string, pieces: Buffer): void {
    const page = this.#digests.push(digest) - 1;
    for (let [offset, from] = [0, 0]; offset < pieces.length; offset += pieceBytes) {
      const number = this.#hashes.numberOf(pieces, offset);
      const count = pieces.readUInt16LE(offset + contentBytes);
      this.#pageOf[number] = page;
      this.#fromOf[number] = from;
      this.#countOf[number] = count;
      from += count;
    }
  }

  /** The items of the piece whose hash is at an offset; null if it is not known. */
  find(hashes: Buffer, offset: number): Omit<KnownNeighbours, 'place'> | null {
    const number = this.#hashes.find(hashes, offset);
    if (number === null) return null;
    const page = this.#pages.get(this.#digests[this.#pageOf[number] as number] as string);
    return page && { page, from: this.#fromOf[number] as number, count: this.#countOf[number] as number };
  }
}
