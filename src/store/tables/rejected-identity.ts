import { isObject, parseExact } from '../../contract/json.ts';
import { type ListDefinition, timeFieldOf } from '../../contract/lists.ts';
import { identityOf, readRecords } from '../../contract/record.ts';
import { hash16 } from '../../contract/sum.ts';

/** What a rejected record is known by: its whole identity, the part of it that can be read, or else its place. */
export type IdentityKind = 'whole' | 'part' | 'place';

/**
 * What can still be read of a rejected record. `key` is its id, or its time in milliseconds; NaN if it can't be read. `identity` has 16
 * bytes, and is the same for the same record whatever else it has; `place` is where in the list it was, from 0.
 */
export function rejectedIdentity(list: ListDefinition, record: string, place: number) {
  const item: unknown = parseExact(record);
  const isById = list.identity.by === 'id';
  const names = list.identity.by === 'id' ? ['id'] : list.identity.fields;
  const sortKey = timeFieldOf(list)?.name ?? 'id';
  // What is wrong with its other fields, or with a connection's name, does not matter for its key and its identity.
  const read = (some: readonly string[]) => {
    if (!isObject(item)) return undefined;
    const parts = some.map(name => {
      const value = item[name];
      return [name, isObject(value) ? { id: value.id ?? null } : value];
    });
    return readRecords(list, [Object.fromEntries(parts)]).records[0];
  };
  const found = (kind: IdentityKind, key: number, identity: string) => {
    return { kind, key, identity: identityHash(identity) };
  };
  const readable = names.filter(name => read([name]) !== undefined);
  const part = read(readable.length === 0 ? [sortKey] : readable);
  const key = part?.key ?? Number.NaN;
  if (part !== undefined && readable.length === names.length)
    return found('whole', key, identityOf(list, part));
  if (part === undefined || isById || Number.isNaN(key)) return found('place', key, `place ${place}`);
  return found('part', key, `${readable} ${identityOf(list, part)}`);
}

/** The hash that stands for an identity, 16 bytes. */
export const identityHash = (identity: string): Buffer => hash16(identity);

/** The hash of a rejected record's text without the fields that a run ignored, 16 bytes. */
export function rejectedContent(record: string, ignored: ReadonlySet<string>): Buffer {
  const item: unknown = ignored.size === 0 ? null : parseExact(record);
  if (!isObject(item)) return hash16(record);
  const counted = Object.entries(item).filter(([name]) => !ignored.has(name));
  return hash16(JSON.stringify(Object.fromEntries(counted)));
}
