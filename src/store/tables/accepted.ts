import { findingsThatCount } from '../../findings.ts';
import type { Finding, FindingCode } from '../../proof/findings.ts';
import { allRows, firstValue, type Sqlite } from './ask.ts';
import { reasonsIn } from './reasons.ts';
import type { acceptedFindings } from './schema.ts';

/** A finding that a person has accepted, as `accepted_findings` has it. */
export type Acceptance = typeof acceptedFindings.$inferSelect;

/** Codes that nobody can accept: they say that something was left undone, or nothing that counts. */
const neverAccepted: ReadonlySet<string> = new Set<FindingCode>([
  'ended_early',
  'list_emptied',
  'list_refilled',
  'records_replaced',
  'removals_withheld',
]);
/** Codes that are accepted up to a count. */
const counted: ReadonlySet<string> = new Set<FindingCode>([
  'page_failed',
  'id_twice',
  'newest_only',
  'not_confirmed',
  'record_rejected',
]);

/** Whether a finding of a code can be accepted, and then whether up to a count. */
export function acceptanceOf(finding: Finding | { readonly code: FindingCode }) {
  const { code } = finding;
  const canBe = !neverAccepted.has(code) && findingsThatCount([{ code } as Finding]).length > 0;
  return { canBe, isCounted: counted.has(code) };
}

/** An acceptance as it bears on one run: of one record, whether the run rejected it. */
type Bearing = Acceptance & { readonly isRejected: boolean };

/**
 * The verdict on what a run found out about a list: which findings are open, and the acceptances that cover the others. An acceptance counts
 * until it is withdrawn and until its end; it covers no more than its count, and of rejected records those that it names.
 */
export function openFindings(findings: readonly Finding[], accepted: readonly Bearing[], nowMs: number) {
  const inForce = accepted.filter(
    ({ withdrawnAt, until }) => withdrawnAt === null && (until === null || Date.parse(until) > nowMs),
  );
  const used = new Set<number>();
  const open = findingsThatCount(findings).filter(finding => {
    const ofCode = inForce.filter(({ code }) => code === finding.code && acceptanceOf(finding).canBe);
    const count = 'count' in finding ? finding.count : null;
    const isWithin = ({ atMost }: Acceptance) => atMost === null || (count ?? 0) <= atMost;
    const whole = ofCode.filter(each => each.rejectedRecordId === null && isWithin(each));
    const records = ofCode.filter(each => each.isRejected);
    const named = new Set(records.map(({ rejectedRecordId }) => rejectedRecordId));
    const covering = whole.length > 0 ? whole : records;
    for (const { id } of covering) used.add(id);
    return whole.length === 0 && (count === null || named.size === 0 || named.size < count);
  });
  return { open, accepted: [...used].sort((a, b) => a - b) };
}

const columns = `id, resource, code, rejected_record_id AS rejectedRecordId, at_most AS atMost, until, why, actor,
  accepted_at AS acceptedAt, withdrawn_at AS withdrawnAt, withdrawn_by AS withdrawnBy, withdrawn_why AS withdrawnWhy`;

/** All acceptances of a mirror, the oldest first. */
export function acceptancesIn(sqlite: Sqlite): Acceptance[] {
  return allRows(sqlite, `SELECT ${columns} FROM accepted_findings ORDER BY id`);
}

/** What a run found out about a list, by its codes that are open, and the ids of the acceptances that cover the rest; null before 0.6. */
export interface Judged {
  readonly open: readonly string[] | null;
  readonly accepted: readonly number[];
}

/** Judges what a run found out about a list, by the acceptances of the mirror. */
export function judge(
  sqlite: Sqlite,
  list: { readonly resource: string; readonly runId: number; readonly reasons: readonly Finding[] | null },
  nowMs: number,
): Judged {
  if (list.reasons === null) return { open: null, accepted: [] };
  const ofList = `SELECT ${columns}, rejected_record_id IS NOT NULL AND EXISTS (SELECT 1 FROM rejected_records r
      WHERE r.id = rejected_record_id AND ? BETWEEN r.run_id AND r.last_run_id) AS isRejected
    FROM accepted_findings WHERE resource = ? ORDER BY id`;
  const rows = allRows<Acceptance & { isRejected: number }>(sqlite, ofList, list.runId, list.resource);
  const bearing = rows.map(row => ({ ...row, isRejected: row.isRejected === 1 }));
  const { open, accepted } = openFindings(list.reasons, bearing, nowMs);
  return { open: open.map(({ code }) => code), accepted };
}

/** The most runs of a list that are judged anew to find its last complete one. */
const judgedMax = 10_000;

/** The newest run that completed a list, as `condition` says, or whose findings are all accepted; 0 if there is none. */
export function newestComplete(sqlite: Sqlite, resource: string, condition: string, nowMs: number): number {
  const newest = `SELECT max(run_id) FROM sync_run_resources WHERE resource = ? AND ${condition}`;
  const sure = firstValue<number>(sqlite, newest, resource) ?? 0;
  const inForce = 'SELECT id FROM accepted_findings WHERE resource = ? AND withdrawn_at IS NULL LIMIT 1';
  if (firstValue(sqlite, inForce, resource) === null) return sure;
  const later = `SELECT run_id AS runId, reasons FROM sync_run_resources
    WHERE resource = ? AND run_id > ? AND status = 'partial' AND error_code IS NULL ORDER BY run_id DESC LIMIT ${judgedMax}`;
  type Run = { readonly runId: number; readonly reasons: string | null };
  const isDone = ({ runId, reasons }: Run) =>
    judge(sqlite, { resource, runId, reasons: reasonsIn(reasons) }, nowMs).open?.length === 0;
  return allRows<Run>(sqlite, later, resource, sure).find(isDone)?.runId ?? sure;
}

/** Whether a run left nothing open of a list: it is complete, or all that it found out is accepted. */
export function hasNothingOpen(list: {
  readonly status: string;
  readonly error: object | null;
  readonly open?: readonly string[] | null;
}): boolean {
  const { status, error, open } = list;
  return status === 'completed' || (status === 'partial' && error === null && open?.length === 0);
}

/** Each code of findings once, and whether all that it says is accepted. */
export function statesOfCodes(reasons: readonly Finding[], open: readonly string[]) {
  const counting = new Set(findingsThatCount(reasons).map(({ code }) => code));
  return [...new Set(reasons.map(({ code }) => code))].map(code => {
    return { code, isAccepted: counting.has(code) && !open.includes(code) };
  });
}
