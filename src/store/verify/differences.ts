import type Database from 'better-sqlite3';
import type { TimeSlice } from '../../time-slice.ts';

/**
 * How bad a difference is: in the present or earlier content of records (`content`), in what runs recorded about themselves
 * (`record of runs`), or in something that only saves work (`shortcut`).
 */
type Severity = 'content' | 'record of runs' | 'shortcut';

const severities: Readonly<Record<string, Severity>> = {
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

/** Something in the mirror that is not as docmirror wrote it. */
export interface Difference {
  /** The table with the difference; null if the file itself is damaged. */
  readonly table: string | null;
  /** The row's id; null if the difference is not in a single row, or the row is gone. */
  readonly id: number | null;
  readonly what: string;
  readonly severity: Severity;
}

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
