import { printable } from '../printable.ts';
import { shownEndpoint, withoutAddressSecrets } from './endpoint.ts';
import { count } from './numbers.ts';

/** A change as it is shown; `record` and `before` are JSON texts. */
export interface ShownChange {
  readonly resource: string;
  readonly operation: string;
  readonly recordId: number;
  readonly record: string;
  readonly before: string | null;
}

const marks: Record<string, string> = { insert: '+', update: '~', removal: '−' };

/** Changes for people, a line each, cut to the terminal's width; `total` may be more than are shown. */
export function changesText(changes: readonly ShownChange[], total: number, width: number): string {
  const lines = changes.map(change =>
    cut(
      `${marks[change.operation] ?? '?'} ${change.resource} ${change.recordId}  ${describe(change)}`,
      width,
    ),
  );
  if (total > changes.length) lines.push(`… and ${count(total - changes.length)} more`);
  return lines.map(line => `${line}\n`).join('');
}

function describe({ record, before }: ShownChange): string {
  const now = fieldsOf(record);
  if (before === null) {
    const values = Object.entries(now).map(([name, value]) => brief(name, value));
    return printable(values.filter(text => text !== '').join(' · '));
  }
  const then = fieldsOf(before);
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])];
  const changed = names.filter(name => JSON.stringify(then[name]) !== JSON.stringify(now[name]));
  return printable(changed.map(name => difference(name, then[name], now[name])).join(' · '));
}

function difference(name: string, then: unknown, now: unknown): string {
  const [before, after] = [brief(name, then), brief(name, now)];
  const hidden = before === after && before !== '' ? ' (a part that is not shown has changed)' : '';
  return `${name}: ${before || '–'} → ${after || '–'}${hidden}`;
}

/** A record's fields but its id, which stands at the front of the line. */
function fieldsOf(record: string): Record<string, unknown> {
  const { id: _id, ...fields }: Record<string, unknown> = JSON.parse(record);
  return fields;
}

/** A value in few words: a connection by its name, an address without its secret parts. */
function brief(name: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(each => brief(name, each)).join(', ');
  if (typeof value === 'object' && 'name' in value) return String(value.name);
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return name === 'endpoint' ? shownEndpoint(text) : withoutAddressSecrets(text);
}

function cut(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(1, width - 1))}…`;
}
