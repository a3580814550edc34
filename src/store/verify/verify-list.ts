import type Database from 'better-sqlite3';
import { FingerprintSum } from '../../contract/fingerprint.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { identifier } from '../../contract/record.ts';
import type { Turns } from '../file/turns.ts';
import { type RecordLife, recordLives, storedVersions } from '../read/record-lives.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { ContentSum, connectionFingerprint, versionFingerprint } from '../tables/content-sums.ts';
import { ListTable, type StoredRow } from '../tables/list-table.ts';
import type { Differences } from './differences.ts';
import { RunCounts } from './run-counts.ts';
import { LifeCheck, type LivingRow } from './verify-life.ts';

/** What the checks of one mirror share. */
export interface Audit {
  readonly sqlite: Database.Database;
  readonly differences: Differences;
  readonly runIds: ReadonlySet<number>;
  readonly turns: Turns;
}

/** What was found of one list. */
export interface VerifiedList {
  readonly resource: string;
  readonly recordCount: number;
  readonly versionCount: number;
  /** The last run that wrote the list; null where none has. */
  readonly runId: number | null;
  /** 32 hexadecimal digits, recomputed from what the rows' columns hold. */
  readonly digest: string;
}

/** Checks one list: each row, its past, and all rows together against the record of the last run that wrote them. */
export async function verifyList(audit: Audit, list: ListDefinition): Promise<VerifiedList> {
  const { sqlite, differences } = audit;
  const check = new RowCheck(list, differences);
  const counts = new RunCounts(sqlite, list.resource);
  const rows = new ListTable(sqlite, list).rows();
  const versionCount = await checkLives(audit, list.resource, list.table, rows, life => {
    if (life.row !== null) check.add(life.row);
    counts.add(life);
  });
  const written = lastWritten(sqlite, list.resource);
  compareWithRun(differences, list, check, written);
  for (const { runId, what } of counts.differences()) differences.add('sync_run_resources', runId, what);
  const { recordCount, digest } = check;
  return { resource: list.resource, recordCount, versionCount, runId: written?.runId ?? null, digest };
}

/** Checks the connections: each row, its past, and all rows together against the sum that is kept of them. */
export async function verifyConnections(
  audit: Audit,
): Promise<{ recordCount: number; versionCount: number }> {
  const { sqlite, differences } = audit;
  const sum = new FingerprintSum();
  let recordCount = 0;
  const rows = new ConnectionTable(sqlite).rows();
  const versionCount = await checkLives(audit, 'connections', 'connections', rows, ({ row }) => {
    if (row === null) return;
    recordCount++;
    const fingerprint = connectionFingerprint(row);
    sum.add(fingerprint);
    if (row.fingerprint === null || !fingerprint.equals(row.fingerprint)) {
      differences.add('connections', row.id, 'the row was changed after docmirror wrote it');
    }
  });
  const kept = new ContentSum(sqlite, 'connections', 'connections').stored();
  compareSums(differences, 'connections', '', { recordCount, digest: sum.toString() }, kept);
  return { recordCount, versionCount };
}

/** Goes through the records of one resource, living and ended, and returns how many ended versions there are. */
async function checkLives<Row extends LivingRow>(
  { sqlite, differences, runIds, turns }: Audit,
  resource: string,
  table: string,
  rows: Iterable<Row>,
  eachLife: (life: RecordLife<Row>) => void,
): Promise<number> {
  const lifeCheck = new LifeCheck(table, runIds, differences);
  const sum = new FingerprintSum();
  let recordCount = 0;
  for (const life of recordLives(rows, storedVersions(sqlite, resource))) {
    lifeCheck.check(life);
    for (const version of life.versions) sum.add(versionFingerprint(version));
    recordCount += life.versions.length;
    eachLife(life);
    if (turns.isOver) await turns.next();
  }
  const kept = new ContentSum(sqlite, 'record_history', resource).stored();
  const found = { recordCount, digest: sum.toString() };
  compareSums(differences, 'record_history', ` of ${resource}`, found, kept);
  return recordCount;
}

/** Recomputes each row's fingerprint and key from its columns, and sums the fingerprints up. */
class RowCheck {
  recordCount = 0;
  readonly #sum = new FingerprintSum();
  readonly #table: string;
  readonly #identify: ReturnType<typeof identifier>;
  readonly #differences: Differences;

  constructor(list: ListDefinition, differences: Differences) {
    this.#table = list.table;
    this.#identify = identifier(list);
    this.#differences = differences;
  }

  get digest(): string {
    return this.#sum.toString();
  }

  add(row: StoredRow): void {
    const { id, scalars, arrays, extra } = row.record;
    const { key, fingerprint } = this.#identify(id, scalars, arrays, extra);
    this.recordCount++;
    this.#sum.add(fingerprint);
    if (!fingerprint.equals(row.fingerprint)) {
      this.#differences.add(
        this.#table,
        row.id,
        'a value was changed after docmirror wrote it: the columns and _fingerprint disagree',
      );
    }
    if (key !== null && (row.key === null || !key.equals(row.key))) {
      this.#differences.add(this.#table, row.id, 'the columns and _key disagree');
    }
  }
}

interface WrittenList {
  readonly runId: number;
  readonly recordCount: number;
  readonly digest: string;
}

function lastWritten(sqlite: Database.Database, resource: string): WrittenList | undefined {
  return sqlite
    .prepare<[string], WrittenList>(
      `SELECT run_id AS runId, record_count AS recordCount, digest FROM sync_run_resources
       WHERE resource = ? AND digest IS NOT NULL ORDER BY run_id DESC LIMIT 1`,
    )
    .get(resource);
}

function compareWithRun(
  differences: Differences,
  { table, resource }: ListDefinition,
  { recordCount, digest }: RowCheck,
  written: WrittenList | undefined,
): void {
  if (written === undefined) {
    if (recordCount > 0)
      differences.add(table, null, `${recordCount} rows, but no run has recorded any ${resource}`);
    return;
  }
  const { runId } = written;
  if (recordCount !== written.recordCount) {
    differences.add(table, null, `${recordCount} rows, but run ${runId} recorded ${written.recordCount}`);
  }
  if (digest !== written.digest) {
    differences.add(
      table,
      null,
      `the rows' digest is ${digest}, but run ${runId} recorded ${written.digest}`,
    );
  }
}

function compareSums(
  differences: Differences,
  table: string,
  ofWhat: string,
  found: { recordCount: number; digest: string },
  kept: { recordCount: number; digest: string },
): void {
  if (found.recordCount !== kept.recordCount) {
    const words = `${found.recordCount} rows${ofWhat}, but docmirror wrote ${kept.recordCount}`;
    differences.add(table, null, words);
  }
  if (found.digest !== kept.digest) {
    const words = `the digest of the rows${ofWhat} is ${found.digest}, but docmirror wrote ${kept.digest}`;
    differences.add(table, null, words);
  }
}
