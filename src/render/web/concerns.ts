import { adviceOn } from '../../errors.ts';
import { isFresh, isInFuture } from '../../freshness.ts';
import { printable } from '../../printable.ts';
import type { ReportData, ReportList } from '../../store/read/report-data.ts';
import { cut } from '../cut.ts';
import { count, counted, duration } from '../numbers.ts';
import type { Zone } from './period.ts';

/** How urgent something is: `good` needs nothing, `warn` needs a look, `bad` needs help. */
export type Tone = 'good' | 'warn' | 'bad' | 'quiet';

/** Something that asks for attention. */
export interface Concern {
  readonly tone: Tone;
  readonly title: string;
  readonly detail: string;
  /** What to do about it; a command has a line of its own. */
  readonly advice: string;
}

/** The rule for stale lists. */
export interface Freshness {
  readonly nowMs: number;
  readonly maxAgeMs: number | null;
}

const seeRuns = 'See why runs fail, or whether any are started at all:\n    docmirror runs --limit 5';
const dayMs = 86_400_000;
const namedMax = 5;
/** If no limit for the age is set: a mirror is behind if it is older than this, in milliseconds. */
const behindMsMin = 2 * dayMs;

/** Everything that needs a look: exports that stopped, a mirror that is behind, and the last runs, list by list. */
export function concernsOf(
  data: ReportData,
  titleOf: (resource: string) => string,
  freshness: Freshness,
  zone: Zone,
): Concern[] {
  return [
    ...stopped(data, zone),
    ...behind(data, freshness),
    ...data.lists.flatMap(list => ofList(list, titleOf(list.resource), freshness)),
  ];
}

/** True if a list has had no completed run within the allowed age, or never had one; always false if no age is given. */
export function isStale({ lastCompletedAt }: ReportList, { nowMs, maxAgeMs }: Freshness): boolean {
  return maxAgeMs !== null && !isFresh(lastCompletedAt, nowMs, maxAgeMs);
}

function stopped({ silence, quiet, knownMs, period }: ReportData, zone: Zone): Concern[] {
  if (silence !== null) {
    const until = knownMs === period.span.toMs ? 'the end of the period' : zone.dayAndTime(knownMs);
    return [
      {
        tone: 'bad',
        title: `No document was exported for ${days(silence.silenceMs)}`,
        detail: `The last one before ${until} is of ${zone.dayAndTime(silence.lastMs)}.`,
        advice: 'Ask those who run the export service and the systems that documents come from.',
      },
    ];
  }
  if (quiet.length === 0) return [];
  const named = quiet.slice(0, namedMax).map(({ name, role, silenceMs, lastMs }) => {
    return `${cut(printable(name), 80)} as ${role} for ${days(silenceMs)}, since ${zone.day(lastMs)}`;
  });
  const rest = quiet.length - named.length;
  return [
    {
      tone: 'warn',
      title:
        quiet.length === 1 ? 'One connection went quiet' : `${count(quiet.length)} connections went quiet`,
      detail: `${named.join('; ')}${rest > 0 ? `; and ${count(rest)} more` : ''}. That is at least five times as long as usual.`,
      advice: 'Ask those who run these systems.',
    },
  ];
}

function behind({ knownMs, period, lists }: ReportData, { nowMs, maxAgeMs }: Freshness): Concern[] {
  const untilMs = Math.min(nowMs, period.span.toMs);
  const completedAt = lists.find(({ resource }) => resource === 'document-exports')?.lastCompletedAt;
  if (maxAgeMs !== null || completedAt == null || untilMs <= knownMs) return [];
  const ageMs = nowMs - Date.parse(completedAt);
  if (untilMs - knownMs < behindMsMin && ageMs < behindMsMin) return [];
  return [
    {
      tone: 'warn',
      title: `The mirror is ${days(ageMs)} behind`,
      detail: 'What was exported since its last completed run is not in this report.',
      advice: seeRuns,
    },
  ];
}

function ofList(list: ReportList, title: string, freshness: Freshness): Concern[] {
  const { resource, lastCompletedAt, lastEnded: last, rejections } = list;
  const { status, completeness, rejected = 0, removalsWithheld = 0, errorCode } = last ?? {};
  const reasons = rejections.map(
    each => `${each.reason} (${counted(each.count, 'time')}, first on page ${each.firstPageNo}). `,
  );
  const concerns: readonly (Concern | false)[] = [
    isStale(list, freshness) && {
      tone: 'bad',
      title: `${title}: older than allowed`,
      detail: `${ageText(lastCompletedAt, freshness.nowMs)} Allowed are ${duration(freshness.maxAgeMs ?? 0)}.`,
      advice: seeRuns,
    },
    status !== undefined &&
      status !== 'completed' &&
      status !== 'partial' && {
        tone: status === 'failed' ? 'bad' : 'warn',
        title: `${title}: run ${last?.runId} ${status === 'failed' ? 'failed' : `was ${status}`}`,
        detail: last?.errorMessage ?? 'Its process died.',
        advice: adviceOn(errorCode ?? '') ?? 'The mirror keeps what it had, and the next run tries again.',
      },
    completeness === 'unproven' && {
      tone: 'warn',
      title: `${title}: not proven to be complete`,
      detail: `The answers do not show that the list is complete: ${last?.reason ?? 'no reason is recorded'}. What was seen is stored.`,
      advice: `The next run tries again. If this stays, sync the list when it is quiet:\n    docmirror sync --resource ${resource} --full`,
    },
    rejected > 0 && {
      tone: 'warn',
      title: `${title}: ${counted(rejected, 'record')} could not be read`,
      detail: `${reasons.join('')}They are not in the mirror; their text is in rejected_records.`,
      advice: 'Look at them, and tell those who run the service:\n    docmirror rejected',
    },
    removalsWithheld > 0 &&
      completeness !== 'unproven' &&
      rejected === 0 && {
        tone: 'warn',
        title: `${title}: the removal of ${counted(removalsWithheld, 'record')} was withheld`,
        detail:
          'The service no longer lists them, but they are more than DOCMIRROR_MAX_REMOVALS lets one run remove. They are still in the mirror.',
        advice: `Find out whether they are really gone. If they are:\n    docmirror sync --resource ${resource} --allow-mass-removal`,
      },
  ];
  return concerns.filter(concern => concern !== false);
}

function ageText(lastCompletedAt: string | null, nowMs: number): string {
  if (lastCompletedAt === null) return 'No run of it has ever completed.';
  if (isInFuture(lastCompletedAt, nowMs))
    return "Its last completed run ended in the future, by this machine's clock.";
  return `Its last completed run ended ${duration(nowMs - Date.parse(lastCompletedAt))} before this report.`;
}

/** `23 days`, whole ones. */
function days(ms: number): string {
  return counted(Math.floor(ms / dayMs), 'day');
}
