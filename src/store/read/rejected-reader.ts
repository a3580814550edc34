import { count, desc, getTableColumns, max, min } from 'drizzle-orm';
import { lists } from '../../contract/lists.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { rejectedRecords } from '../tables/schema.ts';

/** The reason why records of a list were rejected, and how many were. */
export interface RejectionCount {
  readonly resource: string;
  readonly reason: string;
  readonly count: number;
  /** The first run that rejected one of them. */
  readonly firstRunId: number;
  readonly lastRunId: number;
  /** True if the newest run that wrote the list still rejected them. False if the service no longer sends them, or has corrected them. */
  readonly isCurrent: boolean;
}

/** A rejected record as it is stored. */
export interface RejectedRecord {
  readonly id: number;
  readonly resource: string;
  readonly runId: number;
  readonly lastRunId: number;
  readonly pageNo: number;
  readonly position: number;
  readonly reason: string;
  /** JSON; null if it was erased, and in a share. */
  readonly record: string | null;
}

/** Reads the records that runs rejected. */
export class RejectedReader implements Disposable {
  readonly #file: MirrorFile;

  /** @throws MirrorFileError if there is no mirror, or it can't be read. */
  constructor(path: string) {
    this.#file = openForReading(path);
    this.#file.sqlite.exec('BEGIN');
  }

  /** How many records were rejected for each reason. Reasons that still apply come first. */
  counts(): RejectionCount[] {
    const { resource, reason, runId, lastRunId } = rejectedRecords;
    const [firstRunId, newest] = [min(runId).mapWith(Number), max(lastRunId).mapWith(Number)];
    const rows = this.#file.orm
      .select({ resource, reason, count: count(), firstRunId, lastRunId: newest })
      .from(rejectedRecords)
      .groupBy(resource, reason, lastRunId)
      .all();
    const current = this.#currentRuns();
    const marked = rows.map(row => ({ ...row, isCurrent: row.lastRunId === current.get(row.resource) }));
    const groups = Map.groupBy(marked, row => JSON.stringify([row.resource, row.reason, row.isCurrent]));
    return [...groups.values()].map(summed).sort(byRelevance);
  }

  /** The records that were rejected last, by their run and then in their order; at most `limit`. */
  records(limit: number): RejectedRecord[] {
    const { content: _, ...columns } = getTableColumns(rejectedRecords);
    const { lastRunId, id } = rejectedRecords;
    return this.#file.orm
      .select(columns)
      .from(rejectedRecords)
      .orderBy(desc(lastRunId), id)
      .limit(limit)
      .all();
  }

  /** The newest run that wrote each list. */
  #currentRuns(): Map<string, number | null> {
    const runs = new EndedRuns(this.#file.sqlite);
    const newest = runs.newest() ?? 0;
    return new Map(lists.map(({ resource }) => [resource, runs.list(newest, resource).writtenByRunId]));
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}

function summed(rows: readonly RejectionCount[]): RejectionCount {
  const [first] = rows as readonly [RejectionCount];
  return {
    ...first,
    count: rows.reduce((sum, row) => sum + row.count, 0),
    firstRunId: Math.min(...rows.map(row => row.firstRunId)),
    lastRunId: Math.max(...rows.map(row => row.lastRunId)),
  };
}

function byRelevance(a: RejectionCount, b: RejectionCount): number {
  return Number(b.isCurrent) - Number(a.isCurrent) || b.lastRunId - a.lastRunId || b.count - a.count;
}
