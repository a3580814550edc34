import type Database from 'better-sqlite3';

/** A version of a record that ended, as it is kept. */
export interface StoredVersion {
  /** The row's own id. */
  readonly id: number;
  readonly resource: string;
  readonly recordId: number;
  readonly firstSeenRunId: number;
  readonly validFromRunId: number;
  readonly validToRunId: number;
  readonly endedBy: string;
  /** JSON in the service's shape; null if it was erased. */
  readonly record: string | null;
  /** Of the record, 32 hexadecimal digits. */
  readonly content: string;
}

/** All that is kept of one record: the versions that ended, the oldest first, and the row where it still lives. */
export interface RecordLife<Row> {
  readonly recordId: number;
  readonly versions: readonly StoredVersion[];
  readonly row: Row | null;
}

/** What a `StoredVersion` says, as columns of record_history. */
export const versionColumns = `id, resource, record_id AS recordId, first_seen_run_id AS firstSeenRunId,
  valid_from_run_id AS validFromRunId, valid_to_run_id AS validToRunId, ended_by AS endedBy, record,
  lower(hex(content)) AS content`;

/** The versions of one resource in the order of their records, each record's oldest first. */
export function storedVersions(sqlite: Database.Database, resource: string): IterableIterator<StoredVersion> {
  return sqlite
    .prepare<[string], StoredVersion>(
      `SELECT ${versionColumns} FROM record_history WHERE resource = ?
       ORDER BY record_id, valid_from_run_id, id`,
    )
    .iterate(resource);
}

/** Those versions of one resource that stood after a run, in the order of their records. */
export function versionsAfterRun(
  sqlite: Database.Database,
  resource: string,
  runId: number,
): IterableIterator<StoredVersion> {
  return sqlite
    .prepare<[string, number, number], StoredVersion>(
      `SELECT ${versionColumns} FROM record_history
       WHERE resource = ? AND valid_from_run_id <= ? AND valid_to_run_id > ?
       ORDER BY record_id, valid_from_run_id, id`,
    )
    .iterate(resource, runId, runId);
}

/** Joins rows with their ended versions; both come in the order of their records' ids, so that neither is held in memory. */
export function* recordLives<Row extends { readonly id: number }>(
  rows: Iterable<Row>,
  versions: Iterable<StoredVersion>,
): Generator<RecordLife<Row>> {
  const pasts = pastsOf(versions);
  try {
    let past = pasts.next().value;
    for (const row of rows) {
      for (; past !== undefined && past.recordId < row.id; past = pasts.next().value)
        yield { ...past, row: null };
      const own = past?.recordId === row.id ? past : undefined;
      yield { recordId: row.id, versions: own?.versions ?? [], row };
      if (own !== undefined) past = pasts.next().value;
    }
    for (; past !== undefined; past = pasts.next().value) yield { ...past, row: null };
  } finally {
    // A statement that is left half read would keep its connection from being closed.
    pasts.return(undefined);
  }
}

/** What ended of each record. */
function* pastsOf(versions: Iterable<StoredVersion>): Generator<Omit<RecordLife<never>, 'row'>, undefined> {
  let past: { recordId: number; versions: StoredVersion[] } | undefined;
  for (const version of versions) {
    const { recordId } = version;
    if (past?.recordId === recordId) past.versions.push(version);
    else {
      if (past !== undefined) yield past;
      past = { recordId, versions: [version] };
    }
  }
  if (past !== undefined) yield past;
}
