import type Database from 'better-sqlite3';

/** A row of `unknown_fields`, without its list. */
export interface SeenField {
  readonly field: string;
  readonly jsonType: string;
  readonly firstSeenRunId: number;
  readonly lastSeenRunId: number;
  /** Null if no full sync has met it yet. */
  readonly recordCount: number | null;
}

/** The fields of a list that the service sends and no column exists for; not those that the last full sync met no more. */
export function readUnknownFields(sqlite: Database.Database, resource: string): SeenField[] {
  return sqlite
    .prepare<[string], SeenField>(
      `SELECT field, json_type AS jsonType, first_seen_run_id AS firstSeenRunId, last_seen_run_id AS lastSeenRunId,
         record_count AS recordCount
       FROM unknown_fields WHERE resource = ? AND record_count IS NOT 0 ORDER BY field, json_type`,
    )
    .all(resource);
}
