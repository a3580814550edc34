import { changedFields, type Item } from '../contract/cells.ts';
import { isObject } from '../contract/json.ts';
import { lists, fieldsOf as registryOf } from '../contract/lists.ts';
import { printable } from '../printable.ts';
import { cut } from './cut.ts';
import { shownEndpoint, withoutAddressSecrets } from './endpoint.ts';

/** A field of a record, in words. */
export interface ShownField {
  readonly name: string;
  readonly text: string;
  /** The connections that the text consists of; none if it has anything else, or if it is cut. */
  readonly connections: readonly { readonly id: number; readonly text: string }[];
}

/** A field that an update changed, in words, and a note after both values; it is empty if they need none. */
export interface ShownDifference {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly note: string;
}

/** The most UTF-16 code units of a field of a record among others, which is also shown without the ids of its connections. */
export const briefMax = 160;

/** The same of a record by itself. */
export const wholeMax = 20_000;

/** The most fields of a record. */
const fieldsMax = 200;

/** The text in place of a text that was erased. */
export const erasedText = 'the text was erased';

/** A record's fields that have a value; `record` is its JSON text, null if it was erased. */
export function fieldsOf(resource: string, record: string | null, textMax = briefMax): ShownField[] {
  if (record === null) return [{ name: 'erased', text: erasedText, connections: [] }];
  return Object.entries(valuesOf(record))
    .slice(0, fieldsMax)
    .map(([name, value]) => {
      const text = shown(resource, name, value, textMax);
      const connections = text.length < textMax ? connectionsIn(resource, name, value, textMax) : [];
      return { name: printable(name), text, connections };
    })
    .filter(({ text }) => text !== '');
}

/** The changes of an update, field by field; null is a version that was erased. */
export function differencesOf(
  resource: string,
  before: string | null,
  after: string | null,
  textMax = wholeMax,
): ShownDifference[] {
  if (before === null || after === null)
    return [{ name: 'erased', before: '', after: '', note: ` (${erasedText})` }];
  const [then, now] = [valuesOf(before), valuesOf(after)];
  return changedFields(resource, then, now)
    .slice(0, fieldsMax)
    .map(name => {
      const [old, current] = [then, now].map(item => shown(resource, name, item[name], textMax));
      // The only difference can be in the query of an address, a connection's id, or a secret.
      const note = old === current && old !== '' ? ' (a part that is not shown has changed)' : '';
      return { name: printable(name), before: old ?? '', after: current ?? '', note };
    });
}

/** Parses a record. Numbers that a double can't represent keep their digits. */
function valuesOf(record: string): Item {
  const keepDigits = (_name: string, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? source : value;
  return JSON.parse(record, keepDigits);
}

function connectionsIn(resource: string, name: string, value: unknown, textMax: number) {
  const kind = registryOf(resource).find(field => field.name === name)?.kind;
  if (kind !== 'connection' && kind !== 'connections') return [];
  const items: unknown[] = Array.isArray(value) ? value : [value];
  const connections = items.flatMap(each =>
    isObject(each) && typeof each.id === 'number'
      ? [{ id: each.id, text: printable(words(each, textMax > briefMax)) }]
      : [],
  );
  return connections.length === items.length ? connections : [];
}

function shown(resource: string, name: string, value: unknown, textMax: number): string {
  if (value === null || value === undefined) return '';
  const field = registryOf(resource).find(each => each.name === name);
  if (field?.isSecret) return shownEndpoint(String(value));
  // Nobody knows which of the fields that the service adds are secret.
  const isHidden =
    field === undefined && name !== 'id' && lists.find(each => each.resource === resource)?.hasSecrets;
  return isHidden ? '(not shown)' : cut(printable(words(value, textMax > briefMax)), textMax);
}

function words(value: unknown, withIds: boolean): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(each => words(each, withIds)).join(', ') || 'none';
  if (!isObject(value)) return withoutAddressSecrets(String(value));
  if (typeof value.name !== 'string')
    return Object.entries(value)
      .map(([key, each]) => `${key}: ${words(each, withIds)}`)
      .join(', ');
  const name = withoutAddressSecrets(value.name);
  return withIds && 'id' in value ? `${name} (${value.id})` : name;
}
