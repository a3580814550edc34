import { browsableOf } from '../../contract/browsable.ts';
import { listOf } from '../../contract/lists.ts';
import { wireConnection, wireWriter } from '../../contract/wire.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { ListTable } from '../tables/list-table.ts';
import type { Change } from './change.ts';
import { type ChangeRequest, changesThatFit } from './change-list.ts';
import { type ConnectionStory, exportCounts, readConnection } from './connection-story.ts';
import { everyRow, type FoundRows, findRows, type ListRequest } from './record-list.ts';
import { type SearchBounds, type SearchResult, search } from './search.ts';
import { registerWords } from './words.ts';

/** A record of a list page. */
export interface BrowsedRecord {
  readonly id: number;
  /** The id that the service gave it; null if it gave none. */
  readonly ownId: number | null;
  /** JSON text in the service's own shape. */
  readonly record: string;
}

/** A page of a list. */
export interface BrowsedPage extends FoundRows {
  readonly items: readonly BrowsedRecord[];
}

/** A connection by which a list can be filtered. */
export interface Choice {
  readonly id: number;
  readonly name: string | null;
}

/** The memory for pages of one connection, in KiB. It is small, because several requests read the mirror at once. */
const cacheKib = 4 * 1024;
/** How many of the newest exports are searched for their kinds, and how many kinds are returned. */
const exportsLookedAt = 2_000;
const kindsMax = 50;

/** Reads a mirror for one request. It sees one state of the mirror, even if a run writes meanwhile. */
export class BrowseReader implements Disposable {
  readonly #file: MirrorFile;
  readonly #connections: ConnectionTable;

  /** @throws MirrorFileError if there is no mirror, or it can't be read. */
  constructor(path: string) {
    this.#file = openForReading(path);
    const { sqlite } = this.#file;
    sqlite.pragma(`cache_size = -${cacheKib}`);
    registerWords(sqlite);
    sqlite.exec('BEGIN');
    this.#connections = new ConnectionTable(sqlite);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** The records of one page that match a filter. */
  *page(request: ListRequest): Generator<void, BrowsedPage> {
    const found = yield* findRows(this.#file.sqlite, request);
    const read = this.#reader(request.resource);
    return { ...found, items: found.rows.map(({ id }) => read(id)) };
  }

  /** Every record that matches, one at a time; null in between, so that others have their turn. */
  *every(request: Pick<ListRequest, 'resource' | 'filter' | 'order'>): Generator<BrowsedRecord | null> {
    const read = this.#reader(request.resource);
    for (const id of everyRow(this.#file.sqlite, request)) yield id === null ? null : read(id);
  }

  /** The changes that match, in order; null in between, so that others have their turn. */
  changes(request: ChangeRequest): Generator<Change | null> {
    return changesThatFit(this.#file.sqlite, request);
  }

  /** Everything that the mirror knows about a connection; null if it never had it. */
  connection(id: number): ConnectionStory | null {
    return readConnection(this.#file.sqlite, id);
  }

  /** Records of a list by their ids; those that are gone are left out. */
  records(resource: string, ids: readonly number[]): BrowsedRecord[] {
    const read = this.#reader(resource);
    return ids.map(read);
  }

  /** How many exports a connection is the source of, and the destination of. */
  exportCounts(id: number): { readonly exported: number; readonly received: number } {
    return exportCounts(this.#file.sqlite, id);
  }

  /** The connections by their names; null if there are more than `max`. */
  connectionChoices(max: number): Choice[] | null {
    const all = this.#file.sqlite
      // By hand: sorted by a function.
      .prepare<[number], Choice>('SELECT id, name FROM connections ORDER BY lower(name), id LIMIT ?')
      .all(max + 1);
    return all.length > max ? null : all;
  }

  /** Kinds of the exports that were made last. */
  kindChoices(): string[] {
    return (
      this.#file.sqlite
        // By hand: a bounded subquery.
        .prepare<[number, number], string>(
          `SELECT DISTINCT kind FROM (SELECT source_document_kind AS kind FROM document_exports ORDER BY exported_at_ms DESC LIMIT ?)
         WHERE kind IS NOT NULL ORDER BY 1 LIMIT ?`,
        )
        .pluck()
        .all(exportsLookedAt, kindsMax)
    );
  }

  /** Finds records by words of their titles and references, in slices. */
  search(text: string, bounds: SearchBounds): Generator<void, SearchResult> {
    return search(this.#file.sqlite, text, bounds);
  }

  #reader(resource: string): (id: number) => BrowsedRecord {
    if (browsableOf(resource).resource === 'connections')
      return id => ({
        id,
        ownId: id,
        record: wireConnection(this.#connections.read(id) ?? { id, name: null, extra: null }),
      });
    const list = listOf(resource);
    const table = new ListTable(this.#file.sqlite, list);
    const write = wireWriter(list, id => this.#connections.read(id));
    return id => {
      const { record } = table.read(id);
      return { id, ownId: record.id, record: write(record) };
    };
  }
}
