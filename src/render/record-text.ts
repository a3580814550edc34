import { changedFields, type Item } from '../contract/cells.ts';
import { isObject } from '../contract/json.ts';
import { type Field, lists, fieldsOf as registryOf } from '../contract/lists.ts';
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
export const briefRecord: TextBounds = { fieldsMax: 12, textMax: 160, withIds: false };

/** For a record by itself, if its reader can ask for more. */
export const wholeRecord: TextBounds = { fieldsMax: 200, textMax: 20_000, withIds: true };

/** For one of many versions on a page, so that the page stays within a few megabytes whatever the records are. */
export const versionOnPage: TextBounds = { fieldsMax: 30, textMax: 1_000, withIds: true };

/** The text in place of a text that was erased. */
export const erasedText = 'the text was erased';

/** A record's fields that have a value, as many as fit; `record` is its JSON text, null if it was erased. */
export function fieldsOf(resource: string, record: string | null, bounds = briefRecord): ShownField[] {
  if (record === null) return [{ name: 'erased', text: erasedText, connections: [] }];
  return Object.entries(valuesOf(record))
    .map(([name, value]) => {
      const text = shown(resource, name, value, bounds);
      const connections = text.length < bounds.textMax ? connectionsIn(resource, name, value) : [];
      return { name: printable(name), text, connections };
    })
    .filter(({ text }) => text !== '')
    .slice(0, bounds.fieldsMax);
}

/** The changes of an update, field by field; null is a version that was erased. */
export function differencesOf(
  resource: string,
  before: string | null,
  after: string | null,
  bounds = briefRecord,
): ShownDifference[] {
  if (before === null || after === null)
    return [{ name: 'erased', before: '', after: '', note: ` (${erasedText})` }];
  const [then, now] = [valuesOf(before), valuesOf(after)];
  return changedFields(resource, then, now)
    .slice(0, bounds.fieldsMax)
    .map(name => differenceOf(resource, name, [then[name], now[name]], bounds));
}

/** Parses a record. Numbers that a double can't represent keep their digits. */
function valuesOf(record: string): Item {
  const keepDigits = (_name: string, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? source : value;
  return JSON.parse(record, keepDigits);
}

function differenceOf(
  resource: string,
  field: string,
  [then, now]: readonly [unknown, unknown],
  bounds: TextBounds,
): ShownDifference {
  const name = printable(field);
  const [before, after] = [shown(resource, field, then, bounds), shown(resource, field, now, bounds)];
  // The only difference can be in the query of an address, a connection's id, or a secret.
  const note = before === after && before !== '' ? ' (a part that is not shown has changed)' : '';
  return { name, before, after, note };
}

function connectionsIn(resource: string, name: string, value: unknown): ShownConnection[] {
  const kind = registered(resource, name)?.kind;
  if (kind !== 'connection' && kind !== 'connections') return [];
  const items: unknown[] = Array.isArray(value) ? value : [value];
  const connections = items.flatMap(each =>
    isObject(each) && typeof each.id === 'number'
      ? [{ id: each.id, text: printable(words(each, true)) }]
      : [],
  );
  return connections.length === items.length ? connections : [];
}

function registered(resource: string, name: string): Field | undefined {
  return registryOf(resource).find(field => field.name === name);
}

function shown(resource: string, name: string, value: unknown, { textMax, withIds }: TextBounds): string {
  if (value === null || value === undefined) return '';
  const field = registered(resource, name);
  if (field?.isSecret) return shownEndpoint(String(value));
  // Nobody knows which of the fields that the service adds are secret.
  const isHidden =
    field === undefined && name !== 'id' && lists.find(each => each.resource === resource)?.hasSecrets;
  return isHidden ? '(not shown)' : cut(printable(words(value, withIds)), textMax);
}

function words(value: unknown, withIds: boolean): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(each => words(each, withIds)).join(', ') || 'none';
  if (!isObject(value)) return withoutAddressSecrets(String(value));
  if (typeof value.name === 'string') {
    const name = withoutAddressSecrets(value.name);
    return withIds && 'id' in value ? `${name} (${value.id})` : name;
  }
  return Object.entries(value)
    .map(([key, each]) => `${key}: ${words(each, withIds)}`)
    .join(', ');
}
