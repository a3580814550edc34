import type { RecordValues } from './content.ts';
import { type ListDefinition, scalarFields } from './lists.ts';
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
  if (typeof time !== 'string') return Number.NaN;
  return instantMs(time) ?? Number.NaN;
}

/**
 * The key and the identity of a record that was rejected.
 *
 * @param json the record in JSON.
 */
export function keyOfRejected(list: ListDefinition, json: string): RejectedKey {
  const item: unknown = JSON.parse(json);
  if (typeof item !== 'object' || item === null) return { key: Number.NaN, identity: null };
  const values = item as { readonly [name: string]: unknown };
  const { identity } = list;
  if (identity.by === 'id') {
    const { id } = values;
    return Number.isSafeInteger(id)
      ? { key: id as number, identity: String(id) }
      : { key: Number.NaN, identity: null };
  }
  const fields = scalarFields(list);
  const parts = identity.fields.map(name => {
    const isConnection = fields.find(field => field.name === name)?.kind === 'connection';
    return readScalar(values[name], isConnection);
  });
  const key = keyOfTime(values[identity.timeField]);
  return { key, identity: parts.includes(undefined) ? null : JSON.stringify(parts) };
}

/** A value as its column would have it; undefined if it can't be read. */
function readScalar(value: unknown, isConnection: boolean): string | number | null | undefined {
  if (value === null || value === undefined) return null;
  if (!isConnection) return typeof value === 'string' ? value : undefined;
  const id = typeof value === 'object' ? ((value as { id?: unknown }).id ?? null) : undefined;
  return id === null || Number.isSafeInteger(id) ? (id as number | null) : undefined;
}
