import type Database from 'better-sqlite3';
import { and, eq, gt, lte, max, min, ne, or, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { firstValue } from './query.ts';
import { syncRunResources, syncRuns } from './schema.ts';
import { prepareValue, select, words } from './statement.ts';
import { wroteList } from './written-lists.ts';

/** How a run dealt with one list; `status` is null if the run left the list alone. */
export interface ListInRun {
  readonly status: string | null;
  /** The last run up to this one that wrote the list; null if there is none. */
  readonly writtenByRunId: number | null;
}

const { id, status, startedAt, completedAt } = syncRuns;
const hasEnded = ne(status, 'running');
const next = alias(syncRuns, 'next');
const startOfNext = words
  .select({ startedAt: next.startedAt })
  .from(next)
  .where(gt(next.id, id))
  .orderBy(next.id)
  .limit(1);
// A run whose process died has no end of its own: it counts as ended when the next run began.
const endOfRun = sql<string>`coalesce(${completedAt}, (${startOfNext}), ${startedAt})`;

/** Finds runs by number and by time. Only ended runs count, because the result of any other run is not known yet. */
export class EndedRuns {
  readonly #sqlite: Database.Database;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
  }

  /** The newest run; null if there is none. */
  newest(): number | null {
    const newest = () =>
      select({ id: max(id) })
        .from(syncRuns)
        .where(hasEnded);
    return firstValue(this.#sqlite, newest) ?? null;
  }

  has(runId: number): boolean {
    const ended = (run: number) =>
      select({ id })
        .from(syncRuns)
        .where(and(eq(id, run), hasEnded));
    return firstValue(this.#sqlite, ended, runId) !== undefined;
  }

  /** The newest run that had ended by then; null if there is none. */
  newestBy(instant: string): number | null {
    const newest = (by: string) =>
      select({ id: max(id) })
        .from(syncRuns)
        .where(and(hasEnded, lte(endOfRun, by)));
    return firstValue(this.#sqlite, newest, instant) ?? null;
  }

  /**
   * The last run up to which all runs had ended by an instant; 0 if there is none. If a wrong clock gave a run too early a time,
   * that does not count for the runs before it.
   */
  lastOfAllBy(instant: string): number {
    const later = (by: string) =>
      select({ id: min(id) })
        .from(syncRuns)
        .where(or(eq(status, 'running'), gt(endOfRun, by)));
    const first = firstValue(this.#sqlite, later, instant) ?? null;
    return first === null ? (this.newest() ?? 0) : first - 1;
  }

  /** The runs after this one, the oldest first. */
  since(runId: number): number[] {
    return prepareValue(this.#sqlite, (after: number) =>
      select({ id })
        .from(syncRuns)
        .where(and(gt(id, after), hasEnded))
        .orderBy(id),
    ).all(runId);
  }

  endOf(runId: number): string | null {
    const end = (run: number) => select({ end: endOfRun }).from(syncRuns).where(eq(id, run));
    return firstValue(this.#sqlite, end, runId) ?? null;
  }

  /** How a run dealt with a list. */
  list(runId: number, resource: string): ListInRun {
    const of = syncRunResources;
    const ofRun = (run: number, list: string) =>
      select({ status: of.status })
        .from(of)
        .where(and(eq(of.runId, run), eq(of.resource, list)));
    const written = (run: number, list: string) =>
      select({ runId: max(of.runId) })
        .from(of)
        .where(and(lte(of.runId, run), eq(of.resource, list), wroteList));
    return {
      status: firstValue(this.#sqlite, ofRun, runId, resource) ?? null,
      writtenByRunId: firstValue(this.#sqlite, written, runId, resource) ?? null,
    };
  }
}
