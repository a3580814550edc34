import type Database from 'better-sqlite3';
import { and, count, desc, eq, gt, isNotNull, lt, lte, min, sql } from 'drizzle-orm';
import { keptResources, lists } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { readWireConnection } from '../../contract/wire.ts';
import { MirrorFileError } from '../../errors.ts';
import type { EndedRun, PublishSource, RowSum, SourceChange, SourceRow } from '../../publish/source.ts';
import { type MirrorFile, openMirrorForReading } from '../file/open.ts';
import { lastRunBefore } from '../receipts/pruned.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { ListTable } from '../tables/list-table.ts';
import { firstValue } from '../tables/query.ts';
import { type StoredVersion, selectVersions, versionsAfterRun } from '../tables/record-lives.ts';
import { restoredVersions } from '../tables/restored-versions.ts';
import { rowsTable } from '../tables/rows-table.ts';
import { recordHistory, syncReceipts, syncRunResources, syncRuns } from '../tables/schema.ts';
import { hexOf, prepare, prepareValue, select, words } from '../tables/statement.ts';
import { changes } from '../tables/view-columns.ts';

// Changes of a run that is not over can't be read yet, nor can those of later runs.
function endedRuns() {
  const { id, startedAt, status } = syncRuns;
  const underWay = words
    .select({ id: min(id) })
    .from(syncRuns)
    .where(eq(status, 'running'));
  return select({ runId: id, startedAt })
    .from(syncRuns)
    .where(lt(id, sql`coalesce((${underWay}), 9e18)`))
    .orderBy(id);
}

function changesOfRun(run: number) {
  const { runId, changedAt, resource, recordId, operation, record } = changes;
  return select({ runId, changedAt, resource, recordId, operation, record })
    .from(changes)
    .where(eq(runId, run));
}

function recordedSum(list: string, runId: number) {
  const { resource, recordCount, checksum, runId: of } = syncRunResources;
  return select({ recordCount: sql<number>`${recordCount}`, contentSum: sql<string>`${checksum}` })
    .from(syncRunResources)
    .where(and(eq(resource, list), lte(of, runId), isNotNull(checksum)))
    .orderBy(desc(of))
    .limit(1);
}

// Each receipt names the mirror, and the first one is written when its first run ends.
function mirrorIdOfReceipts() {
  return select({ id: sql<string>`${syncReceipts.receipt} ->> '$.mirrorId'` })
    .from(syncReceipts)
    .orderBy(syncReceipts.leafIndex)
    .limit(1);
}

/** A mirror's rows and changes run by run, from one state of the file, for a publication. */
export class PublishRows implements PublishSource {
  readonly mirrorId: string;
  readonly lastRunBeforeRebuild: number;
  readonly #file: MirrorFile;
  /** Prepared once, because the view is long, and there can be thousands of runs. */
  #changesOfRun: Database.Statement<[number], SourceChange> | null = null;

  /** @throws MirrorFileError if there is no mirror, it can't be read, or none of its runs has ended. */
  static open(path: string): PublishRows {
    const file = openMirrorForReading(path);
    try {
      file.sqlite.exec('BEGIN');
      const mirrorId = firstValue(file.sqlite, mirrorIdOfReceipts);
      if (mirrorId !== undefined) return new PublishRows(file, mirrorId);
      throw new MirrorFileError(`No run of ${path} has ended yet. Make one with "docmirror sync".`);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  private constructor(file: MirrorFile, mirrorId: string) {
    this.#file = file;
    this.mirrorId = mirrorId;
    this.lastRunBeforeRebuild = lastRunBefore(file.sqlite, 'rebuild');
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  runs(): EndedRun[] {
    return prepare(this.#sqlite, endedRuns).all();
  }

  rowCountSince(runId: number): number {
    const rows = keptResources.map(
      resource => [rowsTable(resource), rowsTable(resource).changedRunId] as const,
    );
    return [...rows, [recordHistory, recordHistory.validToRunId] as const]
      .map(([table, column]) => {
        const since = (run: number) => select({ count: count() }).from(table).where(gt(column, run));
        return firstValue(this.#sqlite, since, runId) ?? 0;
      })
      .reduce((sum, each) => sum + each);
  }

  *rows(resource: string, runId: number): Generator<SourceRow> {
    yield* this.#ended(resource, this.#versions(removedInRun, resource, runId), true);
    yield* this.#ended(resource, this.#versions(begunInRun, resource, runId), false);
    const list = lists.find(each => each.resource === resource);
    if (list === undefined) {
      for (const row of new ConnectionTable(this.#sqlite).writtenBy(runId)) {
        const { id, name, extra, firstSeenRunId, changedRunId } = row;
        const content = row.content?.toString('hex') ?? '';
        yield { id, values: [name], firstSeenRunId, changedRunId, extra, content, isRemoved: false };
      }
      return;
    }
    for (const { record, ...row } of new ListTable(this.#sqlite, list).writtenBy(runId))
      yield { ...row, values: [...record.scalars, ...record.arrays], extra: record.extra, isRemoved: false };
  }

  *changes(runId: number): Generator<SourceChange> {
    this.#changesOfRun ??= prepare(this.#sqlite, changesOfRun);
    yield* this.#changesOfRun.iterate(runId);
  }

  /**
   * As the run recorded it. Without a record, which is so for connections and for runs of docmirror 0.1, it is added up from the
   * rows.
   */
  sumAfter(resource: string, runId: number): RowSum {
    const recorded = prepare(this.#sqlite, recordedSum).get(resource, runId);
    return recorded ?? sumOf(this.#contentsAfter(resource, runId));
  }

  get #sqlite(): Database.Database {
    return this.#file.sqlite;
  }

  *#ended(resource: string, versions: Iterable<StoredVersion>, isRemoved: boolean): Generator<SourceRow> {
    for (const [version, { values, extra }] of restored(resource, versions)) {
      const { recordId, firstSeenRunId, validFromRunId, content } = version;
      yield { id: recordId, values, firstSeenRunId, changedRunId: validFromRunId, extra, content, isRemoved };
    }
  }

  *#contentsAfter(resource: string, runId: number): Generator<string> {
    const table = rowsTable(resource);
    const rows = (run: number) =>
      select({ content: hexOf(table.content) })
        .from(table)
        .where(lte(table.changedRunId, run));
    yield* prepareValue(this.#sqlite, rows).iterate(runId);
    for (const { content } of versionsAfterRun(this.#sqlite, resource, runId)) yield content;
  }

  #versions(condition: typeof begunInRun, resource: string, runId: number): IterableIterator<StoredVersion> {
    return prepare(this.#sqlite, (of: string, run: number) =>
      selectVersions()
        .where(and(eq(recordHistory.resource, of), condition(run)))
        .orderBy(recordHistory.id),
    ).iterate(resource, runId);
  }
}

function begunInRun(runId: number) {
  return and(eq(recordHistory.validFromRunId, runId));
}

function removedInRun(runId: number) {
  return and(eq(recordHistory.validToRunId, runId), eq(recordHistory.endedBy, 'removal'));
}

type RestoredValues = Pick<SourceRow, 'values' | 'extra'>;

/** Converts ended versions back into the columns that they were written from. */
function* restored(
  resource: string,
  versions: Iterable<StoredVersion>,
): Generator<[StoredVersion, RestoredValues]> {
  const list = lists.find(each => each.resource === resource);
  if (list === undefined) {
    for (const version of versions) {
      const { record } = version;
      const { name, extra } = record === null ? { name: null, extra: null } : readWireConnection(record);
      yield [version, { values: [name], extra }];
    }
    return;
  }
  for (const { version, record } of restoredVersions(list, versions)) {
    yield [version, { values: [...record.scalars, ...record.arrays], extra: record.extra }];
  }
}

function sumOf(contents: Iterable<string>): RowSum {
  const sum = new Sum();
  for (const content of contents) sum.addHex(content);
  return { recordCount: sum.count, contentSum: sum.toString() };
}
