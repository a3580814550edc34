import { type ListDefinition, lists } from '../../contract/lists.ts';
import { type WireWriter, wireWriter } from '../../contract/wire.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { ListTable } from '../tables/list-table.ts';
import type { Change } from './change.ts';
import type { ChangeCursor, LostCursor } from './change-cursor.ts';
import { type ChangePage, readChangePage } from './change-list.ts';
import { findByReference, type RecordStory, type ReferenceMatches, readStory } from './record-story.ts';
import { withId } from './with-id.ts';

export type { Change };

/** Records of a list and the total number of its records, both at one moment. */
export interface RecordPage {
  readonly records: readonly string[];
  readonly totalRecordCount: number;
}

/** Reads a mirror; never writes. Each answer is from one state of the file, even if a run writes meanwhile. */
export class MirrorReader implements Disposable {
  readonly endedRuns: EndedRuns;
  readonly #file: MirrorFile;
  readonly #lists: ReadonlyMap<string, { table: ListTable; write: WireWriter }>;

  /** @throws MirrorFileError if there is no mirror, or it can't be read. */
  constructor(path: string) {
    const file = openForReading(path);
    this.#file = file;
    this.endedRuns = new EndedRuns(file.sqlite);
    const connections = new ConnectionTable(file.sqlite);
    this.#lists = new Map(
      lists.map(list => [
        list.resource,
        { table: new ListTable(file.sqlite, list), write: wireWriter(list, id => connections.read(id)) },
      ]),
    );
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** From here on everything is read from one state of the file, even if a run writes meanwhile. */
  holdStill(): void {
    this.#file.sqlite.exec('BEGIN');
  }

  /** Some of a list's records in the order of their ids. */
  page(list: ListDefinition, offset: number, limit: number): RecordPage {
    const { table, write } = this.#tableOf(list);
    return this.#file.sqlite.transaction(() => ({
      records: table.rowsAt(offset, limit).map(row => withId(write(row.record), row.record.id, row.id)),
      totalRecordCount: table.count(),
    }))();
  }

  /** Everything that the mirror knows about one record of a list or of the connections; null if it never had it. */
  story(resource: string, recordId: number, versionsMax: number): RecordStory | null {
    return readStory(this.#file.sqlite, resource, recordId, versionsMax);
  }

  /** The document exports that have, or ever had, a `sourceDocumentReference`. */
  withReference(reference: string, matchesMax: number): ReferenceMatches {
    return findByReference(this.#file.sqlite, reference, matchesMax);
  }

  /** At most `limit` changes after a cursor, or after a run, from one state of the file. */
  changePage(
    from: ChangeCursor | Pick<ChangeCursor, 'runId' | 'after'>,
    limit: number,
  ): ChangePage | LostCursor {
    return readChangePage(this.#file.sqlite, from, limit);
  }

  #tableOf(list: ListDefinition): { table: ListTable; write: WireWriter } {
    const found = this.#lists.get(list.resource);
    if (found === undefined) throw new TypeError(`The mirror has no list ${list.resource}.`);
    return found;
  }
}
