import type { Receipt } from '../audit/receipt.ts';
import type { RecordedRun } from '../store/tables/run.ts';
import { count, counted, duration, instant } from './numbers.ts';
import type { OutputOf } from './outputs.ts';
import { totalsOf, whyOf } from './run-summary.ts';
import { cut, linesOf, renderTable } from './table.ts';

// Tables of what runs have left: the runs themselves, the records that they rejected, and the receipts.

/** The run history for people, the newest first. */
export function runsText(runs: readonly RecordedRun[], width: number): string {
  if (runs.length === 0) return 'No run is recorded yet. Make one with "docmirror sync".\n';
  const rows = runs.map(run => runCells(run, instant));
  return renderTable(runColumns, rows, width);
}

/** The columns of a table of runs. */
export const runColumns = ['Run', 'Started', 'Took', 'Status', 'New', 'Changed', 'Removed', 'Why'];

/** A run as a row of it; `when` says a time in words. */
export function runCells(run: RecordedRun, when: (at: string) => string): string[] {
  const { runId, startedAt, completedAt, status, resources } = run;
  const totals = Object.values(totalsOf(resources)).map(count);
  // If the clock was set back meanwhile, the difference means nothing.
  const tookMs = Math.max(0, Date.parse(completedAt ?? '') - Date.parse(startedAt));
  return [String(runId), when(startedAt), duration(tookMs), status, ...totals, whyOf(run)];
}

/** The most of a record's text that is shown, in characters. */
const textMax = 60;

/** Rejected records for people: the reasons, then some of the records. */
export function rejectedText({ counts, records }: OutputOf['rejected'], width: number): string {
  if (counts.length === 0) return 'No record was rejected.\n';
  const rest = counts.reduce((sum, each) => sum + each.count, 0) - records.length;
  const isOpen = counts.some(({ isCurrent }) => isCurrent);
  const reasons = counts.map(each => {
    const runs = [each.firstRunId, each.lastRunId].map(String);
    return [each.resource, count(each.count), each.isCurrent ? 'yes' : 'no', ...runs, each.reason];
  });
  const shown = records.map(({ id, resource, pageNo, position, lastRunId, record }) => {
    // A webhook's text can contain a secret, in its endpoint.
    const said = resource === 'webhooks' ? '(--json shows it)' : cut(record ?? '', textMax);
    const text = record === null ? '(no text here)' : said;
    return [String(id), resource, ...[pageNo, position, lastRunId].map(String), text];
  });
  return linesOf([
    renderTable(['List', 'Records', 'Still', 'First run', 'Last run', 'Reason'], reasons, width),
    '',
    renderTable(['Id', 'List', 'Page', 'Item', 'Last run', 'Record'], shown, width),
    rest > 0 && `… and ${count(rest)} more`,
    isOpen && '\nTell those who run the service. The mirror keeps what it had of these records.',
  ]);
}

/** Receipts for people, a row each. */
export function receiptsText(rows: readonly { leafIndex: number; receipt: Receipt }[], width: number) {
  if (rows.length === 0) return 'There is no receipt yet. A run writes one: "docmirror sync".\n';
  const cells = rows.map(({ leafIndex, receipt }) => {
    const at = receipt.kind === 'run' ? receipt.startedAt : receipt.at;
    const by = 'actor' in receipt ? receipt.actor : '';
    return [String(leafIndex), receipt.kind, instant(at), by, receiptWords(receipt)];
  });
  return renderTable(['Leaf', 'Kind', 'When', 'By', 'What'], cells, width);
}

function receiptWords(receipt: Receipt): string {
  switch (receipt.kind) {
    case 'run':
      return `run ${count(receipt.runId)}, ${receipt.status}`;
    case 'upgrade':
      return `from ${receipt.fromVersion} to ${receipt.docmirrorVersion}`;
    case 'prune':
      return `versions that ended before ${instant(receipt.before)} were deleted`;
    case 'rebuild':
      return 'rows that another program altered were dropped';
    case 'erase':
      return `${receipt.resource} ${receipt.recordId}: the text was erased`;
    case 'accept':
      return `${receipt.resource} ${receipt.code}: accepted as ${receipt.id}`;
    case 'withdraw':
      return `acceptance ${receipt.id} was withdrawn`;
    case 'restore':
      return `restored from a backup as of run ${count(receipt.fromRunId)}; left behind: ${receipt.leftBehind === null ? 'not known' : counted(receipt.leftBehind.length, 'receipt')}`;
  }
}
