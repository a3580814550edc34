import type { ListOutcome, RecordedList } from '../contract/run.ts';
import { adviceOn } from '../errors.ts';
import { isInFuture } from '../freshness.ts';
import { printable } from '../printable.ts';
import { count, counted, duration } from './numbers.ts';

// What there is to say of a list, in the summary of a run, the status and the report.

/** Something that needs a look, and what to do about it: a command has its own line, and `{list}` stands for the flag of the list. */
export interface Note {
  readonly text: string;
  /** Null if another note has it. */
  readonly advice: string | null;
}

/** The most reasons of rejections, and the most fields, that are named. */
const [reasonsMax, fieldsMax] = [3, 20];

/** Everything that needs a look after a run of a list; `rejections` has the most frequent reasons first. */
export function notesOn(
  list: Omit<RecordedList, 'runId' | 'recordCount'> & Partial<Pick<ListOutcome, 'changedIdentity'>>,
  rejections: readonly { readonly reason: string; readonly count: number }[],
): Note[] {
  const { error, status, completeness, rejected, reason, removalsWithheld, changedIdentity } = list;
  const notes: Note[] = [];
  if (error !== null || !['completed', 'partial'].includes(status))
    notes.push({
      text: error === null ? 'Its process died.' : `${error.message} [${error.code}]`,
      advice: adviceOn(error?.code ?? '') ?? 'The mirror keeps what it had, and the next run tries again.',
    });
  if (completeness === 'unproven')
    notes.push({
      text: `unproven: ${reason}.`,
      advice: reason?.startsWith('page_failed')
        ? adviceOn('page_failed')
        : 'The next run tries again. If this stays, sync when the list is quiet:\n    docmirror sync {list} --full',
    });
  if (rejected > 0) {
    const named = rejections.slice(0, reasonsMax).map(each => `${each.reason} (${count(each.count)})`);
    const reasons = ['could not be read', named.join('; ')].filter(Boolean).join(': ');
    notes.push({
      text: `${counted(rejected, 'record')} ${reasons}. "docmirror rejected" shows more.`,
      advice: 'Look at "docmirror rejected", and tell those who run the service.',
    });
  }
  if (removalsWithheld > 0) {
    const what = `the removal of ${counted(removalsWithheld, 'record')} was withheld, because`;
    const field = changedIdentity
      ? ` As many new records differ in ${changedIdentity} only: probably the service now writes this field in another way.`
      : '';
    const command = 'docmirror sync {list} --allow-mass-removal';
    const advice = `See which records. If they are really gone, remove them:\n    ${command} --dry-run\n    ${command}`;
    notes.push(
      rejected > 0
        ? { text: `${what} records were rejected that have no readable id.`, advice: null }
        : {
            text: `${what} it is more than DOCMIRROR_MAX_REMOVALS allows.${field}`,
            advice: completeness === 'unproven' ? null : advice,
          },
    );
  }
  return notes;
}

/** How long ago something was: `3 h ago`. */
export function ago(at: string | null, nowMs: number): string {
  if (at === null) return 'never';
  return isInFuture(at, nowMs) ? 'in the future' : `${duration(Math.max(0, nowMs - Date.parse(at)))} ago`;
}

/** Fields with their types, in one line: `owner (null, string), tags (array)`. */
export function fieldsText(fields: Iterable<{ readonly field: string; readonly jsonType: string }>): string {
  const named = [...Map.groupBy(fields, ({ field }) => field)].map(([name, types]) =>
    printable(`${name} (${types.map(({ jsonType }) => jsonType).join(', ')})`),
  );
  return [...named.slice(0, fieldsMax), ...(named.length > fieldsMax ? ['…'] : [])].join(', ');
}

/** How many records a run changed in all of its lists. */
export function totalsOf(resources: readonly Readonly<Record<'inserted' | 'updated' | 'removed', number>>[]) {
  const sum = (field: 'inserted' | 'updated' | 'removed') =>
    resources.reduce((total, list) => total + list[field], 0);
  return { inserted: sum('inserted'), updated: sum('updated'), removed: sum('removed') };
}
