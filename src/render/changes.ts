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
  const lines = changes.map(change => {
    const head = `${marks[change.operation] ?? '?'} ${change.resource} ${change.recordId}  `;
    return cut(head + describe(change, width - head.length), width);
  });
  if (total > changes.length) lines.push(`… and ${count(total - changes.length)} more`);
  return lines.map(line => `${line}\n`).join('');
}

/** What a change says, in about as many characters as there is room for. */
function describe({ record, before }: ShownChange, room: number): string {
  const now = fieldsOf(record);
  if (before === null) {
    const values = Object.entries(now).map(([name, value]) => brief(name, value));
    return printable(values.filter(text => text !== '').join(between));
  }
  const then = fieldsOf(before);
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])];
  const changed = names
    .filter(name => JSON.stringify(then[name]) !== JSON.stringify(now[name]))
    .map(name => differenceOf(name, then[name], now[name]));
  const whole = changed.map(differenceText).join(between);
  if (whole.length <= room) return whole;
  // What is no value stands whole, and the values share the rest.
  const fixed = changed.map(each => differenceText({ ...each, before: '', after: '' })).join(between);
  const sideMax = Math.max(sideMin, Math.floor((room - fixed.length) / changed.length / 2));
  return changed.map(each => differenceText(shortened(each, sideMax))).join(between);
}

const between = ' · ';

/** A field that changed: its values as they are shown. */
interface Difference {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly note: string;
}

function differenceOf(name: string, then: unknown, now: unknown): Difference {
  const [before, after] = [brief(name, then), brief(name, now)];
  const note = before === after && before !== '' ? ' (a part that is not shown has changed)' : '';
  return {
    name: printable(name),
    before: printable(before) || '–',
    after: printable(after) || '–',
    note,
  };
}

function differenceText({ name, before, after, note }: Difference): string {
  return `${name}: ${before} → ${after}${note}`;
}

/** As much of a value as says something, in characters. */
const sideMin = 12;
/** How much is shown around what changed, in characters. */
const contextLength = 8;

/** Both values around what differs, each in at most so many characters. */
function shortened({ before, after, ...rest }: Difference, sideMax: number): Difference {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let alike = 0;
  while (alike < shorter - start && before.at(-1 - alike) === after.at(-1 - alike)) alike++;
  const around = (value: string) => {
    if (value.length <= sideMax) return value;
    const to = Math.min(value.length, value.length - alike + contextLength);
    // Where what differs is short, more of what leads to it is shown; two characters are for the marks.
    const from = Math.max(0, Math.min(start - contextLength, to - sideMax + 2));
    const end = to < value.length ? '…' : '';
    return cut(`${from === 0 ? '' : '…'}${piece(value, from, to)}${end}`, sideMax);
  };
  return { ...rest, before: around(before), after: around(after) };
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
  return line.length <= width ? line : `${piece(line, 0, Math.max(1, width - 1))}…`;
}

/** A part of a text, without halves of characters at its ends. */
function piece(text: string, from: number, to: number): string {
  return text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
