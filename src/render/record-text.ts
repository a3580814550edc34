import { printable } from '../printable.ts';
import { cut } from './cut.ts';
import { shownEndpoint, withoutAddressSecrets } from './endpoint.ts';

/** A field of a record, in words. */
export interface ShownField {
  readonly name: string;
  readonly text: string;
  /** The connections that the text consists of; none if it has anything else, or if it is cut. */
  readonly connections: readonly ShownConnection[];
}

interface ShownConnection {
  readonly id: number;
  readonly text: string;
}

/** A field that an update changed, in words. */
export interface ShownDifference {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** A note after both values; empty if they need none. */
  readonly note: string;
}

/** How much of a record is shown. */
interface TextBounds {
  /** Most fields of a record. */
  readonly fieldsMax: number;
  /** Most UTF-16 code units of a field. */
  readonly textMax: number;
  /** A connection is shown with its id beside its name. */
  readonly withIds: boolean;
}

/** For a record among others. */
const brief: TextBounds = { fieldsMax: 12, textMax: 160, withIds: false };

/** For a record by itself, if its reader can ask for more. */
export const wholeRecord: TextBounds = { fieldsMax: 200, textMax: 20_000, withIds: true };

/** For one of many versions on a page, so that the page stays within a few megabytes whatever the records are. */
export const versionOnPage: TextBounds = { fieldsMax: 30, textMax: 1_000, withIds: true };

const secretName = /secret|token|passw|authori[sz]ation|credential|api.?key|signature/i;

/** The text in place of a text that was erased. */
export const erasedText = 'the text was erased';

/** A record's fields that have a value, as many as fit; `record` is its JSON text, null if it was erased. */
export function fieldsOf(record: string | null, bounds = brief): ShownField[] {
  if (record === null) return [{ name: 'erased', text: erasedText, connections: [] }];
  return Object.entries(valuesOf(record))
    .map(([name, value]) => {
      const text = shown(name, value, bounds);
      const connections = text.length < bounds.textMax ? connectionsIn(name, value) : [];
      return { name: printable(name), text, connections };
    })
    .filter(({ text }) => text !== '')
    .slice(0, bounds.fieldsMax);
}

/** The changes of an update, field by field; null is a version that was erased. */
export function differencesOf(
  before: string | null,
  after: string | null,
  bounds = brief,
): ShownDifference[] {
  if (before === null || after === null)
    return [{ name: 'erased', before: '', after: '', note: ` (${erasedText})` }];
  const then = valuesOf(before);
  const now = valuesOf(after);
  return [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter(name => JSON.stringify(then[name]) !== JSON.stringify(now[name]))
    .slice(0, bounds.fieldsMax)
    .map(name => differenceOf(name, then[name], now[name], bounds));
}

/** Parses a record. Numbers that a double can't represent keep their digits. */
function valuesOf(record: string): Record<string, unknown> {
  const keepDigits = (_name: string, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? source : value;
  return JSON.parse(record, keepDigits);
}

function differenceOf(field: string, then: unknown, now: unknown, bounds: TextBounds): ShownDifference {
  const name = printable(field);
  const [before, after] = [shown(field, then, bounds), shown(field, now, bounds)];
  // The only difference can be in the query of an address, a connection's id, or a secret.
  const note = before === after && before !== '' ? ' (a part that is not shown has changed)' : '';
  return { name, before, after, note };
}

const connectionName = /^(\w+C|c)onnections?$/;

function connectionsIn(name: string, value: unknown): ShownConnection[] {
  if (!connectionName.test(name)) return [];
  const items: unknown[] = Array.isArray(value) ? value : [value];
  const connections = items.flatMap(each => {
    if (typeof each !== 'object' || each === null || !('id' in each) || typeof each.id !== 'number')
      return [];
    return [{ id: each.id, text: printable(words('', each, true)) }];
  });
  return connections.length === items.length ? connections : [];
}

function shown(name: string, value: unknown, { textMax, withIds }: TextBounds): string {
  return cut(printable(words(name, value, withIds)), textMax);
}

function words(name: string, value: unknown, withIds: boolean): string {
  if (value === null || value === undefined) return '';
  if (secretName.test(name)) return '(not shown)';
  if (name === 'endpoint') return shownEndpoint(String(value));
  if (Array.isArray(value)) return value.map(each => words('', each, withIds)).join(', ') || 'none';
  if (typeof value !== 'object') return withoutAddressSecrets(String(value));
  if ('name' in value && typeof value.name === 'string') {
    const name = withoutAddressSecrets(value.name);
    return withIds && 'id' in value ? `${name} (${value.id})` : name;
  }
  return Object.entries(value)
    .map(([key, each]) => `${key}: ${words(key, each, withIds)}`)
    .join(', ');
}
