import type Database from 'better-sqlite3';
import { and, eq, getTableColumns, gt, lte } from 'drizzle-orm';
import { recordHistory } from './schema.ts';
import { hexOf, prepare, type RowOf, select } from './statement.ts';

const { content, ...columns } = getTableColumns(recordHistory);

/** All fields of a version that ended, the content as 32 hexadecimal digits. The record is null if it was erased. */
const versionFields = { ...columns, content: hexOf(content) };

/** Begins a SELECT of versions. */
export function selectVersions() {
  return select(versionFields).from(recordHistory);
}

/** A stored version of a record that ended. */
export type StoredVersion = Readonly<RowOf<ReturnType<typeof selectVersions>>>;

/** All versions of one record: those that ended, the oldest first, and its row if it is still listed. */
export interface RecordLife<Row> {
  readonly recordId: number;
  readonly versions: readonly StoredVersion[];
  readonly row: Row | null;
}

const inOrder = [recordHistory.recordId, recordHistory.validFromRunId, recordHistory.id];

/** The versions of one resource in the order of their records, each record's oldest first. */
export function storedVersions(sqlite: Database.Database, resource: string): IterableIterator<StoredVersion> {
  return prepare(sqlite, (of: string) =>
    selectVersions()
      .where(eq(recordHistory.resource, of))
      .orderBy(...inOrder),
  ).iterate(resource);
}

/** A condition: a version of a resource was current after a run; the run must be given twice. */
export function stoodAfterRun(resource: string, runId: number, sameRunId: number) {
  const { validFromRunId, validToRunId } = recordHistory;
  return and(eq(recordHistory.resource, resource), lte(validFromRunId, runId), gt(validToRunId, sameRunId));
}

/** The versions of one resource that ended and were current after a run, in the order of their records. */
export function versionsAfterRun(
  sqlite: Database.Database,
  resource: string,
  runId: number,
): IterableIterator<StoredVersion> {
  return prepare(sqlite, (of: string, run: number, sameRun: number) =>
    selectVersions()
      .where(stoodAfterRun(of, run, sameRun))
      .orderBy(...inOrder),
  ).iterate(resource, runId, runId);
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
    // An unfinished statement would keep its connection from being closed.
    pasts.return(undefined);
  }
}

/** The ended versions of each record. */
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
