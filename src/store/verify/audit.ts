import type Database from 'better-sqlite3';
import type { TimeSlice } from '../../time-slice.ts';

/** Something in the mirror that is not as docmirror wrote it. */
export interface Difference {
  /** Null if the file itself is damaged. */
  readonly table: string | null;
  /** Null if it is not one row. */
  readonly id: number | null;
  readonly what: string;
  readonly severity: 'content' | 'record of runs' | 'shortcut';
}

type Severity = Difference['severity'];

/** Reports a difference. If the severity is left out, it is that of the table. */
export type Report = (table: string | null, id: number | null, what: string, severity?: Severity) => void;

const ofRuns =
  /^(sync_(runs|run_resources|receipts)|rejected_records|_mirror|__drizzle_migrations|docmirror_upgrades|sqlite_sequence)$/;

/** How bad a difference in a table is. */
export function severityOf(table: string | null): Severity {
  if (table === '_list_states') return 'shortcut';
  return ofRuns.test(table ?? '') ? 'record of runs' : 'content';
}

/** The data that all checks of one mirror share. */
export interface Audit {
  readonly sqlite: Database.Database;
  readonly report: Report;
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
