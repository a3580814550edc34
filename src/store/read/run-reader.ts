import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { and, desc, eq, gte, ne, type SQL } from 'drizzle-orm';
import type { Checkpoint } from '../../audit/checkpoint.ts';
import { lists, resourceNames } from '../../contract/lists.ts';
import { isHeld } from '../file/lock-file.ts';
import { openForReading } from '../file/open.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { wroteListSql } from '../tables/ended-runs.ts';
import { ignoredNames } from '../tables/ignored-fields.ts';
import type { RecordedList, RecordedRun } from '../tables/run.ts';
import { type rejectedRecords, syncRunResources, syncRuns, type unknownFields } from '../tables/schema.ts';

/** The state of one list of the mirror. */
export type ListStatus = ReturnType<RunReader['status']>[number];

/** Reads the states of the lists of a mirror, and its runs. It loads little of the program, so it starts at once. */
export class RunReader implements Disposable {
  readonly #file;
  readonly #died;

  /** @throws MirrorFileError if there is no mirror, or it can't be read. */
  constructor(path: string) {
    this.#file = openForReading(path);
    this.#died = diedRun(this.#file.sqlite);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** The newest runs, the newest first. The status of one whose process is gone is `died`. */
  runs(limit: number): RecordedRun[] {
    const { orm } = this.#file;
    const runs = orm.select().from(syncRuns).orderBy(desc(syncRuns.id)).limit(limit).all();
    // No list of their ids, because SQLite accepts only a limited number of parameters.
    const sinceOldest = gte(syncRunResources.runId, runs.at(-1)?.id ?? 0);
    const resources = orm.select().from(syncRunResources).where(sinceOldest).all();
    return runs.map(({ id: runId, labels, ...run }) => ({
      ...this.#said<Omit<RecordedRun, 'resources'>>({
        runId,
        ...run,
        labels: labels === null ? {} : JSON.parse(labels),
      }),
      resources: resourceNames.flatMap(name =>
        resources.filter(row => row.runId === runId && row.resource === name).map(row => this.#listOf(row)),
      ),
    }));
  }

  /** The state of each list, in the order of their definition; null for what no run has done yet. */
  status() {
    const { sqlite, orm } = this.#file;
    const isCompleted = eq(syncRunResources.status, 'completed');
    const isFull = and(isCompleted, eq(syncRunResources.mode, 'full'));
    const states = () =>
      lists.map(({ resource, table }) => {
        /** The newest run that worked on the list, however it ended. */
        const last = this.#newest(resource);
        const [done, full] = [this.#newest(resource, isCompleted), this.#newest(resource, isFull)];
        const ofRun = eq(syncRuns.id, last?.runId ?? 0);
        const baseUrl = orm.select().from(syncRuns).where(ofRun).get()?.baseUrl ?? '';
        return {
          resource,
          recordCount: sqlite.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0,
          lastRun: last && { ...last, baseUrl },
          lastEnded: this.#newest(resource, ne(syncRunResources.status, 'running')),
          lastCompletedAt: done?.completedAt ?? null,
          /** Since when its last completed run is true, and its last completed full sync. */
          readSince: done?.readSince ?? done?.completedAt ?? null,
          lastFullAt: full?.readSince ?? full?.completedAt ?? null,
          /** Fields that no column exists for, without those that the last full sync no longer saw. */
          unknownFields: sqlite
            .prepare<[string], SeenField>(seenFields)
            .all(resource) as readonly SeenField[],
        };
      });
    return sqlite.transaction(states)();
  }

  /** The newest run of a list for which a condition is true. */
  #newest(resource: string, condition?: SQL): RecordedList | null {
    const ofList = and(eq(syncRunResources.resource, resource), condition);
    const rows = this.#file.orm.select().from(syncRunResources).where(ofList);
    const row = rows.orderBy(desc(syncRunResources.runId)).limit(1).get();
    return row === undefined ? null : this.#listOf(row);
  }

  #listOf(row: typeof syncRunResources.$inferSelect): RecordedList {
    return this.#said<RecordedList>({ ...row, ignoredFields: ignoredNames(row.ignoredFields) });
  }

  /** A row as it is reported: its error as one value, and the status of a run whose process is gone. */
  #said<Said>({ errorCode, errorMessage, ...row }: Row): Said {
    const error = errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' };
    const isDead = row.status === 'running' && this.#died !== null && row.runId <= this.#died;
    return { ...row, error, status: isDead ? 'died' : row.status } as unknown as Said;
  }
}

interface Row {
  readonly runId: number;
  readonly status: string;
  readonly labels?: object;
  readonly ignoredFields?: readonly string[];
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

type SeenField = Omit<typeof unknownFields.$inferSelect, 'resource'>;

const seenFields = `SELECT field, json_type AS jsonType, first_seen_run_id AS firstSeenRunId,
    last_seen_run_id AS lastSeenRunId, record_count AS recordCount
  FROM unknown_fields WHERE resource = ? AND record_count IS NOT 0 ORDER BY field, json_type`;

/**
 * The newest run whose process is gone: it is `running` in the table until the next run begins. Null if there is none.
 *
 * A run has the lock for as long as it is `running`. The lock is checked between two looks at the run. If nobody has the lock, and
 * the run is `running` before and after, it died.
 */
function diedRun(sqlite: Database.Database): number | null {
  const newest = sqlite
    .prepare<[], number | null>("SELECT max(id) FROM sync_runs WHERE status = 'running'")
    .pluck();
  const runId = newest.get() ?? null;
  if (runId === null || isHeld(sqlite.name)) return null;
  return newest.get() === runId ? runId : null;
}

type RejectedRow = Omit<typeof rejectedRecords.$inferSelect, 'content'>;
type CountRow = Readonly<
  Record<'resource' | 'reason', string> & Record<'count' | 'firstRunId' | 'lastRunId', number>
>;

/** Why records of a list were rejected, and how many; `isCurrent` is true if the newest run that wrote the list did it, too. */
export type RejectionCount = CountRow & { readonly isCurrent: boolean };

/**
 * How many records were rejected for each reason, those that still apply first; and the records that were rejected last, at most
 * `limit`. A text is null if it was erased, and in a share.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function readRejected(path: string, limit: number) {
  using mirror = openForReading(path);
  const { sqlite } = mirror;
  sqlite.exec('BEGIN');
  const counts = sqlite.prepare<[], CountRow & { readonly isCurrent: number | null }>(
    `SELECT resource, reason, count(*) AS count, min(run_id) AS firstRunId, max(last_run_id) AS lastRunId,
       last_run_id = (SELECT max(l.run_id) FROM sync_run_resources l WHERE l.resource = r.resource AND l.${wroteListSql}) AS isCurrent
     FROM rejected_records r GROUP BY resource, reason, isCurrent
     ORDER BY isCurrent DESC, lastRunId DESC, count(*) DESC`,
  );
  const records = sqlite.prepare<[number], RejectedRow>(
    `SELECT id, resource, run_id AS runId, last_run_id AS lastRunId, page_no AS pageNo, position, reason, record
     FROM rejected_records ORDER BY last_run_id DESC, id LIMIT ?`,
  );
  return {
    counts: counts.all().map((row): RejectionCount => ({ ...row, isCurrent: row.isCurrent === 1 })),
    records: records.all(limit),
  };
}

/**
 * The present checkpoint of the log of a mirror's receipts, unsigned.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function checkpointOf(path: string): Checkpoint {
  using file = openForReading(path);
  return new ReceiptLog(file.sqlite).checkpoint();
}

/**
 * Every receipt of a mirror in order, from one state of it.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function* receiptsOf(path: string) {
  using file = openForReading(path);
  yield* new ReceiptLog(file.sqlite).receipts();
}

/** A number of a list: the name of its metric without `docmirror_list_`, what it is, and its value in SQL. Without one it is 0. */
type ListNumber = readonly [name: string, help: string, sql: string, isUnknownAtFirst?: true];

const newest = (value: string, condition: string) =>
  `(SELECT ${value} FROM l WHERE ${condition} ORDER BY run_id DESC LIMIT 1)`;
const ofLast = (value: string) => newest(value, "status NOT IN ('running', 'interrupted')");
const completed = "status = 'completed'";

/** The numbers of each list that are shown as metrics. The last run is the last one that has ended. */
export const listNumbers: readonly ListNumber[] = [
  [
    'last_completed_timestamp_seconds',
    "Since when the list's last completed run is true, in seconds since 1970.",
    newest("unixepoch(coalesce(read_since, completed_at), 'subsec')", completed),
    true,
  ],
  ['records', 'Records of the list in the mirror.', newest('record_count', 'record_count IS NOT NULL'), true],
  ['last_run_duration_seconds', "How long the list's last run took.", ofLast('coalesce(seconds, 0)'), true],
  [
    'last_run_pages_per_second',
    "Pages that the list's last run read, a second.",
    ofLast('coalesce(page_count, 0) * max(walks, 1) / nullif(seconds, 0)'),
    true,
  ],
  ['last_run_rejected', "Records that the list's last run could not read.", ofLast('rejected')],
  ['last_run_removals_withheld', "Removals that the list's last run withheld.", ofLast('removals_withheld')],
  [
    'last_run_undecided',
    "Known records whose presence the list's last run could not decide.",
    ofLast('undecided'),
  ],
  ['inserted_total', 'Records inserted by all runs.', 'total(inserted)'],
  ['updated_total', 'Records updated by all runs.', 'total(updated)'],
  ['removed_total', 'Records removed by all runs.', 'total(removed)'],
  ['rejected_total', 'Records that could not be read, by all runs.', 'total(rejected)'],
  ['requests_total', 'Requests sent by all runs, retries included.', 'total(requests)'],
  ['retries_total', 'Requests that were sent again, by all runs.', 'total(retries)'],
  ['received_bytes_total', 'Bytes received by all runs.', 'total(bytes)'],
  ['run_seconds_total', 'Time that all runs took for the list.', 'total(seconds)'],
];

/** The numbers of a mirror that are shown as metrics. */
export type MirrorFigures = ReturnType<typeof readFigures>;

/** The numbers before the first run. */
export const figuresBeforeFirstRun: MirrorFigures = {
  runs: [],
  labels: {},
  lists: resourceNames.map(resource => ({
    resource,
    lastCompletedAt: null,
    readSince: null,
    completeness: null,
    unknownFields: 0,
    numbers: [],
  })),
};

/**
 * The numbers of a mirror, from its record of runs, so they stay right when a process is started again.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function readFigures(path: string) {
  using file = openForReading(path);
  const { sqlite } = file;
  const died = diedRun(sqlite) !== null;
  const runs = sqlite.prepare<[], { status: string; trigger: string; count: number }>(
    'SELECT status, "trigger", count(*) AS count FROM sync_runs GROUP BY 1, 2',
  );
  const labels = sqlite
    .prepare<[], string | null>('SELECT labels FROM sync_runs ORDER BY id DESC LIMIT 1')
    .pluck();
  type ListRow = [string | null, string | null, string | null, number, ...(number | null)[]];
  // A run takes 0 seconds if the clock was set back meanwhile.
  const ofList = sqlite
    .prepare<object, ListRow>(
      `WITH l AS (SELECT *, max(0, unixepoch(completed_at, 'subsec') - unixepoch(started_at, 'subsec')) AS seconds
         FROM sync_run_resources WHERE resource = @resource)
       SELECT ${newest('completed_at', completed)}, ${newest('coalesce(read_since, completed_at)', completed)}, ${ofLast('completeness')},
         (SELECT count(DISTINCT field) FROM unknown_fields WHERE resource = @resource AND record_count IS NOT 0),
         ${listNumbers.map(([, , sql]) => sql).join(', ')} FROM l`,
    )
    .raw();
  return sqlite.transaction(() => ({
    runs: runs.all().map(run => (died && run.status === 'running' ? { ...run, status: 'died' } : run)),
    lists: resourceNames.map(resource => {
      const [lastCompletedAt, readSince, completeness, unknownFields, ...numbers] = ofList.get({
        resource,
      }) as ListRow;
      // Each unknown field counts once; the numbers are in the order of `listNumbers`.
      return { resource, lastCompletedAt, readSince, completeness, unknownFields, numbers };
    }),
    labels: JSON.parse(labels.get() ?? '{}') as Readonly<Record<string, string>>,
  }))();
}

/**
 * A short text that changes whenever a run or an erasure has changed the mirror, and only then. A run records every change in its
 * own row or in that of one of its lists, in the same transaction.
 */
export function revisionOf(sqlite: Database.Database): string {
  const newest = sqlite
    .prepare<[]>(
      `SELECT r.id, r.status, r.started_at, r.completed_at, r.base_url,
         (SELECT group_concat(l.resource || ' ' || l.status || ' ' || coalesce(l.checksum, ''), ';')
          FROM sync_run_resources l WHERE l.run_id = r.id) AS lists,
         (SELECT max(leaf_index) FROM sync_receipts) AS receipt
       FROM sync_runs r ORDER BY r.id DESC LIMIT 1`,
    )
    .raw();
  return createHash('sha256')
    .update(JSON.stringify(newest.get() ?? []))
    .digest('base64url')
    .slice(0, 20);
}
