import { changedFields, type Item } from '../contract/cells.ts';
import { isObject, parseExact } from '../contract/json.ts';
import { lists, fieldsOf as registryOf } from '../contract/lists.ts';
import { printable } from '../printable.ts';
import { shownEndpoint, withoutAddressSecrets } from './endpoint.ts';
import { cut } from './table.ts';

/** A field of a record, in words. */
export interface ShownField {
  readonly name: string;
  readonly text: string;
  /** The connections that the text consists of; none if it has anything else. */
  readonly connections: readonly { readonly id: number; readonly text: string }[];
}

/** The most UTF-16 code units of a field of a record among others, which is also shown without the ids of its connections. */
export const briefMax = 160;

/** The same of a record by itself. */
export const wholeMax = 20_000;

/** The text in place of a text that was erased. */
export const erasedText = 'the text was erased';

/**
 * A record as a value that is written with all digits of its numbers.
 *
 * @throws SyntaxError if it is not an object in JSON: another program wrote to the mirror.
 */
export function itemOf(text: string): Item {
  const value = parseExact(text);
  if (isObject(value)) return value;
  throw new SyntaxError('a record is not an object in JSON');
}

/** A record's fields that have a value; `record` is its JSON text, null if it was erased. */
export function fieldsOf(resource: string, record: string | null, textMax = briefMax): ShownField[] {
  if (record === null) return [{ name: 'erased', text: erasedText, connections: [] }];
  return Object.entries(itemOf(record))
    .map(([name, value]) => {
      const kind = registryOf(resource).find(field => field.name === name)?.kind ?? '';
      const references = kind.startsWith('connection') ? [value].flat() : [];
      const connections = references.flatMap(each =>
        isObject(each) && typeof each.id === 'number'
          ? [{ id: each.id, text: printable(words(each, textMax > briefMax)) }]
          : [],
      );
      const isWhole = connections.length === references.length;
      const text = shown(resource, name, value, textMax);
      return { name: printable(name), text, connections: isWhole ? connections : [] };
    })
    .filter(({ text }) => text !== '');
}

/**
 * The changes of an update, field by field, with a note after both values, which is empty if they need none; null is a version that
 * was erased.
 */
export function differencesOf(
  resource: string,
  before: string | null,
  after: string | null,
  textMax = wholeMax,
) {
  if (before === null || after === null)
    return [{ name: 'erased', before: '', after: '', note: ` (${erasedText})` }];
  const [then, now] = [itemOf(before), itemOf(after)];
  return changedFields(resource, then, now).map(name => {
    const old = shown(resource, name, then[name], textMax);
    const current = shown(resource, name, now[name], textMax);
    // The only difference can be in the query of an address, a connection's id, or a secret.
    const note = old === current && old !== '' ? ' (a part that is not shown has changed)' : '';
    return { name: printable(name), before: old, after: current, note };
  });
}

/** The same in lines of text. */
export function differenceTexts(resource: string, before: string | null, after: string | null): string[] {
  return differencesOf(resource, before, after).map(
    each => `${each.name}: ${each.before || '–'} → ${each.after || '–'}${each.note}`,
  );
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
  if (!isObject(value))
    return withoutAddressSecrets(typeof value === 'string' ? value : JSON.stringify(value));
  const { id, name } = value;
  if (typeof name === 'string') return words(name, withIds) + (withIds && id !== undefined ? ` (${id})` : '');
  return Object.entries(value)
    .map(([key, each]) => `${key}: ${words(each, withIds)}`)
    .join(', ');
}
