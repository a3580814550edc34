import { lists } from '../../contract/lists.ts';
import { codeOf } from '../../errors.ts';
import { TimeSlice } from '../../time-slice.ts';
import { kindOf, type MirrorFile, migrations, openMirrorForReading } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { lastRunBefore, readPruned } from '../receipts/statements.ts';
import { firstValue, type Sqlite } from '../tables/ask.ts';
import { wroteListSql } from '../tables/ended-runs.ts';
import { mirrorIds } from '../tables/views.ts';
import { compareObjects } from '../write/altered-mirror.ts';
import { changesAhead, type PinnedCheckpoint, verifyLog, verifyRuns } from './verify-receipts.ts';
import { beginRows } from './verify-rows.ts';
import { type Difference, type Report, severityOf, verifyTables } from './verify-tables.ts';

/** How many differences an audit lists, and how it can be ended. */
export interface VerifyOptions {
  readonly limit: number;
  readonly checkpoints?: readonly PinnedCheckpoint[];
  readonly signal: AbortSignal;
}

/** Audits one state of a mirror's file. It takes no lock that a run would wait for, and writes nothing. Damage is a difference. */
export async function verifyMirror(path: string, options: VerifyOptions) {
  const differences: Difference[] = [];
  let differenceCount = 0;
  const report: Report = (table, id, what, severity = severityOf(table)) => {
    if (differenceCount++ < options.limit) differences.push({ table, id, what, severity });
  };
  // Damage to the file can be found at any place of the audit.
  let found: Found = nothing;
  try {
    const kind = kindOf(path);
    if (kind === 'no database') report(null, null, 'the file is not an SQLite database');
    else if (kind === 'empty') report(null, null, 'the file has no tables');
    else {
      using file = openMirrorForReading(path);
      found = (await audit(file, report, options)) ?? nothing;
    }
  } catch (error) {
    const damage = damageIn(error, path);
    if (damage === null) throw explainSqliteError(error, path);
    report(null, null, damage);
  }
  return { path, ...found, differenceCount, differences };
}

/** The result of an audit of a mirror's file. */
export type Verification = Awaited<ReturnType<typeof verifyMirror>>;
type Found = NonNullable<Awaited<ReturnType<typeof audit>>>;

const nothing: Found = {
  lists: [],
  connectionCount: 0,
  versionCount: 0,
  runCount: 0,
  receiptCount: 0,
  restored: [],
  prunedBefore: null,
  prunedKept: null,
  rebuiltAfterRunId: null,
  erasedCount: 0,
  otherObjects: [],
};

async function audit(file: MirrorFile, report: Report, { signal, checkpoints = [] }: VerifyOptions) {
  const { sqlite } = file;
  const slice = new TimeSlice(signal);
  // One state of the file, even if a run writes meanwhile.
  await using rows = await beginRows(file);
  const integrity = sqlite.pragma('integrity_check') as { integrity_check: string }[];
  const faults = integrity.filter(({ integrity_check: fault }) => fault !== 'ok');
  for (const { integrity_check: fault } of faults) report(null, null, `SQLite's integrity check: ${fault}`);
  // A damaged file can't be compared with anything.
  if (faults.length > 0) return null;
  const otherObjects = verifyObjects(sqlite, report);
  await slice.next();

  const ahead = await changesAhead({ sqlite, slice }, rows.isShared);
  const fault = 'a value was changed after docmirror wrote it: the columns and _content disagree';
  const sums = await rows.sums(slice, (table, id) => report(table, id, fault));
  const { before: prunedBefore, throughRunId: prunedThrough, keptBy: prunedKept } = readPruned(sqlite);
  const rebuiltAfter = lastRunBefore(sqlite, 'rebuild');
  const acceptedThrough = Math.max(rebuiltAfter, lastRunBefore(sqlite, 'upgrade'));
  const cuts = { prunedThrough, acceptedThrough, knownAfter: Math.max(prunedThrough, rebuiltAfter) };
  const all = { sqlite, report, slice, mirrorIds: mirrorIds(sqlite), ...cuts };
  verifyTables(all);
  const { receiptCount, restored } = verifyLog(all, checkpoints);
  await verifyRuns(all, sums, ahead);

  const number = (query: string) => firstValue<number>(sqlite, `SELECT ${query}`);
  const count = (rows: string) => number(`count(*) FROM ${rows}`) ?? 0;
  return {
    otherObjects,
    prunedBefore,
    prunedKept,
    rebuiltAfterRunId: rebuiltAfter || null,
    receiptCount,
    restored,
    connectionCount: sums.get('connections')?.count ?? 0,
    lists: lists.map(({ resource }) => ({
      resource,
      recordCount: sums.get(resource)?.count ?? 0,
      versionCount: count(`record_history WHERE resource = '${resource}'`),
      runId: number(`max(run_id) FROM sync_run_resources WHERE resource = '${resource}' AND ${wroteListSql}`),
      checksum: `${sums.get(resource)}`,
    })),
    versionCount: count('record_history'),
    runCount: count('sync_runs'),
    erasedCount:
      count('record_history WHERE record IS NULL') + count('rejected_records WHERE record IS NULL'),
  };
}

/** Reports objects that are gone, changed, or change what runs write; returns the objects of others that are no difference. */
function verifyObjects(sqlite: Sqlite, report: Report) {
  const objects = compareObjects(sqlite);
  for (const { type, name, table, state } of objects) {
    const faults = {
      missing: `the ${type} is missing`,
      changed: `the ${type} is not as docmirror makes it`,
      intrusive: `docmirror did not make this ${type} on ${table}`,
    };
    if (state !== 'foreign') report(name, null, faults[state], 'content');
  }
  const own = JSON.stringify(migrations.map(({ hash, folderMillis }) => [null, hash, folderMillis]));
  const noted = 'json_group_array(json_array(id, hash, created_at) ORDER BY created_at, hash)';
  // If the table is missing, the audit ends here.
  if (firstValue(sqlite, `SELECT ${noted} FROM __drizzle_migrations`) !== own)
    report('__drizzle_migrations', null, 'the changes of shape it lists are not those of docmirror');
  return objects.flatMap(({ type, name, state }) => (state === 'foreign' ? [{ type, name }] : []));
}

/** The words of an error that means damage to the file; null if it means something else. */
function damageIn(error: unknown, path: string): string | null {
  const codes = [codeOf(error), codeOf(error instanceof Error ? error.cause : undefined)];
  const code = codes.find(each => each?.startsWith('SQLITE_')) ?? '';
  if (/^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/.test(code)) {
    const explained = explainSqliteError(error, path);
    return explained instanceof Error ? explained.message : code;
  }
  // A table or column is missing.
  return code === 'SQLITE_ERROR' && error instanceof Error ? error.message : null;
}
