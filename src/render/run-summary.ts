import type { RejectionCount } from '../contract/results.ts';
import type { ListOutcome, RunSummary } from '../contract/run.ts';
import { stateText } from '../list-state.ts';
import { printable } from '../printable.ts';
import { fieldsText, notesOn, totalsOf } from './list-notes.ts';
import { count, counted, duration } from './numbers.ts';
import type { OutputOf } from './outputs/outputs.ts';
import { renderTable } from './table.ts';
import { wrap } from './wrap.ts';

/** The share that is written after a run. */
export type RunShare = NonNullable<OutputOf['sync']['share']>;

/** How a run ended, and the share after it; null if none is set. */
export interface SharedRunSummary extends RunSummary {
  readonly share: RunShare | null;
}

/** The output of `sync --json`. */
export function syncOutputOf(summary: SharedRunSummary): OutputOf['sync'] {
  const resources = summary.resources.map(
    ({ startedAt: _started, completedAt: _completed, ...outcome }) => outcome,
  );
  return { ...summary, resources };
}

/**
 * The summary for people: what changed, whether it is proven, why not, and what to do. Lines are no longer than `width`
 * if possible.
 *
 * @param rejections why records were rejected, the most frequent reasons first.
 */
export function summaryText(
  summary: SharedRunSummary,
  width = Number.POSITIVE_INFINITY,
  rejections: readonly RejectionCount[] = [],
): string {
  const { status, error, resources, receipt } = summary;
  const ofLists = resources.flatMap(outcome => {
    const reasons = rejections.filter(({ resource }) => resource === outcome.resource);
    return notesOn(endOf(outcome), reasons).map(note => ({ ...note, resource: outcome.resource }));
  });
  const stop = status === 'cancelled' && error !== null ? ` ${error.message} [${error.code}]` : '';
  const notes = [
    ...notesOnRun(summary),
    ...ofLists.map(({ resource, text }) => `${resource}: ${text}`),
    ...resources.flatMap(fieldNotes),
  ];
  // Each piece of advice once, its commands with all lists that need it.
  const advised = Map.groupBy(ofLists, ({ advice }) => advice);
  const todo = [...advised].flatMap(([advice, of]) => {
    const flags = of.map(({ resource }) => `--resource ${resource}`).join(' ');
    return advice === null ? [] : [advice.replaceAll('{list}', flags)];
  });
  return [
    listsText(resources, width),
    '\n',
    wrapped(`${headlineOf(summary)}${stop}`, width),
    ...notes.map(note => `\n${wrapped(printable(note), width)}`),
    ...(todo.length === 0 ? [] : ['\nWhat to do:\n', ...todo.map(text => wrapped(`- ${text}`, width))]),
    ...(todo.length === 0 || receipt === null ? [] : ['\n']),
    // A reader who keeps the root hash can detect later changes.
    receipt && `Receipt ${receipt.leafIndex}. Root hash of all receipts:\n${receipt.rootHash}\n`,
  ].join('');
}

/** How the run left a list. That it was told to stop, or reached its deadline, is in the headline. */
function endOf(outcome: ListOutcome) {
  const isStopped = ['cancelled', 'deadline'].includes(outcome.error?.code ?? '');
  const error = isStopped ? null : outcome.error;
  const status = isStopped ? 'partial' : outcome.status;
  return { ...outcome, status, errorCode: error?.code ?? null, errorMessage: error?.message ?? null };
}

function headlineOf({ runId, status, durationMs, resources }: SharedRunSummary): string {
  const name = runId === null ? 'Dry run' : `Run ${runId}`;
  const end = runId === null ? '; nothing was changed' : '';
  const open = resources.filter(list => list.status !== 'completed').length;
  const isProven = resources.every(({ completeness }) => completeness === 'proven');
  const proof =
    open > 0
      ? `${open} of ${counted(resources.length, 'list')} ${open === 1 ? 'is' : 'are'} not complete`
      : `All lists ${isProven ? 'proven' : 'complete (incremental since the last full sync)'}`;
  const { inserted, updated, removed } = totalsOf(resources);
  const changes = Object.entries({ new: inserted, changed: updated, removed }).filter(([, sum]) => sum > 0);
  const news = changes.map(([word, sum]) => `${count(sum)} ${word}`).join(', ') || 'Nothing new';
  return `${name} ${status} in ${duration(durationMs)}${end}. ${news}. ${proof}.`;
}

function notesOnRun({ rowsDropped, versionsPruned, share }: SharedRunSummary): string[] {
  const notes: string[] = [];
  if (rowsDropped !== null)
    notes.push(
      `Rebuilt: dropped ${counted(rowsDropped, 'row')} that another program had altered. The history does not mention this.`,
    );
  if (versionsPruned > 0)
    notes.push(
      `Deleted ${counted(versionsPruned, 'old version')} from the history (DOCMIRROR_KEEP_HISTORY).`,
    );
  if (share?.error)
    notes.push(`The share ${share.path} could not be made: ${share.error.message} [${share.error.code}]`);
  return notes;
}

function listsText(resources: readonly ListOutcome[], width: number): string {
  return renderTable(
    ['List', 'Seen', 'New', 'Changed', 'Removed', 'Result'],
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

/** The news of a list's fields, a line each. */
function fieldNotes({ resource, newFields, emptiedColumns }: ListOutcome): string[] {
  const [ofRecords, ofAnswers] = [false, true].map(inAnswer =>
    fieldsText(newFields.filter(field => Boolean(field.isInAnswer) === inAnswer)),
  );
  const notes: string[] = [];
  if (ofRecords) notes.push(`new at the service: ${ofRecords}. The values are in _extra.`);
  if (ofAnswers) notes.push(`new beside the items of its answers, and not kept: ${ofAnswers}.`);
  for (const column of emptiedColumns)
    notes.push(`${column} has become empty: each record had a value in it before.`);
  return notes.map(note => `${resource}: ${note}`);
}

/** A text in lines of at most `width`, with an indent after the first. The lines after its own first one are not cut. */
function wrapped(text: string, width: number): string {
  const [first = '', ...whole] = text.split('\n');
  return [...wrap(first, width, '  '), ...whole].map(line => `${line}\n`).join('');
}
