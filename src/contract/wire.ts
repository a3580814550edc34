import type { RecordValues } from './content.ts';
import { arrayFields, type Field, type ListDefinition, type Scalar, scalarFields } from './lists.ts';

/** What the mirror holds of one connection. */
export interface StoredConnection {
  readonly id: number;
  readonly name: string | null;
  readonly extra: string | null;
}

/** Writes a stored record in the service's own shape. */
export type WireWriter = (record: RecordValues) => string;

/**
 * Makes the writer of a list's items: compact JSON text, for digits that JavaScript can't hold may stand in `extra`.
 *
 * @param connectionOf finds a connection by its id.
 */
export function wireWriter(
  list: ListDefinition,
  connectionOf: (id: number) => StoredConnection | undefined,
): WireWriter {
  const scalars: readonly Field[] = scalarFields(list);
  const arrays: readonly Field[] = arrayFields(list);

  const connection = (id: Scalar): string =>
    id === null
      ? 'null'
      : wireConnection(connectionOf(id as number) ?? { id: id as number, name: null, extra: null });

  const value = (field: Field, record: RecordValues): string => {
    const scalar = record.scalars[scalars.indexOf(field)] ?? null;
    const values = record.arrays[arrays.indexOf(field)] ?? [];
    switch (field.kind) {
      case 'text':
      case 'integer':
        return JSON.stringify(scalar);
      case 'connection':
        return connection(scalar);
      case 'texts':
        return JSON.stringify(values);
      case 'connections':
        return `[${values.map(connection).join(',')}]`;
    }
  };

  return record => {
    // A field that its columns could not hold stands whole among the extra ones.
    const held = record.extra === null ? undefined : new Set(Object.keys(JSON.parse(record.extra)));
    const fields = list.fields.filter(({ name }) => !held?.has(name));
    const id = record.id === null ? [] : [`"id":${record.id}`];
    return withExtra(
      [...id, ...fields.map(field => `"${field.name}":${value(field, record)}`)],
      record.extra,
    );
  };
}

/** A connection reference as the service writes it. */
export function wireConnection({ id, name, extra }: StoredConnection): string {
  // A name that its column could not hold stands among the further fields.
  const isNameElsewhere = extra !== null && 'name' in JSON.parse(extra);
  return withExtra([`"id":${id}`, ...(isNameElsewhere ? [] : [`"name":${JSON.stringify(name)}`])], extra);
}

/** Reads a connection reference back that `wireConnection` wrote. */
export function readWireConnection(json: string): StoredConnection {
  const { id, name }: StoredConnection = JSON.parse(json);
  const isNameHeld = name === null || name.isWellFormed();
  // The rest is kept as text, for JavaScript may not hold its numbers.
  const held = [`"id":${id}`, ...(isNameHeld ? [`"name":${JSON.stringify(name)}`] : [])];
  const rest = json.slice(withExtra(held, null).length, -1);
  return { id, name: isNameHeld ? name : null, extra: rest === '' ? null : `{${rest}}` };
}

function withExtra(members: readonly string[], extra: string | null): string {
  const rest = extra === null || extra === '{}' ? '' : `,${extra.slice(1, -1)}`;
  return `{${members.join(',')}${rest}}`;
}
