import type { RecordValues } from './content.ts';
import { isObject } from './json.ts';
import { type ListDefinition, scalarFields } from './lists.ts';
import { readOne } from './record.ts';
import { instantMs } from './time.ts';

/** The parts of a rejected record that can still be read. */
export interface RejectedKey {
  /** Its id, or its time in milliseconds; NaN if it can't be read. */
  readonly key: number;
  /** Its identity, as `identityOf` returns it; null if that can't be read. */
  readonly identity: string | null;
}

/**
 * Two contents with the same identity are versions of one record: its id, or as JSON the values of the fields that
 * identify it.
 */
export function identityOf(list: ListDefinition, { id, scalars }: RecordValues): string {
  const { identity } = list;
  if (identity.by === 'id') return String(id);
  const fields = scalarFields(list);
  return JSON.stringify(identity.fields.map(name => scalars[fields.findIndex(field => field.name === name)]));
}

/** The key that lists are ordered by: a record's id, or its time in milliseconds; NaN if it has none. */
export function keyOf(list: ListDefinition, { id, scalars }: RecordValues, timeAt: number): number {
  if (list.identity.by === 'id') return id ?? Number.NaN;
  return keyOfTime(scalars[timeAt]);
}

/** A time as a key: in milliseconds since 1970; NaN if it is none. */
export function keyOfTime(time: unknown): number {
  return (typeof time === 'string' ? instantMs(time) : null) ?? Number.NaN;
}

/**
 * The key and the identity of a record that was rejected.
 *
 * @param json the record in JSON.
 */
export function keyOfRejected(list: ListDefinition, json: string): RejectedKey {
  const item: unknown = JSON.parse(json);
  if (!isObject(item)) return { key: Number.NaN, identity: null };
  const { identity } = list;
  // What is wrong with other fields, or with a connection's name, does not matter here.
  const parts = (identity.by === 'id' ? ['id'] : identity.fields).map(name => {
    const value = item[name];
    return [name, isObject(value) ? { id: value.id ?? null } : value] as const;
  });
  const record = readOne(list, JSON.stringify(Object.fromEntries(parts)));
  const key = identity.by === 'id' ? record?.id : keyOfTime(item[identity.timeField]);
  return { key: key ?? Number.NaN, identity: record === undefined ? null : identityOf(list, record) };
}
