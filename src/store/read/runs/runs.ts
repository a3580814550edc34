import { isObject } from '../../../contract/json.ts';
import { type ResourceName, resourceNames, tableOf } from '../../../contract/lists.ts';
import { MirrorFileError, tryToRead } from '../../../errors.ts';
import { isHeld } from '../../file/lock-file.ts';
import { openForReading } from '../../file/open.ts';
import { type Acceptance, acceptancesIn, judge, newestComplete } from '../../tables/accepted.ts';
import { allRows, firstRow, firstValue, type Sqlite } from '../../tables/ask.ts';
import { isCompleteSql } from '../../tables/ended-runs.ts';
import { ignoredNames } from '../../tables/ignored-fields.ts';
import { reasonsIn } from '../../tables/reasons.ts';
import {
  columnNamed,
  completenesses,
  judged,
  modes,
  type RecordedList,
  type RecordedRun,
  recordedRun,
  runStatuses,
} from '../../tables/run.ts';
import type { syncRunResources, syncRuns, unknownFields } from '../../tables/schema.ts';
import { unreadableTimes } from '../../tables/unreadable-times.ts';
import { askedLists } from './freshness.ts';

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
    const { sqlite } = this.#file;
    const newest = `SELECT ${runColumns} FROM sync_runs ORDER BY id DESC LIMIT ?`;
    const runs = allRows<RunRow>(sqlite, newest, limit);
    // No list of their ids, because SQLite accepts only a limited number of parameters.
    const sinceOldest = `SELECT ${listColumns} FROM sync_run_resources WHERE run_id >= ?`;
    const lists = allRows<ListRow>(sqlite, sinceOldest, runs.at(-1)?.id ?? 0);
    const ofRun = Map.groupBy(lists, ({ runId }) => runId);
    return runs.map(({ id: runId, errorCode, errorMessage, ...run }) => {
      const endOf = (row: ListRow) => Date.parse(row.completedAt ?? row.startedAt);
      const resources = (ofRun.get(runId) ?? []).map(row => this.#listOf(row, endOf(row)));
      return {
        runId,
        ...run,
        status: this.#statusOf(runId, run.status),
        error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
        labels: labelsIn(run.labels),
        resources: resources.sort((a, b) => placeOf(a.resource) - placeOf(b.resource)),
      };
    });
  }

  /** The state of each list that runs asked for, in the order of their definition; null for what no run has done yet. */
  status() {
    const { sqlite } = this.#file;
    const baseUrlOf = 'SELECT base_url FROM sync_runs WHERE id = ?';
    const nowMs = Date.now();
    const states = () => {
      const accepted = acceptancesIn(sqlite);
      return askedLists(sqlite).map(resource => {
        const last = this.#newest(resource);
        const lastEnded = this.#newest(resource, "status <> 'running'");
        const newest = newestComplete(sqlite, resource, isCompleteSql, nowMs);
        const done = this.#newest(resource, `run_id = ${newest}`);
        const full = this.#newest(resource, `${isCompleteSql} AND mode = 'full'`);
        const baseUrl = firstValue<string>(sqlite, baseUrlOf, last?.runId ?? 0) ?? '';
        return {
          resource,
          recordCount: firstValue<number>(sqlite, `SELECT count(*) FROM ${tableOf(resource)}`) ?? 0,
          lastRun: last && { ...last, baseUrl },
          lastEnded,
          lastCompletedAt: done?.completedAt ?? null,
          readSince: done?.readSince ?? done?.completedAt ?? null,
          acceptances: accepted.filter(({ id }) => lastEnded?.accepted.includes(id)) as readonly Acceptance[],
          lastFullAt: full?.readSince ?? full?.completedAt ?? null,
          unreadableTimes: unreadableTimes(sqlite, resource),
          /** Fields that no column exists for, without those that the last full sync no longer saw. */
          unknownFields: allRows<SeenField>(sqlite, seenFields, resource) as readonly SeenField[],
        };
      });
    };
    return sqlite.transaction(states)();
  }

  #newest(resource: string, condition = 'true'): RecordedList | null {
    const newest = `SELECT ${listColumns} FROM sync_run_resources
      WHERE resource = ? AND ${condition} ORDER BY run_id DESC LIMIT 1`;
    const row = firstRow<ListRow>(this.#file.sqlite, newest, resource);
    return row === undefined ? null : this.#listOf(row, Date.now());
  }

  #listOf(row: ListRow, atMs: number): RecordedList {
    const reasons = reasonsIn(row.reasons);
    return {
      ...row,
      resource: wordOf(resourceNames, row.resource),
      status: this.#statusOf(row.runId, row.status),
      mode: row.mode === null ? null : wordOf(modes, row.mode),
      completeness: row.completeness === null ? null : wordOf(completenesses, row.completeness),
      error: row.error === null ? null : JSON.parse(row.error),
      ignoredFields: ignoredNames(row.ignoredFields),
      reasons,
      ...judge(this.#file.sqlite, { ...row, reasons }, atMs),
    };
  }

  #statusOf(runId: number, status: string) {
    const isDead = status === 'running' && this.#died !== null && runId <= this.#died;
    return isDead ? 'died' : wordOf(runStatuses, status);
  }
}

type RunRow = typeof syncRuns.$inferSelect;
type ListRow = typeof syncRunResources.$inferSelect;

const runColumns = `id, status, "trigger", started_at AS startedAt, completed_at AS completedAt, error_code AS errorCode,
  error_message AS errorMessage, docmirror_version AS docmirrorVersion, base_url AS baseUrl, _actor AS actor, labels`;

/** The columns of a list's row are the members of what is said of it. */
const listColumns = Object.keys(recordedRun.resources.items.properties)
  .filter(member => !Object.hasOwn(judged, member))
  .map(member => `${columnNamed(member)} AS ${member}`)
  .join(', ');

const placeOf = (resource: ResourceName) => resourceNames.indexOf(resource);

function wordOf<const Word extends string>(words: readonly Word[], text: string): Word {
  const word = words.find(each => each === text);
  if (word !== undefined) return word;
  const what = `the word ${JSON.stringify(text)}, which docmirror never wrote there`;
  throw new MirrorFileError(`The record of runs has ${what}. "docmirror verify" shows what else is wrong.`);
}

/** The labels of a run, from their column. */
export function labelsIn(json: string | null | undefined): Readonly<Record<string, string>> {
  const labels: unknown = tryToRead(() => JSON.parse(json ?? '{}'));
  if (isObject(labels))
    return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
  throw new MirrorFileError(
    'sync_runs has labels that docmirror never wrote there: they are no JSON object. "docmirror verify" shows what else is wrong.',
  );
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
export function diedRun(sqlite: Sqlite): number | null {
  const running = "SELECT max(id) FROM sync_runs WHERE status = 'running'";
  const runId = firstValue<number>(sqlite, running);
  if (runId === null || isHeld(sqlite.name)) return null;
  return firstValue(sqlite, running) === runId ? runId : null;
}
