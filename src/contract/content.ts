import { canonicalJson, parseExact } from './json.ts';
import { arrayFields, type Field, type Kept, type Scalar, scalarFields } from './lists.ts';
import { hash16, hash16Hex } from './sum.ts';

/** The columns of a record in the mirror. Anyone can compute its content from them. */
export interface RecordValues {
  /** The service's id; null in a list that has none. */
  readonly id: number | null;
  /** Texts and connection ids, in the order of `scalarFields(list)`. */
  readonly scalars: readonly Scalar[];
  /** Texts or connection ids of each array, in the order of `arrayFields(list)`. */
  readonly arrays: readonly (readonly Scalar[])[];
  /** Compact JSON of the members that have no column; null if there are none. */
  readonly extra: string | null;
}

/** A connection: its name, and compact JSON of its further fields; each is null if the service gave none. */
export type Connection = { readonly id: number; readonly name: string | null; readonly extra: string | null };

/** No field: what most runs leave out of contents. */
export const nothingIgnored: ReadonlySet<string> = new Set();

/** A record's content as 32 hexadecimal digits, without the `ignored` fields: those that the run left out which wrote the record. */
export function contentOf(list: Kept, record: RecordValues, ignored = nothingIgnored): string {
  return hash16Hex(shapeOf(list).canonical(record, ignored));
}

/** The content of a connection: `{"id":N,"name":"…"}` with its further fields. */
export function connectionContent(connection: Connection): Buffer {
  return hash16(canonicalJson(withoutNulls(objectOf(connection))));
}

const isReference = ({ kind }: Field) => kind.startsWith('connection');
const valuesOf = ({ scalars, arrays, id }: RecordValues) => [...scalars, ...arrays, id];

const shapes = new WeakMap<Kept, ReturnType<typeof newShape>>();

/** The parts of a list's definition that reading and writing its records needs, computed once. */
export function shapeOf(list: Kept) {
  const shape = shapes.get(list) ?? newShape(list);
  shapes.set(list, shape);
  return shape;
}

function newShape(list: Kept) {
  const byId = list.identity.by === 'id';
  const scalars = scalarFields(list);
  const arrays = arrayFields(list);
  const fields: Field[] = [...scalars, ...arrays];
  const references = fields.filter(isReference).map(({ name }) => name);
  const members = fields.map((field, at) => ({ name: field.name, at, refers: isReference(field) }));
  if (byId) members.push({ name: 'id', at: fields.length, refers: false });
  members.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    byId,
    scalars,
    arrays,
    /** Those that `valuesOf` has the values of, in its order. */
    fields,
    known: new Set(members.map(({ name }) => name)),
    timeAt: scalars.findIndex(({ filter }) => filter === 'time'),
    /** The places of the scalars that identify a record without an id. */
    identifyingAt: (list.identity.by === 'id' ? [] : list.identity.fields).map(field =>
      scalars.findIndex(({ name }) => name === field),
    ),
    canonical,
  };

  // The text whose hash is a record's content: canonical JSON in the service's shape (docs/audit.md). It is made for every record, so
  // only `extra` goes through a general writer. A later version can have a column for a field that is ignored.
  function canonical(record: RecordValues, ignored: ReadonlySet<string>): string {
    const values = valuesOf(record);
    const object: Record<string, unknown> = {};
    for (const { name, at, refers } of members) {
      const value = values[at] ?? null;
      // JSON leaves undefined members out.
      object[name] = value === null ? undefined : refers ? referenceTo(value) : value;
    }
    for (const name of ignored) object[name] = undefined;
    if (record.extra === null) return JSON.stringify(object);
    // A field that did not fit its columns is complete in `extra`.
    const all: Record<string, unknown> = { ...object, ...furtherFields(record.extra) };
    for (const name of references) all[name] = withoutNames(all[name]);
    for (const name of ignored) all[name] = undefined;
    return canonicalJson(withoutNulls(all));
  }
}

function referenceTo(value: Scalar | readonly Scalar[]): unknown {
  return Array.isArray(value) ? value.map(id => (id === null ? null : { id })) : { id: value };
}

function withoutNulls(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => (value ?? null) !== null));
}

/** References that fit no column, each that has an id as `{"id":N}` alone. The service can't have sent any other name. */
export function withoutNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNames);
  const { id, name = null } = Object(value) as { readonly id?: unknown; readonly name?: unknown };
  return Number.isSafeInteger(id) && (name === null || typeof name === 'string') ? { id } : value;
}

/** The members of a JSON object; none of null. Throws a SyntaxError if the text is no JSON. */
export function furtherFields(extra: string | null): Readonly<Record<string, unknown>> {
  return (extra === null ? {} : parseExact(extra)) as Readonly<Record<string, unknown>>;
}

/** Makes the writer of a list's items, or of connections, in the service's own shape; `connectionOf` finds a connection by its id. */
export function wireWriter(list: Kept, connectionOf: (id: number) => Connection | undefined) {
  const { fields } = shapeOf(list);
  const reference = (id: Scalar) =>
    typeof id === 'number' ? objectOf(connectionOf(id) ?? { id, name: null, extra: null }) : null;
  return (record: RecordValues): string => {
    const values = valuesOf(record);
    const object: Record<string, unknown> = record.id === null ? {} : { id: record.id };
    for (const [at, field] of fields.entries()) {
      const value = values[at] as Scalar | readonly Scalar[];
      if (!isReference(field)) object[field.name] = value;
      else object[field.name] = Array.isArray(value) ? value.map(reference) : reference(value as Scalar);
    }
    return JSON.stringify({ ...object, ...furtherFields(record.extra) });
  };
}

/** A connection reference as the service writes it. */
export function wireConnection(connection: Connection): string {
  return JSON.stringify(objectOf(connection));
}

const objectOf = ({ id, name, extra }: Connection) => ({ id, name, ...furtherFields(extra) });

/** Reads a connection reference that `wireConnection` wrote; throws a SyntaxError if it is not one. */
export function readWireConnection(json: string): Connection {
  const { id, name, ...others } = furtherFields(json);
  if (typeof id !== 'number' || (name !== null && typeof name !== 'string'))
    throw new SyntaxError('it is not a connection in JSON');
  return { id, name, extra: Object.keys(others).length === 0 ? null : JSON.stringify(others) };
}
