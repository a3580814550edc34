import type Database from 'better-sqlite3';
import { and, desc, eq } from 'drizzle-orm';
import { connectionContent, contentOf } from '../../contract/content.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { normalRecord } from '../../contract/record-content.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';
import type { TimeSlice } from '../../time-slice.ts';
import { ConnectionTable, isExtraAsWritten } from '../tables/connection-table.ts';
import { ListTable, type StoredRow } from '../tables/list-table.ts';
import { tryToRead } from '../tables/readable.ts';
import { type RecordLife, recordLives, storedVersions } from '../tables/record-lives.ts';
import { syncRunResources } from '../tables/schema.ts';
import { prepare, select } from '../tables/statement.ts';
import { wroteList } from '../tables/written-lists.ts';
import type { Differences } from './differences.ts';
import { RunCounts } from './run-counts.ts';
import { LifeCheck, type LivingRow } from './verify-life.ts';

/** Replaces the content hash of a row that can't be read. */
const noContent = Buffer.alloc(contentBytes);
const noContentHex = noContent.toString('hex');

/** The data that all checks of one mirror share. */
export interface Audit {
  readonly sqlite: Database.Database;
  readonly differences: Differences;
  readonly runIds: ReadonlySet<number>;
  /** The last run whose ended versions were deleted; 0 if none were. */
  readonly prunedThrough: number;
  /** The last run whose changes rows and history no longer have, because of a pruning or a rebuild; 0 if they have all. */
  readonly knownAfter: number;
  /** The last run before the newest rebuild or upgrade; 0 if there was none. The checksums of runs up to it are no longer valid. */
  readonly summedAfter: number;
  readonly slice: TimeSlice;
}

/** The result of the check of one list. */
export interface VerifiedList {
  readonly resource: string;
  readonly recordCount: number;
  readonly versionCount: number;
  /** The last run that wrote the list; null if none has. */
  readonly runId: number | null;
  /** 32 hexadecimal digits, recomputed from the values in the rows' columns. */
  readonly checksum: string;
}

/** Checks one list: each row, its past, and all rows together against the record of the last run that wrote them. */
export async function verifyList(
  audit: Audit,
  list: ListDefinition,
): Promise<VerifiedList & { readonly sum: Sum }> {
  const { sqlite, differences } = audit;
  const { resource, table } = list;
  const sum = new Sum();
  const counts = new RunCounts(sqlite, resource);
  const rows = new ListTable(sqlite, list).rows();
  const versionCount = await checkLives(audit, resource, table, rows, life => {
    if (life.row !== null) checkRow(list, life.row, sum, differences);
    counts.add(life);
  });
  const written = lastWritten(sqlite, resource);
  // After a rebuild or an upgrade, its receipt has the state of a list that was not read since.
  if (written === undefined || written.runId > audit.summedAfter)
    compareWithRun(differences, list, sum, written);
  for (const { runId, what } of counts.differences(audit.knownAfter))
    differences.add('sync_run_resources', runId, what);
  const runId = written?.runId ?? null;
  return { resource, recordCount: sum.count, versionCount, runId, checksum: sum.toString(), sum };
}

/** Checks the connections: each row, its past, and all rows together. */
export async function verifyConnections(audit: Audit): Promise<{ sum: Sum; versionCount: number }> {
  const { sqlite, differences } = audit;
  const sum = new Sum();
  const rows = new ConnectionTable(sqlite).rows();
  const versionCount = await checkLives(audit, 'connections', 'connections', rows, ({ row }) => {
    if (row === null) return;
    const read = tryToRead(() => connectionContent(row));
    const content = 'value' in read ? read.value : noContent;
    sum.add(content);
    if (!isExtraAsWritten(row))
      differences.add('connections', row.id, '_extra is not as docmirror writes it');
    if (row.content === null || !content.equals(row.content)) {
      differences.add('connections', row.id, 'the row was changed after docmirror wrote it');
    }
  });
  return { sum, versionCount };
}

/** Checks the records of one resource, existing and ended, and returns how many ended versions there are. */
async function checkLives<Row extends LivingRow>(
  audit: Audit,
  resource: string,
  table: string,
  rows: Iterable<Row>,
  eachLife: (life: RecordLife<Row>) => void,
): Promise<number> {
  const { sqlite, differences, runIds, knownAfter, slice } = audit;
  const lifeCheck = new LifeCheck(table, runIds, differences, knownAfter);
  let versionCount = 0;
  for (const life of recordLives(rows, storedVersions(sqlite, resource))) {
    lifeCheck.check(life);
    versionCount += life.versions.length;
    eachLife(life);
    if (slice.isOver) await slice.next();
  }
  return versionCount;
}

/** Recomputes a row's content from its columns, and adds it to the sum. */
function checkRow(list: ListDefinition, row: StoredRow, sum: Sum, differences: Differences): void {
  const { record } = row;
  const read = tryToRead(() => ({
    content: contentOf(list, record),
    isNormal: normalRecord(list, record) === record,
  }));
  if ('problem' in read) {
    sum.addHex(noContentHex);
    differences.add(list.table, row.id, `_extra can't be read: ${read.problem}`);
    return;
  }
  const { content, isNormal } = read.value;
  sum.addHex(content);
  if (!isNormal) differences.add(list.table, row.id, '_extra is not as docmirror writes it');
  if (content !== row.content) {
    const what = 'a value was changed after docmirror wrote it: the columns and _content disagree';
    differences.add(list.table, row.id, what);
  }
}

interface WrittenList {
  readonly runId: number;
  readonly recordCount: number | null;
  readonly checksum: string | null;
}

function lastWritten(sqlite: Database.Database, resource: string): WrittenList | undefined {
  const { runId, recordCount, checksum, resource: of } = syncRunResources;
  return prepare(sqlite, (list: string) =>
    select({ runId, recordCount, checksum })
      .from(syncRunResources)
      .where(and(eq(of, list), wroteList))
      .orderBy(desc(runId))
      .limit(1),
  ).get(resource);
}

function compareWithRun(
  differences: Differences,
  { table, resource }: ListDefinition,
  sum: Sum,
  written: WrittenList | undefined,
): void {
  if (written === undefined) {
    if (sum.count > 0)
      differences.add(table, null, `${sum.count} rows, but no run has recorded any ${resource}`);
    return;
  }
  const { runId, recordCount, checksum } = written;
  if (sum.count !== recordCount) {
    differences.add(table, null, `${sum.count} rows, but run ${runId} recorded ${recordCount}`);
  }
  if (checksum !== null && sum.toString() !== checksum) {
    differences.add(table, null, `the rows' checksum is ${sum}, but run ${runId} recorded ${checksum}`);
  }
}
