import { canonicalObject, isObject, parseExact } from './json.ts';
import { arrayFields, type Field, type ListDefinition, type Scalar, scalarFields } from './lists.ts';
import { hash16, hash16Hex } from './sum.ts';

/** The columns of a record in the mirror. Anyone can compute its content from them. */
export interface RecordValues {
  /** The service's id; null in a list that has none. */
  readonly id: number | null;
  /** Texts, whole numbers and connection ids, in the order of `scalarFields(list)`. */
  readonly scalars: readonly Scalar[];
  /** Texts or connection ids of each array, in the order of `arrayFields(list)`. */
  readonly arrays: readonly (readonly Scalar[])[];
  /** Compact JSON of the members that have no column; null if there are none. */
  readonly extra: string | null;
}

/** The name of a connection, and compact JSON of its further fields; null if the service gave none. */
export interface NameAndExtra {
  readonly name: string | null;
  readonly extra: string | null;
}

/** A connection as the mirror stores it. */
export interface StoredConnection extends NameAndExtra {
  readonly id: number;
}

/** The value of a field in a record. */
type Getter = (record: RecordValues) => Scalar | readonly Scalar[];

function getterOf(list: ListDefinition, field: Field): Getter {
  const isArray = 'table' in field;
  const { name } = field;
  const at = (isArray ? arrayFields(list) : scalarFields(list)).findIndex(each => each.name === name);
  return isArray ? ({ arrays }) => arrays[at] ?? [] : ({ scalars }) => scalars[at] ?? null;
}

/** A record's content as 32 hexadecimal digits. */
export function contentOf(list: ListDefinition, record: RecordValues): string {
  return hash16Hex(canonicalRecord(list)(record));
}

/** The content of a connection: `{"id":N,"name":"…"}` with its further fields. */
export function connectionContent({ id, name, extra }: StoredConnection): Buffer {
  return hash16(canonicalObject(withFurther({ id, name }, extra, value => value)));
}

const writers = new WeakMap<ListDefinition, (record: RecordValues) => string>();

/**
 * Makes the writer of the text whose hash is a record's content: canonical JSON in the service's shape. Fields that are null
 * or absent are left out, and a reference to a connection is `{"id":N}` alone. docs/audit.md describes it.
 */
export function canonicalRecord(list: ListDefinition): (record: RecordValues) => string {
  const known = writers.get(list);
  if (known !== undefined) return known;
  const members: { name: string; isReference: boolean; valueIn: Getter }[] = list.fields.map(field => ({
    name: field.name,
    isReference: field.kind.startsWith('connection'),
    valueIn: getterOf(list, field),
  }));
  if (list.identity.by === 'id') members.push({ name: 'id', isReference: false, valueIn: ({ id }) => id });
  members.sort((a, b) => (a.name < b.name ? -1 : 1));
  const references = new Set(members.flatMap(({ name, isReference }) => (isReference ? [name] : [])));

  // It runs for every record that is read: only `extra` needs a general writer.
  const write = (record: RecordValues): string => {
    const object: Record<string, unknown> = {};
    for (const { name, isReference, valueIn } of members) {
      const value = valueIn(record);
      // JSON leaves undefined members out.
      object[name] = value === null ? undefined : isReference ? referenceTo(value) : value;
    }
    if (record.extra === null) return JSON.stringify(object);
    const canonical = (value: unknown, name: string) => (references.has(name) ? withoutNames(value) : value);
    return canonicalObject(withFurther(object, record.extra, canonical));
  };
  writers.set(list, write);
  return write;
}

function referenceTo(value: Scalar | readonly Scalar[]): unknown {
  return Array.isArray(value) ? value.map(id => (id === null ? null : { id })) : { id: value };
}

/** The members with those of `extra`, without nulls. A field that did not fit its columns is complete in `extra`. */
function withFurther(
  members: object,
  extra: string | null,
  canonical: (value: unknown, name: string) => unknown,
): [name: string, value: unknown][] {
  const all = new Map<string, unknown>(Object.entries(members));
  for (const [name, value] of Object.entries(extra === null ? {} : furtherFields(extra)))
    all.set(name, canonical(value, name));
  return [...all].filter(([, value]) => (value ?? null) !== null);
}

/** References that fit no column, each that has an id as `{"id":N}` alone. The service can't have sent any other name. */
function withoutNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNames);
  const { id, name = null } = Object(value) as { readonly id?: unknown; readonly name?: unknown };
  return Number.isSafeInteger(id) && (name === null || typeof name === 'string') ? { id } : value;
}

/** @throws SyntaxError if the text is not a JSON object. */
export function furtherFields(extra: string): Readonly<Record<string, unknown>> {
  const fields = parseExact(extra);
  if (!isObject(fields)) throw new SyntaxError('it is not a JSON object');
  return fields;
}

/**
 * Makes the writer of a list's items in the service's own shape. It writes JSON text, because `extra` can contain digits that
 * JavaScript can't represent.
 *
 * @param connectionOf finds a connection by its id.
 */
export function wireWriter(
  list: ListDefinition,
  connectionOf: (id: number) => StoredConnection | undefined,
): (record: RecordValues) => string {
  const textOf = (id: Scalar): string => {
    if (id === null) return 'null';
    return wireConnection(connectionOf(id as number) ?? { id: id as number, name: null, extra: null });
  };
  const members = list.fields.map(field => {
    const valueIn = getterOf(list, field);
    const isReference = field.kind.startsWith('connection');
    return (record: RecordValues) => {
      const value = valueIn(record);
      if (!isReference) return JSON.stringify(value);
      return Array.isArray(value) ? `[${value.map(textOf).join(',')}]` : textOf(value as Scalar);
    };
  });
  return record => {
    // A field that did not fit its columns is complete in `extra`.
    const further = record.extra === null ? {} : JSON.parse(record.extra);
    const texts = record.id === null ? [] : [`"id":${record.id}`];
    for (const [at, { name }] of list.fields.entries())
      if (!Object.hasOwn(further, name)) texts.push(`"${name}":${members[at]?.(record)}`);
    return withExtra(texts, record.extra);
  };
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
  const extra = Object.keys(others).length === 0 ? null : JSON.stringify(others);
  return { id, ...columnsOfConnection({ name, extra }) };
}

/** The columns of a connection's row. A name that has no UTF-8 form, for example half a surrogate pair, is among the further fields. */
function columnsOfConnection({ name, extra }: NameAndExtra): NameAndExtra {
  if (name === null || name.isWellFormed()) return { name, extra };
  return { name: null, extra: withExtra([`"name":${JSON.stringify(name)}`], extra) };
}

function withExtra(members: readonly string[], extra: string | null): string {
  const rest = extra === null || extra === '{}' ? '' : `,${extra.slice(1, -1)}`;
  return `{${members.join(',')}${rest}}`;
}
