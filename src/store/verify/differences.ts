import type Database from 'better-sqlite3';
import type { Difference } from '../../contract/results.ts';
import type { TimeSlice } from '../../time-slice.ts';

const severities: Readonly<Record<string, Difference['severity']>> = {
  sync_runs: 'record of runs',
  sync_run_resources: 'record of runs',
  sync_receipts: 'record of runs',
  rejected_records: 'record of runs',
  _mirror: 'record of runs',
  __drizzle_migrations: 'record of runs',
  docmirror_upgrades: 'record of runs',
  sqlite_sequence: 'record of runs',
  _pages: 'shortcut',
  _list_states: 'shortcut',
};

/** A list of differences: all are counted, and the first ones are kept. */
export class Differences {
  /** At most as many as are listed. */
  readonly kept: Difference[] = [];
  count = 0;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param severity if it is left out, that of the table. */
  add(
    table: string | null,
    id: number | null,
    what: string,
    severity = severities[table ?? ''] ?? 'content',
  ): void {
    this.count++;
    if (this.kept.length < this.#limit) this.kept.push({ table, id, what, severity });
  }
}

/** The data that all checks of one mirror share. */
export interface Audit {
  readonly sqlite: Database.Database;
  readonly differences: Differences;
  readonly slice: TimeSlice;
  /** One, unless somebody changed the table. */
  readonly mirrorIds: readonly string[];
  /** The last run whose ended versions were deleted; 0 if none were. */
  readonly prunedThrough: number;
  /** The last run before the newest rebuild or upgrade; 0 if there was none. What they accepted has other sums. */
  readonly acceptedThrough: number;
  /** The last run whose changes rows and history no longer have, because of one of these; 0 if they have all. */
  readonly knownAfter: number;
}
