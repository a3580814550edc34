import type { Receipt } from '../audit/receipt.ts';
import { count, counted, instant } from './numbers.ts';
import { renderTable } from './table.ts';

/** Receipts for people, a row each. */
export function receiptsText(
  rows: readonly { readonly leafIndex: number; readonly receipt: Receipt }[],
  width = Number.POSITIVE_INFINITY,
): string {
  if (rows.length === 0) return 'There is no receipt yet. A run writes one: "docmirror sync".\n';
  return renderTable(
    ['Leaf', 'Kind', 'When', 'By', 'What'],
    rows.map(({ leafIndex, receipt }) => [String(leafIndex), receipt.kind, ...cells(receipt)]),
    width,
  );
}

function cells(receipt: Receipt): [when: string, by: string, what: string] {
  switch (receipt.kind) {
    case 'run': {
      const { runId, status, startedAt, actor } = receipt;
      return [instant(startedAt), actor, `run ${count(runId)}, ${status}`];
    }
    case 'upgrade':
      return [instant(receipt.at), '', `from ${receipt.fromVersion} to ${receipt.docmirrorVersion}`];
    case 'prune':
      return [instant(receipt.at), '', `versions that ended before ${instant(receipt.before)} were deleted`];
    case 'rebuild':
      return [instant(receipt.at), receipt.actor, 'rows that another program altered were dropped'];
    case 'erase': {
      const { at, actor, resource, recordId, versions } = receipt;
      const what =
        resource === 'rejected-records' ? 'the text' : `the text of ${counted(versions, 'version')}`;
      return [instant(at), actor, `${resource} ${recordId}: ${what} was erased`];
    }
  }
}
