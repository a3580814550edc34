import { isFresh, isInFuture } from '../../freshness.ts';
import { stateText } from '../../list-state.ts';
import type { ReportData, ReportList } from '../../store/read/report-data.ts';
import { counted, duration } from '../numbers.ts';

/** How urgent something is: `good` needs nothing, `warn` needs a look, `bad` needs help. */
export type Tone = 'good' | 'warn' | 'bad' | 'quiet';

/** A judgement in a few words, and its colour. */
export interface Verdict {
  readonly tone: Tone;
  readonly text: string;
}

/** Something that asks for attention, and what to do about it. */
export interface Concern {
  readonly tone: Tone;
  readonly title: string;
  readonly detail: string;
  readonly advice: string;
  /** Commands that help, ready to type. */
  readonly commands: readonly string[];
}

/** The rule for stale lists. */
export interface Freshness {
  readonly nowMs: number;
  readonly maxAgeMs: number | null;
}

/** The state of a list, in few words. */
export function verdictOf(list: ReportList, freshness: Freshness): Verdict {
  const { last } = list;
  if (last === null) return { tone: 'quiet', text: 'Never synced' };
  if (isStale(list, freshness)) return { tone: 'bad', text: 'Too old' };
  const said = stateText(last);
  const text = said.charAt(0).toUpperCase() + said.slice(1);
  if (last.status === 'completed') return { tone: 'good', text };
  return { tone: last.status === 'failed' ? 'bad' : 'warn', text };
}

/**
 * True if a list has had no completed run within the allowed age, or never had one; always false if no age is given.
 */
export function isStale({ lastCompletedAt }: ReportList, { nowMs, maxAgeMs }: Freshness): boolean {
  return maxAgeMs !== null && !isFresh(lastCompletedAt, nowMs, maxAgeMs);
}

/** The concerns about the last runs, the lists in their order. */
export function concernsOf({ lists }: ReportData, freshness: Freshness): Concern[] {
  return lists
    .flatMap(list => [
      staleness(list, freshness),
      failure(list),
      unproven(list),
      rejection(list),
      withheld(list),
    ])
    .filter(concern => concern !== null);
}

function staleness(list: ReportList, freshness: Freshness): Concern | null {
  if (!isStale(list, freshness)) return null;
  const { title, lastCompletedAt } = list;
  const age =
    lastCompletedAt === null
      ? 'No run of it has ever completed.'
      : isInFuture(lastCompletedAt, freshness.nowMs)
        ? "Its last completed run ended in the future, by this machine's clock."
        : `Its last completed run ended ${duration(freshness.nowMs - Date.parse(lastCompletedAt))} before this report.`;
  return {
    tone: 'bad',
    title: `${title}: older than allowed`,
    detail: `${age} Allowed are ${duration(freshness.maxAgeMs ?? 0)}.`,
    advice: 'See why runs fail, or whether any are started at all.',
    commands: ['docmirror runs --limit 5'],
  };
}

function failure({ title, resource, last }: ReportList): Concern | null {
  if (last === null || last.status === 'completed' || last.status === 'partial') return null;
  const what =
    last.errorMessage ?? (last.status === 'interrupted' ? 'Its process died.' : 'No reason is recorded.');
  const refused = last.errorCode === 'unauthorized' || last.errorCode === 'forbidden';
  return {
    tone: last.status === 'failed' ? 'bad' : 'warn',
    title: `${title}: run ${last.runId} ${last.status === 'failed' ? 'failed' : `was ${last.status}`}`,
    detail: what,
    advice: refused
      ? 'The service refused the token. Replace it in the place that it came from. The mirror keeps what it had.'
      : 'The mirror keeps what it had, and the next run tries again. To try now:',
    commands: [`docmirror sync --resource ${resource}`],
  };
}

function unproven({ title, resource, last }: ReportList): Concern | null {
  if (last?.completeness !== 'unproven') return null;
  const kept =
    last.removalsWithheld > 0
      ? ` ${counted(last.removalsWithheld, 'record')} ${last.removalsWithheld === 1 ? 'was' : 'were'} not seen.`
      : '';
  return {
    tone: 'warn',
    title: `${title}: not proven to be complete`,
    detail: `The answers do not show that the list is complete: ${last.reason ?? 'no reason is recorded'}. What was seen is stored.${kept}`,
    advice: 'The next run tries again. If this stays, sync the list when it is quiet:',
    commands: [`docmirror sync --resource ${resource} --full`],
  };
}

function rejection({ title, last, rejections }: ReportList): Concern | null {
  if (last === null || last.rejected === 0) return null;
  const reasons = rejections
    .map(
      ({ reason, count: times, firstPageNo }) =>
        `${reason} (${counted(times, 'time')}, first on page ${firstPageNo})`,
    )
    .join('; ');
  return {
    tone: 'warn',
    title: `${title}: ${counted(last.rejected, 'record')} could not be read`,
    detail: `${reasons === '' ? 'They' : `${reasons}. They`} are not in the mirror; their text is in rejected_records.`,
    advice: 'Look at them, and tell those who run the service:',
    commands: ['docmirror rejected'],
  };
}

function withheld({ title, resource, last }: ReportList): Concern | null {
  if (last === null || last.removalsWithheld === 0) return null;
  if (last.completeness === 'unproven' || last.rejected > 0) return null;
  return {
    tone: 'warn',
    title: `${title}: the removal of ${counted(last.removalsWithheld, 'record')} was withheld`,
    detail:
      'The service no longer lists them, but they are more than DOCMIRROR_MAX_REMOVALS lets one run remove. They are still in the mirror.',
    advice: 'Find out whether they are really gone. If they are:',
    commands: [`docmirror sync --resource ${resource} --allow-mass-removal`],
  };
}
