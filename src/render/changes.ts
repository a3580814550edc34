import { count } from './numbers.ts';
import { printable } from './table.ts';

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
    const values = Object.values(now).map(brief);
    return printable(values.filter(text => text !== '').join(' · '));
  }
  const then = fieldsOf(before);
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])];
  const changed = names.filter(name => JSON.stringify(then[name]) !== JSON.stringify(now[name]));
  return printable(
    changed.map(name => `${name}: ${brief(then[name]) || '–'} → ${brief(now[name]) || '–'}`).join(' · '),
  );
}

/** A record's fields but its id, which stands at the front of the line. */
function fieldsOf(record: string): Record<string, unknown> {
  const { id: _id, ...fields }: Record<string, unknown> = JSON.parse(record);
  return fields;
}

/** A value in few words: a connection by its name, an endpoint without its secret parts. */
function brief(value: unknown): string {
  if (Array.isArray(value)) return value.map(brief).join(', ');
  if (typeof value === 'object' && value !== null && 'name' in value) return String(value.name);
  const text =
    value === null || value === undefined
      ? ''
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value);
  return withoutUrlSecrets(text);
}

/** An address without its user name, password and query, any of which may be a secret. */
export function withoutUrlSecrets(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return text;
  const url = new URL(text);
  const host = `${url.protocol}//${url.host}${url.pathname}`;
  return url.search === '' && url.hash === '' ? host : `${host}?…`;
}

function cut(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(1, width - 1))}…`;
}
