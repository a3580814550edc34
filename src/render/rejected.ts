import { cut } from './cut.ts';
import { count } from './numbers.ts';
import type { OutputOf } from './outputs/outputs.ts';
import { renderTable } from './table.ts';

/** The most of a record's text that is shown, in characters. */
const textMax = 60;

/** Rejected records for people: the reasons, then some of the records. */
export function rejectedText({ counts, records }: OutputOf['rejected'], width: number): string {
  if (counts.length === 0) return 'No record was rejected.\n';
  const rest = counts.reduce((sum, each) => sum + each.count, 0) - records.length;
  const reasons = counts.map(each => {
    const runs = [String(each.firstRunId), String(each.lastRunId)];
    return [each.resource, count(each.count), each.isCurrent ? 'yes' : 'no', ...runs, each.reason];
  });
  const shown = records.map(each => {
    const numbers = [each.pageNo, each.position, each.lastRunId].map(String);
    return [String(each.id), each.resource, ...numbers, textOf(each)];
  });
  return [
    renderTable(['List', 'Records', 'Still', 'First run', 'Last run', 'Reason'], reasons, width),
    '\n',
    renderTable(['Id', 'List', 'Page', 'Item', 'Last run', 'Record'], shown, width),
    rest > 0 ? `… and ${count(rest)} more\n` : '',
    counts.some(({ isCurrent }) => isCurrent)
      ? '\nTell those who run the service. Nothing is removed from a list while some of its records are rejected.\n'
      : '',
  ].join('');
}

/** A webhook's text can contain a secret, in its endpoint. */
function textOf({ record, resource }: OutputOf['rejected']['records'][number]): string {
  if (record === null) return '(no text here)';
  return resource === 'webhooks' ? '(--json shows it)' : cut(record, textMax);
}
