import { furtherFields, type RecordValues, type StoredConnection } from './content.ts';
import { arrayFields, type Field, type ListDefinition, type Scalar, scalarFields } from './lists.ts';

/** Writes a stored record in the service's own shape. */
export type WireWriter = (record: RecordValues) => string;

/**
 * Makes the writer of a list's items. It writes JSON text, because `extra` can contain digits that JavaScript can't
 * represent.
 *
 * @param connectionOf finds a connection by its id.
 */
export function wireWriter(
  list: ListDefinition,
  connectionOf: (id: number) => StoredConnection | undefined,
): WireWriter {
  const connection = (id: Scalar): string =>
    id === null
      ? 'null'
      : wireConnection(connectionOf(id as number) ?? { id: id as number, name: null, extra: null });
  const members = list.fields.map(field => ({
    name: field.name,
    write: memberWriter(list, field, connection),
  }));

  return record => {
    // A field that did not fit its columns is complete in `extra`.
    const held = record.extra === null ? undefined : new Set(Object.keys(JSON.parse(record.extra)));
    const texts = record.id === null ? [] : [`"id":${record.id}`];
    for (const { name, write } of members) if (held?.has(name) !== true) texts.push(write(record));
    return withExtra(texts, record.extra);
  };
}

/** Makes the writer of one field of a record, with its name. It looks up the field's place once. */
function memberWriter(list: ListDefinition, field: Field, connection: (id: Scalar) => string): WireWriter {
  const fields: readonly Field[] = 'table' in field ? arrayFields(list) : scalarFields(list);
  const at = fields.indexOf(field);
  const start = `"${field.name}":`;
  switch (field.kind) {
    case 'text':
    case 'integer':
      return ({ scalars }) => start + JSON.stringify(scalars[at] ?? null);
    case 'connection':
      return ({ scalars }) => start + connection(scalars[at] ?? null);
    case 'texts':
      return ({ arrays }) => start + JSON.stringify(arrays[at] ?? []);
    case 'connections':
      return ({ arrays }) => `${start}[${(arrays[at] ?? []).map(connection).join(',')}]`;
  }
}

/** A connection reference as the service writes it. */
export function wireConnection({ id, name, extra }: StoredConnection): string {
  // A name that did not fit its column is in `extra`.
  const isNameElsewhere = extra !== null && 'name' in JSON.parse(extra);
  return withExtra([`"id":${id}`, ...(isNameElsewhere ? [] : [`"name":${JSON.stringify(name)}`])], extra);
}

/**
 * Reads a connection reference that `wireConnection` wrote.
 *
 * @throws SyntaxError if it is not one.
 */
export function readWireConnection(json: string): StoredConnection {
  const { id, name, ...others } = furtherFields(json);
  if (typeof id !== 'number' || (name !== null && typeof name !== 'string'))
    throw new SyntaxError('it is not a connection in JSON');
  const isHeld = name === null || name.isWellFormed();
  const extra = isHeld ? others : { name, ...others };
  return {
    id,
    name: isHeld ? name : null,
    extra: Object.keys(extra).length === 0 ? null : JSON.stringify(extra),
  };
}

function withExtra(members: readonly string[], extra: string | null): string {
  const rest = extra === null || extra === '{}' ? '' : `,${extra.slice(1, -1)}`;
  return `{${members.join(',')}${rest}}`;
}
