import type Database from 'better-sqlite3';
import { and, count, eq, gt, isNull, notExists, sql } from 'drizzle-orm';
import { type ListDefinition, lists } from '../../contract/lists.ts';
import { type WireWriter, wireWriter } from '../../contract/wire.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { lastRunBefore, type Pruned, readPruned } from '../receipts/pruned.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { ListTable } from '../tables/list-table.ts';
import { firstValue } from '../tables/query.ts';
import { stoodAfterRun } from '../tables/record-lives.ts';
import { recordHistory, syncRunResources } from '../tables/schema.ts';
import { prepare, select, words } from '../tables/statement.ts';
import { changes } from '../tables/view-columns.ts';
import { type Change, selectChanges } from './change.ts';
import { type ChangeCursor, type ChangeKey, isAfter } from './change-cursor.ts';
import { ChangeCursors, type LostCursor } from './change-cursors.ts';
import { type ChangePage, ChangePages } from './change-page.ts';
import { MirrorState } from './mirror-state.ts';
import { findByReference, type RecordStory, type ReferenceMatches, readStory } from './record-story.ts';
import { withId } from './with-id.ts';

export type { Change };

/** Records of a list and the total number of its records, both at one moment. */
export interface RecordPage {
  readonly records: readonly string[];
  readonly totalRecordCount: number;
}

interface ChangeQuery {
  /** Only changes of later runs than this that have ended. */
  readonly sinceRunId: number;
  /** The last run whose changes are read; the newest if left out. */
  readonly untilRunId?: number;
  /** Only changes after this one; all if left out. */
  readonly after?: ChangeKey | null;
  /** One resource, or null for all. */
  readonly resource: string | null;
}

function changesOfRun(runId: number, anyResource: string | null, resource: string | null) {
  const isOf = sql`(${anyResource} is null or ${changes.resource} = ${resource})`;
  return selectChanges().where(and(eq(changes.runId, runId), isOf));
}

function changedWithoutHistory(runId: number) {
  const { runId: of, updated, removed } = syncRunResources;
  const anyVersion = words.select({ id: recordHistory.id }).from(recordHistory);
  return select({ of })
    .from(syncRunResources)
    .where(and(gt(of, runId), sql`${updated} + ${removed} > 0`, notExists(anyVersion)))
    .limit(1);
}

function erasedSince(resource: string, runId: number, sameRunId: number) {
  return select({ count: count() })
    .from(recordHistory)
    .where(and(stoodAfterRun(resource, runId, sameRunId), isNull(recordHistory.record)));
}

/** Reads a mirror; never writes. Each answer is from one state of the file, even if a run writes meanwhile. */
export class MirrorReader implements Disposable {
  readonly endedRuns: EndedRuns;
  readonly #file: MirrorFile;
  readonly #lists: ReadonlyMap<string, { table: ListTable; write: WireWriter }>;
  /** Prepared once, because the view is long, and there can be thousands of runs. */
  #changesOfRun: Database.Statement<Parameters<typeof changesOfRun>, Change> | null = null;
  #changePages: ChangePages | null = null;

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

  /** How far back the history goes. */
  pruned(): Pruned {
    return readPruned(this.#file.sqlite);
  }

  /** The last run before the mirror was rebuilt. Its state up to then can't be read any more. 0 if it never was rebuilt. */
  lastRunBeforeRebuild(): number {
    return lastRunBefore(this.#file.sqlite, 'rebuild');
  }

  /** How many records can't be shown in their state after a run, because their text was erased since. */
  erasedSince(runId: number, resource: string): number {
    return firstValue(this.#file.sqlite, erasedSince, resource, runId, runId) ?? 0;
  }

  /**
   * True if later runs than this changed records, and the versions before that are not in the file. A share can leave its history
   * out.
   */
  lacksHistorySince(runId: number): boolean {
    return firstValue(this.#file.sqlite, changedWithoutHistory, runId) !== undefined;
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

  /** The changes of later runs, run by run, one at a time: even if they are many, they take no memory. */
  *changes({ sinceRunId, untilRunId, after = null, resource }: ChangeQuery): Generator<Change> {
    for (const runId of this.endedRuns.since(sinceRunId)) {
      if (runId > (untilRunId ?? runId)) return;
      const changes = this.changesOfRun(runId, resource);
      yield* after === null ? changes : changes.filter(change => isAfter(change, after));
    }
  }

  /** Cursors of this mirror. */
  get cursors(): ChangeCursors {
    return new ChangeCursors(this.#file.sqlite);
  }

  /** At most `limit` changes after a cursor, or after a run, from one state of the file. */
  changePage(
    from: ChangeCursor | Pick<ChangeCursor, 'runId' | 'after'>,
    limit: number,
  ): ChangePage | LostCursor {
    this.#changePages ??= new ChangePages(this.#file.sqlite);
    const pages = this.#changePages;
    return this.#file.sqlite.transaction(
      () => ('mirrorId' in from ? this.cursors.loss(from) : null) ?? pages.read(from, limit),
    )();
  }

  /** The changes of one run: of one resource or, for null, of all. */
  *changesOfRun(runId: number, resource: string | null): Generator<Change> {
    this.#changesOfRun ??= prepare(this.#file.sqlite, changesOfRun);
    yield* this.#changesOfRun.iterate(runId, resource, resource);
  }

  /** The mirror in its state after a run or, for null, in its present state. */
  state(asOfRunId: number | null): MirrorState {
    return new MirrorState(this.#file.sqlite, asOfRunId);
  }

  #tableOf(list: ListDefinition): { table: ListTable; write: WireWriter } {
    const found = this.#lists.get(list.resource);
    if (found === undefined) throw new TypeError(`The mirror has no list ${list.resource}.`);
    return found;
  }
}
