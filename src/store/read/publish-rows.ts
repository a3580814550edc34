import type Database from 'better-sqlite3';
import { keptResources, lists, tableOf } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { readWireConnection } from '../../contract/wire.ts';
import { MirrorFileError } from '../../errors.ts';
import type { EndedRun, PublishSource, RowSum, SourceChange, SourceRow } from '../../publish/source.ts';
import { type MirrorFile, openMirrorForReading } from '../file/open.ts';
import { lastRunBefore } from '../receipts/pruned.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { ListTable } from '../tables/list-table.ts';
import { restoredVersions, type StoredVersion, storedVersions } from '../tables/restored-versions.ts';

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
      // Each receipt names the mirror, and the first one is written when its first run ends.
      const mirrorId = file.sqlite
        .prepare<[], string>("SELECT receipt ->> '$.mirrorId' FROM sync_receipts ORDER BY leaf_index LIMIT 1")
        .pluck()
        .get();
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
    // Changes of a run that is not over can't be read yet, nor can those of later runs.
    return this.#sqlite
      .prepare<[], EndedRun>(
        `SELECT id AS runId, started_at AS startedAt FROM sync_runs
         WHERE id < coalesce((SELECT min(id) FROM sync_runs WHERE status = 'running'), 9e18) ORDER BY id`,
      )
      .all();
  }

  rowCountSince(runId: number): number {
    const counts = [
      ...keptResources.map(
        resource => `SELECT count(*) FROM ${tableOf(resource)} WHERE _changed_run_id > @runId`,
      ),
      'SELECT count(*) FROM record_history WHERE valid_to_run_id > @runId',
    ];
    const sum = `SELECT ${counts.map(count => `(${count})`).join(' + ')}`;
    return this.#sqlite.prepare<object, number>(sum).pluck().get({ runId }) ?? 0;
  }

  *rows(resource: string, runId: number): Generator<SourceRow> {
    yield* this.#ended(
      resource,
      this.#versions("valid_to_run_id = ? AND ended_by = 'removal'", resource, runId),
      true,
    );
    yield* this.#ended(resource, this.#versions('valid_from_run_id = ?', resource, runId), false);
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
    this.#changesOfRun ??= this.#sqlite.prepare(
      `SELECT run_id AS runId, changed_at AS changedAt, resource, record_id AS recordId, operation, record
       FROM changes WHERE run_id = ?`,
    );
    yield* this.#changesOfRun.iterate(runId);
  }

  /**
   * As the run recorded it. Without a record, which is so for connections and for runs of docmirror 0.1, it is added up from the
   * rows.
   */
  sumAfter(resource: string, runId: number): RowSum {
    const recorded = this.#sqlite
      .prepare<[string, number], RowSum>(
        `SELECT record_count AS recordCount, checksum AS contentSum FROM sync_run_resources
         WHERE resource = ? AND run_id <= ? AND checksum IS NOT NULL ORDER BY run_id DESC LIMIT 1`,
      )
      .get(resource, runId);
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
    const rows = `SELECT lower(hex(_content)) FROM ${tableOf(resource)} WHERE _changed_run_id <= ?`;
    yield* this.#sqlite.prepare<[number], string>(rows).pluck().iterate(runId);
    const stood = 'resource = ? AND valid_from_run_id <= ? AND valid_to_run_id > ?';
    for (const { content } of storedVersions(this.#sqlite, stood, resource, runId, runId)) yield content;
  }

  #versions(condition: string, resource: string, runId: number): IterableIterator<StoredVersion> {
    return storedVersions(this.#sqlite, `resource = ? AND ${condition}`, resource, runId);
  }
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
