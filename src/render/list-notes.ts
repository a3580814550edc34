import type { RejectionCount } from '../contract/results.ts';
import type { ListOutcome } from '../contract/run.ts';
import { adviceOn } from '../errors.ts';
import { isFresh, isInFuture } from '../freshness.ts';
import type { ListEnd } from '../list-state.ts';
import { printable } from '../printable.ts';
import type { ListStatus } from '../store/read/run-reader.ts';
import { count, counted, duration } from './numbers.ts';

// What there is to say of a list, in the summary of a run, the status and the report.

/** Something that needs a look, and what to do about it: a command has its own line, and `{list}` stands for the flag of the list. */
export interface Note {
  readonly text: string;
  /** Null if another note has it. */
  readonly advice: string | null;
}

interface EndedList extends ListEnd {
  readonly reason: string | null;
  readonly errorMessage: string | null;
  readonly changedIdentity?: string | null;
}

/** The most reasons of rejections that are named. */
const reasonsMax = 3;

/** Everything that needs a look after a run of a list; `rejections` has the most frequent reasons first. */
export function notesOn(
  list: EndedList,
  rejections: readonly Pick<RejectionCount, 'reason' | 'count'>[],
): Note[] {
  const { status, completeness, errorCode, errorMessage, rejected, reason } = list;
  const notes: Note[] = [];
  if (errorCode !== null || !['completed', 'partial'].includes(status)) {
    const advice = adviceOn(errorCode ?? '') ?? 'The mirror keeps what it had, and the next run tries again.';
    notes.push({ text: errorCode === null ? 'Its process died.' : `${errorMessage} [${errorCode}]`, advice });
  }
  if (completeness === 'unproven')
    notes.push({
      text: `unproven: ${reason}.`,
      advice: reason?.startsWith('page_failed')
        ? adviceOn('page_failed')
        : 'The next run tries again. If this stays, sync when the list is quiet:\n    docmirror sync {list} --full',
    });
  if (rejected > 0) {
    const named = rejections.slice(0, reasonsMax).map(each => `${each.reason} (${count(each.count)})`);
    const more = rejections.length - reasonsMax;
    const reasons = [...named, ...(more > 0 ? [counted(more, 'more reason')] : [])].join('; ');
    notes.push({
      text: `${counted(rejected, 'record')} could not be read${reasons && `: ${reasons}`}. "docmirror rejected" shows more.`,
      advice: 'Look at "docmirror rejected", and tell those who run the service.',
    });
  }
  if (list.removalsWithheld > 0) notes.push(withheldNote(list));
  return notes;
}

function withheldNote({ completeness, removalsWithheld, rejected, changedIdentity }: EndedList): Note {
  const what = `the removal of ${counted(removalsWithheld, 'record')} was withheld, because`;
  if (rejected > 0) return { text: `${what} records were rejected that have no readable id.`, advice: null };
  const field = changedIdentity
    ? ` As many new records differ in ${changedIdentity} only: probably the service now writes this field in another way.`
    : '';
  const command = 'docmirror sync {list} --allow-mass-removal';
  return {
    text: `${what} it is more than DOCMIRROR_MAX_REMOVALS allows.${field}`,
    advice:
      completeness === 'unproven'
        ? null
        : `See which records. If they are really gone, remove them:\n    ${command} --dry-run\n    ${command}`,
  };
}

/** What there is to say about the time of a list's last completed run; null if nothing. No age is too great if `maxAgeMs` is null. */
export function ageNote(
  { lastCompletedAt: at }: ListStatus,
  nowMs: number,
  maxAgeMs: number | null,
): string | null {
  if (isInFuture(at, nowMs))
    return `its last completed run ended ${duration(Date.parse(at ?? '') - nowMs)} in the future, by this machine's clock. Check the clocks: how fresh the list is can't be told.`;
  if (maxAgeMs === null || isFresh(at, nowMs, maxAgeMs)) return null;
  return at === null
    ? 'no run of it has completed, so it is older than --max-age allows.'
    : `its last completed run ended ${ago(at, nowMs)}, longer than --max-age allows.`;
}

/** How long ago something was: `3 h ago`. */
export function ago(at: string | null, nowMs: number): string {
  if (at === null) return 'never';
  if (isInFuture(at, nowMs)) return 'in the future';
  return `${duration(Math.max(0, nowMs - Date.parse(at)))} ago`;
}

/** The most fields that are named. */
const fieldsMax = 20;

/** Fields with their types, in one line: `owner (null, string), tags (array)`. */
export function fieldsText(fields: Iterable<{ readonly field: string; readonly jsonType: string }>): string {
  const byName = [...Map.groupBy(fields, ({ field }) => field)];
  const named = byName
    .slice(0, fieldsMax)
    .map(([name, types]) => printable(`${name} (${types.map(({ jsonType }) => jsonType).join(', ')})`));
  return [...named, ...(byName.length > fieldsMax ? [`${byName.length - fieldsMax} more`] : [])].join(', ');
}

type Counts = Pick<ListOutcome, 'inserted' | 'updated' | 'removed'>;

/** How many records a run changed in all of its lists. */
export function totalsOf(resources: readonly Counts[]): Counts {
  const sum = (field: keyof Counts) => resources.reduce((total, list) => total + list[field], 0);
  return { inserted: sum('inserted'), updated: sum('updated'), removed: sum('removed') };
}
