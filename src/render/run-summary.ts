import type { ListOutcome } from '../contract/run.ts';
import { adviceOn } from '../errors.ts';
import { stateText } from '../list-state.ts';
import { printable } from '../printable.ts';
import type { RejectionCount } from '../store/read/run-reader.ts';
import type { RunSummary } from '../sync/run.ts';
import { count, counted, duration } from './numbers.ts';
import type { SyncOutput } from './outputs/runs.ts';
import { fieldsText } from './status.ts';
import { renderTable } from './table.ts';
import { wrap } from './wrap.ts';

/** The share that is written after a run. */
export type RunShare = NonNullable<SyncOutput['share']>;

/** How a run ended, and the share after it; null if none is set. */
export interface SharedRunSummary extends RunSummary {
  readonly share: RunShare | null;
}

/** Why records of a list were rejected, and how many. */
export type RejectionReason = Pick<RejectionCount, 'resource' | 'reason' | 'count'>;

/** The output of `sync --json`. */
export function syncOutputOf(summary: SharedRunSummary): SyncOutput {
  const resources = summary.resources.map(
    ({ startedAt: _started, completedAt: _completed, ...outcome }) => outcome,
  );
  return { ...summary, resources };
}

/**
 * The summary for people: what changed, whether it is proven, why not, and what to do. Lines are no longer than `width`
 * if possible.
 *
 * @param place the flags that name the mirror, for the commands in the advice: without them they would name another
 * one.
 * @param rejections why records were rejected, the most frequent reasons first.
 */
export function summaryText(
  summary: SharedRunSummary,
  width = Number.POSITIVE_INFINITY,
  place = '',
  rejections: readonly RejectionReason[] = [],
): string {
  const { runId, status, durationMs, resources, error } = summary;
  const name = runId === null ? 'Dry run' : `Run ${runId}`;
  const end = runId === null ? '; nothing was changed' : '';
  const headline = `${name} ${status} in ${duration(durationMs)}${end}. ${totalsOf(resources)}. ${proofOf(resources)}.`;
  const stop = status === 'cancelled' && error !== null ? ` ${error.message} [${error.code}]` : '';
  const { rowsDropped, versionsPruned } = summary;
  const rebuilt =
    rowsDropped === null
      ? []
      : [
          `Rebuilt: dropped ${counted(rowsDropped, 'row')} that another program had altered. The history does not mention this.`,
        ];
  const pruned =
    versionsPruned === 0
      ? []
      : [`Deleted ${counted(versionsPruned, 'old version')} from the history (DOCMIRROR_KEEP_HISTORY).`];
  const notes = [
    ...rebuilt,
    ...pruned,
    ...resources.flatMap(outcome => notesOn(outcome, rejections)).map(printable),
  ];
  const todo = adviceOnAll(resources).map(text => placed(text, place));
  return [
    listsText(resources, width),
    '\n',
    wrapped(`${headline}${stop}`, width),
    ...[...notes, ...shareNote(summary)].map(note => `\n${wrapped(note, width)}`),
    ...(todo.length === 0 ? [] : ['\nWhat to do:\n', ...todo.map(text => wrapped(`- ${text}`, width))]),
    ...(todo.length === 0 || summary.receipt === null ? [] : ['\n']),
    receiptLine(summary),
  ].join('');
}

function shareNote({ share }: SharedRunSummary): string[] {
  if (share === null || share.error === null) return [];
  return [
    printable(`The share ${share.path} could not be made: ${share.error.message} [${share.error.code}]`),
  ];
}

/** An advice whose commands, each on its own line, name the mirror. */
function placed(advice: string, place: string): string {
  return place === '' ? advice : advice.replace(/^ {4}docmirror .*$/gm, command => `${command} ${place}`);
}

/** The root hash of all receipts after this run. A reader who keeps it can detect later changes. */
function receiptLine({ receipt }: RunSummary): string {
  return receipt === null
    ? ''
    : `Receipt ${receipt.leafIndex}. Root hash of all receipts:\n${receipt.rootHash}\n`;
}

function listsText(resources: readonly ListOutcome[], width: number): string {
  return renderTable(
    ['List', { right: 'Seen' }, { right: 'New' }, { right: 'Changed' }, { right: 'Removed' }, 'Result'],
    resources.map(outcome => [
      outcome.resource,
      count(outcome.recordsSeen),
      count(outcome.inserted),
      count(outcome.updated),
      count(outcome.removed),
      stateText({ ...outcome, errorCode: outcome.error?.code ?? null }),
    ]),
    width,
  );
}

function totalsOf(resources: readonly ListOutcome[]): string {
  const sum = (field: 'inserted' | 'updated' | 'removed') =>
    resources.reduce((total, outcome) => total + outcome[field], 0);
  const [inserted, updated, removed] = [sum('inserted'), sum('updated'), sum('removed')];
  const parts = [
    ...(inserted > 0 ? [`${count(inserted)} new`] : []),
    ...(updated > 0 ? [`${count(updated)} changed`] : []),
    ...(removed > 0 ? [`${count(removed)} removed`] : []),
  ];
  return parts.length === 0 ? 'Nothing new' : parts.join(', ');
}

function proofOf(resources: readonly ListOutcome[]): string {
  const open = resources.filter(({ status }) => status !== 'completed').length;
  if (open > 0)
    return `${open} of ${counted(resources.length, 'list')} ${open === 1 ? 'is' : 'are'} not complete`;
  return resources.every(({ completeness }) => completeness === 'proven')
    ? 'All lists proven'
    : 'All lists complete (incremental since the last full sync)';
}

/** Why a list is not complete, a line for each reason. */
function notesOn(outcome: ListOutcome, rejections: readonly RejectionReason[]): string[] {
  const { resource, error, reason, rejected, removalsWithheld, completeness } = outcome;
  const notes: string[] = [];
  if (error !== null && !isStop(error.code)) notes.push(`${resource}: ${error.message} [${error.code}]`);
  if (completeness === 'unproven') {
    notes.push(`${resource}: unproven: ${reason}.`);
  }
  if (rejected > 0) {
    const reasons = rejections.filter(each => each.resource === resource);
    notes.push(
      `${resource}: ${counted(rejected, 'record')} could not be read${reasonsText(reasons)}. "docmirror rejected" shows more.`,
    );
  }
  if (removalsWithheld > 0) notes.push(withheldNote(outcome));
  return [...notes, ...fieldNotes(outcome)];
}

/** The news of a list's fields, a line each. */
function fieldNotes({ resource, newFields, emptiedColumns }: ListOutcome): string[] {
  const ofRecords = newFields.filter(field => !field.isInAnswer);
  const ofAnswers = newFields.filter(field => field.isInAnswer);
  const added: string[] = [];
  if (ofRecords.length > 0)
    added.push(`${resource}: new at the service: ${fieldsText(ofRecords)}. The values are in _extra.`);
  if (ofAnswers.length > 0)
    added.push(`${resource}: new beside the items of its answers, and not kept: ${fieldsText(ofAnswers)}.`);
  const emptied = emptiedColumns.map(
    column => `${resource}: ${column} has become empty: each record had a value in it before.`,
  );
  return [...added, ...emptied];
}

/** The most reasons that are named. */
const reasonsMax = 3;

function reasonsText(reasons: readonly RejectionReason[]): string {
  const named = reasons.slice(0, reasonsMax).map(({ reason, count: times }) => `${reason} (${count(times)})`);
  const more = reasons.length > reasonsMax ? `; ${counted(reasons.length - reasonsMax, 'more reason')}` : '';
  return named.length === 0 ? '' : `: ${named.join('; ')}${more}`;
}

/** Whether the run was told to stop, or reached its deadline. The headline says so already. */
function isStop(code: string): boolean {
  return code === 'cancelled' || code === 'deadline';
}

function withheldNote({ resource, removalsWithheld, rejected, changedIdentity }: ListOutcome): string {
  const what = `${resource}: the removal of ${counted(removalsWithheld, 'record')} was withheld`;
  if (rejected > 0) return `${what}, because records were rejected that have no readable id.`;
  const limit = `${what}, because it is more than DOCMIRROR_MAX_REMOVALS allows.`;
  return changedIdentity === null
    ? limit
    : `${limit} As many new records differ in ${changedIdentity} only: probably the service now writes this field in another way.`;
}

/** A placeholder in an advice for the flags that name its lists. */
const itsLists = '{lists}';

/** Advice for the lists that are not complete: each piece of advice once, its commands with all lists that need it. */
function adviceOnAll(resources: readonly ListOutcome[]): string[] {
  const each = resources.flatMap(outcome =>
    adviceOnList(outcome).map(text => ({ text, list: outcome.resource })),
  );
  const byText = Map.groupBy(each, ({ text }) => text);
  return [...byText].map(([text, of]) =>
    text.replaceAll(itsLists, of.map(({ list }) => `--resource ${list}`).join(' ')),
  );
}

const adviceAtLeast = 'The mirror keeps what it had, and the next run tries again.';

/** Advice for a list that is not complete, with `itsLists` in place of its name; a command has its own line. */
function adviceOnList({ error, completeness, rejected, removalsWithheld }: ListOutcome): string[] {
  if (error !== null) return isStop(error.code) ? [] : [adviceOn(error.code) ?? adviceAtLeast];
  if (completeness === 'unproven') {
    return [
      `The next run tries again. If this stays, sync when the list is quiet:\n    docmirror sync ${itsLists} --full`,
    ];
  }
  if (rejected > 0) {
    return ['Look at "docmirror rejected", and tell those who run the service.'];
  }
  if (removalsWithheld === 0) return [];
  const command = `docmirror sync ${itsLists} --allow-mass-removal`;
  return [
    `See which records. If they are really gone, remove them:\n    ${command} --dry-run\n    ${command}`,
  ];
}

/**
 * A text in lines of at most `width`, with an indent after the first. The lines after its own first one are not cut.
 */
function wrapped(text: string, width: number): string {
  const [first = '', ...whole] = text.split('\n');
  return [...wrap(first, width, '  '), ...whole].map(line => `${line}\n`).join('');
}
