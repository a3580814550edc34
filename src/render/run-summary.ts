import { fieldsOf, lists } from '../contract/lists.ts';
import { adviceOn } from '../errors.ts';
import { findingWords, sentenceOf, sentencesOf } from '../findings.ts';
import { printable } from '../printable.ts';
import { faultsOf, type ListEnd, verdictText } from '../store/read/list-state.ts';
import type { Freshness } from '../store/read/runs/freshness.ts';
import { hasNothingOpen } from '../store/tables/accepted.ts';
import type { ListOutcome, RecordedList, RunError } from '../store/tables/run.ts';
import { factKindOf } from '../store/tables/service-facts.ts';
import { ago, count, counted, duration, told } from './numbers.ts';
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
  const { resources, receipt, rowsDropped, versionsPruned, accepted, serviceChanges, share } = summary;
  const cells = resources.map(list => {
    const counts = [list.recordsSeen, list.inserted, list.updated, list.removed].map(count);
    return [list.resource, ...counts, verdictText(list)];
  });
  const ofLists = resources.flatMap(list => {
    const { resource } = list;
    const reasons = rejections.filter(each => each.resource === resource);
    const message = list.errorOfAnyList ?? list.error?.message ?? '';
    const ofAnyList = { ...list, error: list.error && { ...list.error, message } };
    const [own, shared] = [list, ofAnyList].map(each => notesOn(each, reasons, summary.runId === null));
    return (own ?? []).map((note, at) => ({ ...note, resource, cause: shared?.[at]?.text }));
  });
  const causes = [...Map.groupBy(ofLists, ({ cause }) => cause)].map(([cause, of]) => {
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
    accepted.length > 0 &&
      `Accepted, and so no reason to alarm: ${accepted.join(', ')}. "docmirror accept" shows what, by whom, and until when.`,
    ...causes,
    ...resources.flatMap(fieldNotes),
    ...serviceChanges.map(changeText),
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
export function firstLine(whose: string, run: SharedRunSummary, lists: readonly Freshness[], nowMs: number) {
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

function headlineOf({ runId, status, durationMs, resources }: SharedRunSummary): string {
  const name = runId === null ? 'Dry run' : `Run ${runId}`;
  const end = runId === null ? '; nothing was changed' : '';
  const open = resources.filter(list => !hasNothingOpen(list)).length;
  const isProven = resources.every(({ completeness }) => completeness === 'proven');
  const whole = `All lists ${isProven ? 'proven' : 'complete (incremental since the last full sync)'}`;
  const proof = open > 0 ? `Not complete: ${open} of ${counted(resources.length, 'list')}` : whole;
  const changes = Object.entries(totalsOf(resources)).filter(([, sum]) => sum > 0);
  const news = changes.map(([word, sum]) => `${count(sum)} ${word}`).join(', ') || 'Nothing new';
  return `${name} ${status} in ${duration(durationMs)}${end}. ${news}. ${proof}.`;
}

/** A fact of the service that is no longer as it was. */
function changeText({ resource, fact, value, previousValue }: OutputOf['sync']['serviceChanges'][number]) {
  const name = fact.slice(fact.indexOf('.') + 1);
  const what = `${factKindOf(fact)?.says ?? fact}${name === fact ? '' : ` (${name})`}`;
  const before = previousValue === null ? 'is new' : `is ${told(value)}, was ${told(previousValue)}`;
  return `the service has changed: ${resource}: ${what} ${before}.`;
}

/** What runs tell of fields and times for as long as it is so, a sentence each. */
export function standingNotes(reasons: RecordedList['reasons'], times: ListOutcome['unreadableTimes']) {
  return (reasons ?? []).flatMap(each => {
    if (each.code !== 'field_gone' && each.code !== 'time_unreadable') return [];
    const seen = each.code === 'time_unreadable' && times;
    const example = seen ? `, for example ${JSON.stringify(seen.example)}` : '';
    return [printable(`${sentenceOf(each)}${example}. ${findingWords[each.code].advice}`)];
  });
}

/** The news of a list's fields, a line each. */
function fieldNotes(list: ListOutcome): string[] {
  const { resource, reasons, newFields, restlessFields, unreadableTimes } = list;
  const ofRecords = fieldsText(newFields.filter(field => !field.isInAnswer));
  const ofAnswers = fieldsText(newFields.filter(field => field.isInAnswer));
  return [
    ...standingNotes(reasons, unreadableTimes),
    ofRecords && `new at the service: ${ofRecords}. The values are in _extra.`,
    ofAnswers && `new beside the items of its answers, and not kept: ${ofAnswers}.`,
    ...restlessFields.map(field => {
      const said = `${field} differs in most records from what it was before.`;
      if (fieldsOf(resource).some(({ name }) => name === field)) return said;
      return `${said} If that is so in each run, set DOCMIRROR_IGNORE_FIELDS=${resource}.${field}.`;
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

/** A list that was read by a run, or is still read. */
type ReadList = Omit<RecordedList, 'runId' | 'recordCount'>;

/** What needs a look after a run of a list, and what to do: commands have lines of their own, and `{list}` stands for the list's flag. */
export function notesOn(
  list: ReadList,
  rejections: readonly { readonly reason: string; readonly count: number }[],
  isDryRun = false,
): { readonly text: string; readonly advice: string | null }[] {
  const { error, completeness, rejected, reason, removalsWithheld } = list;
  const notes: ReturnType<typeof notesOn> = [];
  const kept = keptText(list, isDryRun);
  const seen = { hasAnswered: list.firstPageNo !== null, isLeftAlone: list.retryAfterUntil !== null };
  if (error !== null)
    notes.push({
      text: [`${error.message} [${error.code}]`, kept].filter(Boolean).join(' '),
      advice: adviceOn(error.code, seen) ?? triesAgain,
    });
  else if (faultsOf(list)[0]?.state === 'died') notes.push({ text: 'Its process died.', advice: triesAgain });
  const reasons = list.reasons ?? [];
  const ofRecords = reasons.filter(({ code }) => code === 'record_rejected' || code === 'removals_withheld');
  const isOpen = (code: string) => list.open == null || list.open.includes(code);
  const open = reasons.filter(each => !ofRecords.includes(each) && isOpen(each.code));
  const isUnproven = completeness === 'unproven' && faultsOf(list).some(({ state }) => state === 'unproven');
  if (isUnproven && kept === null)
    notes.push({ text: `unproven: ${sentencesOf(open) ?? reason}.`, advice: adviceOnProof(open) });
  const replaced = open.find(({ code }) => code === 'records_replaced');
  if (replaced !== undefined)
    notes.push({ text: `${sentenceOf(replaced)}.`, advice: findingWords.records_replaced.advice });
  if (rejected > 0 && isOpen('record_rejected')) {
    const named = rejections.slice(0, reasonsMax).map(each => `${each.reason} (${count(each.count)})`);
    const why = ['could not be read', named.join('; ')].filter(Boolean).join(': ');
    notes.push({
      text: `${counted(rejected, 'record')} ${why}. "docmirror rejected" shows more.`,
      advice: findingWords.record_rejected.advice,
    });
  }
  if (removalsWithheld > 0) {
    const held = reasons.find(each => each.code === 'removals_withheld');
    // Runs before 0.6 do not say which of both it was.
    const isOfRejected = held === undefined ? rejected > 0 : held.why === 'rejected';
    const cause = isOfRejected
      ? 'records were rejected that have no readable id'
      : 'it is more than DOCMIRROR_MAX_REMOVALS allows';
    const { advice } = findingWords.removals_withheld;
    notes.push({
      text: `the removal of ${counted(removalsWithheld, 'record')} was withheld, because ${cause}.`,
      advice: isOfRejected || completeness === 'unproven' ? null : advice,
    });
  }
  return notes;
}

const triesAgain = 'The mirror keeps what it had, and the next run tries again.';

/** What to do if a list is not proven: the advice on the finding that says most. */
function adviceOnProof(findings: NonNullable<ReadList['reasons']>): string {
  const vague: readonly string[] = ['not_in_order', 'changes_too_fast', 'ended_early'];
  const said = findings.find(({ code }) => !vague.includes(code)) ?? findings.at(-1);
  if (said !== undefined) return findingWords[said.code].advice;
  return 'The next run tries again. If this stays, mend what the reason names, or sync when the list is quiet:\n    docmirror sync {list} --full';
}

/** How much is in the mirror of a reading that ended early, or would be after a run; null if it did not, or if nothing of it is. */
export function keptText(list: ReadList, isDryRun = false): string | null {
  const { status, completeness, recordsSeen, totalRecordCount, reason } = list;
  if (completeness === null || ['completed', 'partial'].includes(status)) return null;
  const total = totalRecordCount === null ? '' : ` of ${count(totalRecordCount)}`;
  const seen = `${count(recordsSeen)}${total} records`;
  if (isDryRun) return `A run would have kept ${seen}.`;
  return [`Kept ${seen}: ${reason}.`, paceText(list)].filter(Boolean).join(' ');
}

/** How long a whole reading takes, if a deadline ended this one; null if nothing is known of that. */
function paceText(list: ReadList): string | null {
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
    const cause = list.error?.code ?? faultsOf(list)[0]?.words;
    return cause === undefined ? [] : [{ resource: list.resource, cause }];
  });
  const texts = [...Map.groupBy(causes, ({ cause }) => cause)].map(([cause, of]) => {
    const names = of.map(({ resource }) => resource).join(', ');
    return of.length === resources.length ? cause : `${names}: ${cause}`;
  });
  return texts.join('; ') || (error?.code ?? '');
}
