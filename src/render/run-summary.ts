import { printable } from '../printable.ts';
import type { ListOutcome } from '../sync/ports.ts';
import type { RunSummary } from '../sync/run.ts';
import { count, duration } from './numbers.ts';
import { renderTable } from './table.ts';

/** The summary as one JSON object on one line: what `sync --json` prints. */
export function summaryJson(summary: RunSummary): string {
  const { completedAt, ...rest } = summary;
  const resources = summary.resources.map(
    ({ startedAt: _started, completedAt: _completed, ...outcome }) => outcome,
  );
  const { runId, status, trigger, startedAt, durationMs, error, receipt } = rest;
  return `${JSON.stringify({ runId, status, trigger, startedAt, completedAt, durationMs, error, resources, receipt })}\n`;
}

/** The summary for people: a row a list, then what needs attention and what to do about it. */
export function summaryText(summary: RunSummary): string {
  const table = renderTable(
    [
      { name: 'List' },
      { name: 'Status' },
      { name: 'Seen', align: 'right' },
      { name: 'New', align: 'right' },
      { name: 'Changed', align: 'right' },
      { name: 'Removed', align: 'right' },
      { name: 'Completeness' },
    ],
    summary.resources.map(outcome => [
      outcome.resource,
      outcome.status,
      count(outcome.recordsSeen),
      count(outcome.inserted),
      count(outcome.updated),
      count(outcome.removed),
      outcome.completeness ?? '–',
    ]),
  );
  const name = summary.runId === null ? 'Dry run' : `Run ${summary.runId}`;
  const headline = `${name} ${summary.status} in ${duration(summary.durationMs)}${summary.runId === null ? '; nothing was changed' : ''}.`;
  const notes = summary.resources.flatMap(notesOn);
  return `${table}\n${[headline, ...notes.map(printable), ...receiptLine(summary)].join('\n')}\n`;
}

/** What the log of receipts comes to with this run: whoever keeps it can tell later whether anything was changed. */
function receiptLine({ receipt }: RunSummary): string[] {
  return receipt === null ? [] : [`Receipt ${receipt.leafIndex}; the root of all is ${receipt.rootHash}.`];
}

/** What a person should know of how a list ended, a line each. */
export function notesOn(outcome: ListOutcome): string[] {
  const { resource, error, reason, rejected, removalsWithheld, completeness } = outcome;
  const notes: string[] = [];
  if (error !== null && error.code !== 'cancelled') notes.push(`${resource}: ${error.message}`);
  if (completeness === 'unproven') {
    notes.push(`${resource}: unproven, so nothing was removed: ${reason}. The next run tries again.`);
  }
  if (rejected > 0) {
    notes.push(
      `${resource}: ${count(rejected)} records could not be read; they stand whole in rejected_records.`,
    );
  }
  if (removalsWithheld > 0) notes.push(withheldNote(outcome));
  return notes;
}

function withheldNote({ resource, removalsWithheld, completeness, rejected }: ListOutcome): string {
  const what = `${resource}: ${count(removalsWithheld)} records were not seen, but their removal was withheld`;
  if (completeness === 'unproven') return `${what}, for the list is unproven.`;
  if (rejected > 0) return `${what}, for records were rejected.`;
  return `${what}, for they are more than DOCMIRROR_MAX_REMOVALS allows. If this is right, run "docmirror sync --resource ${resource} --allow-mass-removal".`;
}
