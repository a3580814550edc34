import { cut } from './cut.ts';
import { count } from './numbers.ts';
import type { OutputOf } from './outputs/outputs.ts';
import { renderTable } from './table.ts';

/** The most of a record's text that is shown, in characters. */
const textMax = 60;

/** Rejected records for people: the reasons, then some of the records. */
export function rejectedText({ counts, records }: OutputOf['rejected'], width: number): string {
  if (counts.length === 0) return 'No record was rejected.\n';
  const total = counts.reduce((sum, each) => sum + each.count, 0);
  const reasons = renderTable(
    ['List', { right: 'Records' }, 'Still', { right: 'First run' }, { right: 'Last run' }, 'Reason'],
    counts.map(each => [
      each.resource,
      count(each.count),
      each.isCurrent ? 'yes' : 'no',
      String(each.firstRunId),
      String(each.lastRunId),
      each.reason,
    ]),
    width,
  );
  const shown = renderTable(
    [{ right: 'Id' }, 'List', { right: 'Page' }, { right: 'Item' }, { right: 'Last run' }, 'Record'],
    records.map(each => [
      String(each.id),
      each.resource,
      String(each.pageNo),
      String(each.position),
      String(each.lastRunId),
      textOf(each),
    ]),
    width,
  );
  const left = total > records.length ? `… and ${count(total - records.length)} more\n` : '';
  const advice = counts.some(({ isCurrent }) => isCurrent)
    ? '\nTell those who run the service. Nothing is removed from a list while some of its records are rejected.\n'
    : '';
  return `${reasons}\n${shown}${left}${advice}`;
}

/** A webhook's text can contain a secret, in its endpoint. */
function textOf({ record, resource }: OutputOf['rejected']['records'][number]): string {
  if (record === null) return '(no text here)';
  return resource === 'webhooks' ? '(--json shows it)' : cut(record, textMax);
}
