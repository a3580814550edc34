import { fieldsOf, lists } from '../contract/lists.ts';
import { adviceOn } from '../errors.ts';
import { aboutFindings } from '../findings.ts';
import { printable } from '../printable.ts';
import { type ListEnd, openPointsOf, stateText } from '../store/read/list-state.ts';
import type { Freshness } from '../store/read/runs/freshness.ts';
import type { ListOutcome, RecordedList, RunError } from '../store/tables/run.ts';
import { ago, count, counted, duration } from './numbers.ts';
import type { OutputOf } from './outputs.ts';
import { renderTable, wrap } from './table.ts';

/** How a run ended, and the share after it; null if none is set. */
export type SharedRunSummary = OutputOf['sync'];

/** The summary for people: a `first` line, what changed, whether it is proven, why not, what to do. Frequent `rejections` come first. */
export function summaryText(
  summary: SharedRunSummary,
  width = Number.POSITIVE_INFINITY,
  rejections: OutputOf['rejected']['counts'] = [],
  first = '',
): string {
  const { resources, receipt, rowsDropped, versionsPruned, share } = summary;
  const cells = resources.map(list => {
    const counts = [list.recordsSeen, list.inserted, list.updated, list.removed].map(count);
    return [list.resource, ...counts, stateText(list)];
  });
  const ofLists = resources.flatMap(list => {
    const { resource } = list;
    const reasons = rejections.filter(each => each.resource === resource);
    return notesOn(list, reasons, summary.runId === null).map(note => ({ ...note, resource }));
  });
  const causes = [...Map.groupBy(ofLists, ({ text }) => causeOf(text))].map(([cause, of]) => {
    const names = of.map(({ resource }) => resource).join(', ');
    return `${names}: ${of.length === 1 ? of[0]?.text : cause}`;
  });
  const notes = [
    headlineOf(summary),
    rowsDropped !== null &&
      `Rebuilt: dropped ${counted(rowsDropped, 'row')} that another program had altered. The history does not mention this.`,
    versionsPruned > 0 &&
      `Deleted ${counted(versionsPruned, 'old version')} from the history (DOCMIRROR_KEEP_HISTORY).`,
    share?.error && `The share ${share.path} could not be made: ${share.error.message} [${share.error.code}]`,
    ...causes,
    ...resources.flatMap(fieldNotes),
  ];
  // Each piece of advice once, its commands with all lists that need it.
  const todo = [...Map.groupBy(ofLists, ({ advice }) => advice)].flatMap(([advice, of]) => {
    const flags = of.length === lists.length ? [] : of.map(({ resource }) => ` --resource ${resource}`);
    return advice === null ? [] : [wrapped(`- ${advice.replaceAll(' {list}', flags.join(''))}`, width)];
  });
  return [
    first && wrapped(first, width),
    renderTable(['List', 'Seen', 'New', 'Changed', 'Removed', 'Result'], cells, width),
    ...notes.map(note => note && wrapped(printable(note), width)),
    todo.length > 0 && `What to do:\n${todo.join('')}`,
    // A reader who keeps the root hash can detect later changes.
    receipt && `Receipt ${receipt.leafIndex}. Root hash of all receipts:\n${receipt.rootHash}\n`,
  ]
    .filter(Boolean)
    .join('\n');
}

/**
 * What a mail, a ping and a terminal begin with after a run that did not end with 0: whose it was, how it ended, and since when the
 * mirror is complete; the oldest list counts. `lists` is empty if they could not be read.
 */
export function firstLine(
  whose: string,
  run: SharedRunSummary,
  lists: readonly Freshness[],
  nowMs: number,
): string {
  const { status, share } = run;
  const verdict = status === 'completed' ? 'completed, no share' : status;
  const why = whyOf(run) || share?.error?.code;
  const said = [`${whose}${verdict}${why && why !== status ? ` (${why})` : ''}.`];
  const [oldest] = lists.toSorted((a, b) => (a.readSince ?? '').localeCompare(b.readSince ?? ''));
  if (oldest?.runId === null) said.push('The mirror was never complete.');
  else if (oldest)
    said.push(`The mirror is complete as of run ${oldest.runId}, ${ago(oldest.readSince, nowMs)}.`);
  return printable(said.join(' '));
}

/** What a note says of several lists: without the path of one, and without the tries that only the first of them got. */
export function causeOf(text: string): string {
  return text
    .replace(/(?<=GET \S+\/v2\/)(?!v2\/)\S+/, '…')
    .replace('; it was tried again until DOCMIRROR_GIVE_UP_AFTER was over', '');
}

function headlineOf({ runId, status, durationMs, resources }: SharedRunSummary): string {
  const name = runId === null ? 'Dry run' : `Run ${runId}`;
  const end = runId === null ? '; nothing was changed' : '';
  const open = resources.filter(list => list.status !== 'completed').length;
  const isProven = resources.every(({ completeness }) => completeness === 'proven');
  const whole = `All lists ${isProven ? 'proven' : 'complete (incremental since the last full sync)'}`;
  const proof = open > 0 ? `Not complete: ${open} of ${counted(resources.length, 'list')}` : whole;
  const changes = Object.entries(totalsOf(resources)).filter(([, sum]) => sum > 0);
  const news = changes.map(([word, sum]) => `${count(sum)} ${word}`).join(', ') || 'Nothing new';
  return `${name} ${status} in ${duration(durationMs)}${end}. ${news}. ${proof}.`;
}

/** The news of a list's fields, a line each. */
function fieldNotes({ resource, newFields, restlessFields }: ListOutcome): string[] {
  const ofRecords = fieldsText(newFields.filter(field => !field.isInAnswer));
  const ofAnswers = fieldsText(newFields.filter(field => field.isInAnswer));
  return [
    ofRecords && `new at the service: ${ofRecords}. The values are in _extra.`,
    ofAnswers && `new beside the items of its answers, and not kept: ${ofAnswers}.`,
    ...restlessFields.map(field => {
      const isKnown = fieldsOf(resource).some(({ name }) => name === field);
      const advice = isKnown
        ? ''
        : ` If that is so in each run, set DOCMIRROR_IGNORE_FIELDS=${resource}.${field}.`;
      return `${field} differs in most records from what it was before.${advice}`;
    }),
  ].flatMap(note => (note === '' ? [] : [`${resource}: ${note}`]));
}

/** A text in lines of at most `width`, with an indent after the first. The lines after its own first one are not cut. */
function wrapped(text: string, width: number): string {
  const [first = '', ...whole] = text.split('\n');
  return [...wrap(first, width, '  '), ...whole].map(line => `${line}\n`).join('');
}

// What there is to say of a list, also in the status and the report.

/** The most reasons of rejections, and the most fields, that are named. */
const [reasonsMax, fieldsMax] = [3, 20];

/** What needs a look after a run of a list, and what to do: commands have lines of their own, and `{list}` stands for the list's flag. */
export function notesOn(
  list: Omit<RecordedList, 'runId' | 'recordCount'>,
  rejections: readonly { readonly reason: string; readonly count: number }[],
  isDryRun = false,
): { readonly text: string; readonly advice: string | null }[] {
  const { error, status, completeness, rejected, reason, removalsWithheld } = list;
  const notes: ReturnType<typeof notesOn> = [];
  const kept = keptText(list, isDryRun);
  if (error !== null || !['completed', 'partial'].includes(status))
    notes.push({
      text:
        error === null
          ? 'Its process died.'
          : [`${error.message} [${error.code}]`, kept].filter(Boolean).join(' '),
      advice:
        adviceOn(error?.code ?? '', list.firstPageNo !== null, error?.message) ??
        'The mirror keeps what it had, and the next run tries again.',
    });
  if (completeness === 'unproven' && kept === null)
    notes.push({
      text: `unproven: ${reason}.`,
      advice: list.reasons?.some(({ code }) => code === 'page_failed')
        ? aboutFindings.page_failed.advice
        : 'The next run tries again. If this stays, mend what the reason names, or sync when the list is quiet:\n    docmirror sync {list} --full',
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
    const cause =
      rejected > 0
        ? 'records were rejected that have no readable id'
        : 'it is more than DOCMIRROR_MAX_REMOVALS allows';
    const text = `the removal of ${counted(removalsWithheld, 'record')} was withheld, because ${cause}.`;
    const command = 'docmirror sync {list} --allow-mass-removal';
    const advice = `See which records. If they are really gone, remove them:\n    ${command} --dry-run\n    ${command}`;
    notes.push({ text, advice: rejected > 0 || completeness === 'unproven' ? null : advice });
  }
  return notes;
}

/** How much is in the mirror of a reading that ended early, or would be after a run; null if it did not, or if nothing of it is. */
export function keptText(list: Omit<RecordedList, 'runId' | 'recordCount'>, isDryRun = false): string | null {
  const { status, completeness, recordsSeen, totalRecordCount, reason } = list;
  if (completeness === null || ['completed', 'partial'].includes(status)) return null;
  const total = totalRecordCount === null ? '' : ` of ${count(totalRecordCount)}`;
  const seen = `${count(recordsSeen)}${total} records`;
  if (isDryRun) return `A run would have kept ${seen}.`;
  return [`Kept ${seen}: ${reason}.`, paceText(list)].filter(Boolean).join(' ');
}

/** How long a whole reading takes, if a deadline ended this one; null if nothing is known of that. */
function paceText(list: Parameters<typeof keptText>[0]): string | null {
  const { error, startedAt, completedAt, requests, pageCount } = list;
  const tookMs = Date.parse(completedAt ?? '') - Date.parse(startedAt);
  if (error?.code !== 'deadline' || pageCount === null || !(tookMs > 0)) return null;
  return `At this pace, a whole reading takes about ${duration((tookMs / requests) * pageCount)}.`;
}

/** Fields with their types, in one line: `owner (null, string), tags (array)`. */
export function fieldsText(fields: Iterable<{ readonly field: string; readonly jsonType: string }>): string {
  const named = [...Map.groupBy(fields, ({ field }) => field)].map(([name, types]) =>
    printable(`${name} (${types.map(({ jsonType }) => jsonType).join(', ')})`),
  );
  return [...named.slice(0, fieldsMax), ...(named.length > fieldsMax ? ['…'] : [])].join(', ');
}

/** How many records a run changed in all of its lists. */
export function totalsOf(resources: readonly Pick<RecordedList, 'inserted' | 'updated' | 'removed'>[]) {
  const sumOf = (what: 'inserted' | 'updated' | 'removed') =>
    resources.reduce((sum, list) => sum + list[what], 0);
  return { new: sumOf('inserted'), changed: sumOf('updated'), removed: sumOf('removed') };
}

interface RunEnd {
  readonly error: RunError | null;
  readonly resources: readonly (ListEnd & { readonly resource: string })[];
}

/** Why a run is not complete, in few words: a cause of all its lists alone, others after their lists; empty if nothing is known. */
export function whyOf({ error, resources }: RunEnd): string {
  const causes = resources.flatMap(list => {
    const cause = list.error?.code ?? openPointsOf(list)[0]?.words;
    return cause === undefined ? [] : [{ resource: list.resource, cause }];
  });
  const texts = [...Map.groupBy(causes, ({ cause }) => cause)].map(([cause, of]) => {
    const names = of.map(({ resource }) => resource).join(', ');
    return of.length === resources.length ? cause : `${names}: ${cause}`;
  });
  return texts.join('; ') || (error?.code ?? '');
}
