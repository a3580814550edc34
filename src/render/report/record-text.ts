import { printable } from '../../printable.ts';
import { shownEndpoint, withoutAddressSecrets } from '../endpoint.ts';

/** A field of a record, in words. */
export interface ShownField {
  readonly name: string;
  readonly text: string;
}

/** A field that an update changed, in words. */
export interface ShownDifference {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

const textMax = 160;
const fieldsMax = 12;
const secretName = /secret|token|passw|authori[sz]ation|credential|api.?key|signature/i;

/** A record's fields that say something, as far as they fit; `record` is its JSON text. */
export function fieldsOf(record: string): ShownField[] {
  return Object.entries(JSON.parse(record) as object)
    .map(([name, value]) => ({ name, text: shown(name, value) }))
    .filter(({ text }) => text !== '')
    .slice(0, fieldsMax);
}

/** What an update changed, field by field. */
export function differencesOf(before: string, after: string): ShownDifference[] {
  const then: Record<string, unknown> = JSON.parse(before);
  const now: Record<string, unknown> = JSON.parse(after);
  return [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter(name => JSON.stringify(then[name]) !== JSON.stringify(now[name]))
    .slice(0, fieldsMax)
    .map(name => differenceOf(name, then[name], now[name]));
}

function differenceOf(name: string, then: unknown, now: unknown): ShownDifference {
  const [before, after] = [shown(name, then), shown(name, now)];
  if (before !== after || before === '') return { name, before, after };
  // What differs is a part that is not shown, such as the query of an address or a connection's id.
  return { name, before, after: `${after} (a part that is not shown has changed)` };
}

function shown(name: string, value: unknown): string {
  const text = printable(words(name, value));
  return text.length <= textMax ? text : `${text.slice(0, textMax - 1)}…`;
}

function words(name: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (secretName.test(name)) return '(not shown)';
  if (name === 'endpoint') return shownEndpoint(String(value));
  if (Array.isArray(value)) return value.map(each => words('', each)).join(', ');
  if (typeof value !== 'object') return withoutAddressSecrets(String(value));
  if ('name' in value && typeof value.name === 'string') return value.name;
  return Object.entries(value)
    .map(([key, each]) => `${key}: ${words(key, each)}`)
    .join(', ');
}
