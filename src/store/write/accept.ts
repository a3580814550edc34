import type { ResourceName } from '../../contract/lists.ts';
import { MirrorFileError, UsageError } from '../../errors.ts';
import type { FindingCode } from '../../proof/findings.ts';
import { MirrorLock } from '../file/lock-file.ts';
import { mirrorToWrite, openMirrorForReading } from '../file/open.ts';
import { openForWriting } from '../file/open-to-write.ts';
import { explaining } from '../file/sqlite-errors.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { type Acceptance, acceptanceOf, acceptancesIn, judge } from '../tables/accepted.ts';
import { firstRow, type Sqlite } from '../tables/ask.ts';
import { reasonsIn } from '../tables/reasons.ts';

interface Signed {
  readonly why: string;
  readonly actor: string;
  /** The current time, ISO 8601 in UTC. */
  readonly at: string;
}

/** What a person accepts. */
export interface AcceptOrder extends Signed {
  readonly resource: ResourceName;
  readonly code: FindingCode;
  /** One rejected record; null for all that the code says. */
  readonly rejectedRecordId: number | null;
  /** Null for the count of today. */
  readonly atMost: number | null;
  readonly until: string | null;
  /** Also a finding that is not open now. */
  readonly anyway: boolean;
}

/** Accepts a finding, with a receipt. Throws `mirror_busy`, a UsageError, or a MirrorFileError (`not_found`: no such finding is open). */
export function accept(path: string, order: AcceptOrder): Acceptance {
  const { resource, code, rejectedRecordId, until, why, actor, at } = order;
  const { canBe, isCounted } = acceptanceOf(order);
  if (!canBe) throw new UsageError(`${code} can't be accepted. "docmirror help ${code}" says what to do.`);
  if (rejectedRecordId !== null && code !== 'record_rejected')
    throw new UsageError(`--record goes with record_rejected, and not with ${code}.`);
  if (order.atMost !== null && (!isCounted || rejectedRecordId !== null))
    throw new UsageError(`--at-most does not go with ${rejectedRecordId === null ? code : '--record'}.`);
  return inMirror(path, (sqlite, log) => {
    const count = countNow(sqlite, order);
    if (isCounted && rejectedRecordId === null && (order.atMost ?? count) === null)
      throw new UsageError(`${code} is not in the last run of ${resource}, so --at-most has to say a count.`);
    const atMost = isCounted && rejectedRecordId === null ? (order.atMost ?? count) : null;
    const what = { resource, code, rejectedRecordId, atMost, until, why, actor };
    const insert = `INSERT INTO accepted_findings (resource, code, rejected_record_id, at_most, until, why, actor, accepted_at)
      VALUES (@resource, @code, @rejectedRecordId, @atMost, @until, @why, @actor, @at)`;
    const id = Number(sqlite.prepare(insert).run({ ...what, at }).lastInsertRowid);
    log.append({ kind: 'accept', mirrorId: log.mirrorId(), at, id, ...what });
    return rowOf(sqlite, id);
  });
}

/** Ends an acceptance, with a receipt. Throws `mirror_busy`, or a MirrorFileError (`not_found`: there is none of that number in force). */
export function withdraw(path: string, id: number, order: Signed): Acceptance {
  return inMirror(path, (sqlite, log) => {
    const found = acceptancesIn(sqlite).find(each => each.id === id && each.withdrawnAt === null);
    if (found === undefined) throw notFound(`${path} has no acceptance ${id} that could be withdrawn.`);
    withdrawIn(sqlite, log, id, order);
    return rowOf(sqlite, id);
  });
}

/** The same in a transaction of the caller's. */
export function withdrawIn(sqlite: Sqlite, log: ReceiptLog, id: number, { why, actor, at }: Signed): void {
  const end =
    'UPDATE accepted_findings SET withdrawn_at = ?, withdrawn_by = ?, withdrawn_why = ? WHERE id = ?';
  sqlite.prepare(end).run(at, actor, why, id);
  log.append({ kind: 'withdraw', mirrorId: log.mirrorId(), at, actor, id, why });
}

/** The count of the finding in the last run of the list that ended; null if it has none. Throws if it is not open, and has to be. */
function countNow(sqlite: Sqlite, order: AcceptOrder): number | null {
  const { resource, code, rejectedRecordId, anyway, at } = order;
  const newest = `SELECT run_id AS runId, reasons FROM sync_run_resources
    WHERE resource = ? AND status <> 'running' ORDER BY run_id DESC LIMIT 1`;
  const last = firstRow<{ runId: number; reasons: string | null }>(sqlite, newest, resource);
  const reasons = reasonsIn(last?.reasons ?? null) ?? [];
  const record = 'SELECT resource, last_run_id AS lastRunId FROM rejected_records WHERE id = ?';
  const rejected = firstRow<{ resource: string; lastRunId: number }>(sqlite, record, rejectedRecordId ?? 0);
  if (rejectedRecordId !== null && rejected?.resource !== resource)
    throw notFound(`${resource} has no rejected record ${rejectedRecordId}. See "docmirror rejected".`);
  const runId = last?.runId ?? 0;
  const { open } = judge(sqlite, { resource, runId, reasons }, Date.parse(at));
  const isThere = rejectedRecordId === null || rejected?.lastRunId === runId;
  if (!anyway && !(isThere && open?.includes(code)))
    throw notFound(
      `The last run of ${resource} has no open finding ${code}. To accept it before it comes, add --anyway.`,
    );
  const finding = reasons.find(each => each.code === code);
  return finding !== undefined && 'count' in finding ? finding.count : null;
}

function rowOf(sqlite: Sqlite, id: number): Acceptance {
  return acceptancesIn(sqlite).find(each => each.id === id) as Acceptance;
}

const notFound = (message: string) => new MirrorFileError(message, { code: 'not_found' });

/** Does some work in one transaction, while no run uses the mirror. */
function inMirror<T>(path: string, work: (sqlite: Sqlite, log: ReceiptLog) => T): T {
  return whileNoRun(path, place => {
    using file = openForWriting(place);
    const { sqlite } = file;
    return sqlite.transaction(() => work(sqlite, new ReceiptLog(sqlite))).immediate();
  });
}

/** Does some work on a mirror that is there, while no run uses it. Throws `mirror_busy`, or a MirrorFileError. */
export function whileNoRun<T>(path: string, work: (place: string) => T): T {
  const place = mirrorToWrite(path);
  // If there is no mirror, opening it for writing would create one.
  openMirrorForReading(place).close();
  using _lock = new MirrorLock(place);
  return explaining(place, () => work(place));
}
