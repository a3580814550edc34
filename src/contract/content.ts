import { canonicalJson, canonicalObject, type Member, parseKept } from './canonical.ts';
import { arrayFields, type Field, type ListDefinition, type Scalar, scalarFields } from './lists.ts';
import { hash16, writeHash16 } from './sum.ts';

/** What of a record stands in the mirror's columns, from which its content can be computed by anyone. */
export interface RecordValues {
  /** The service's id; null in a list that has none. */
  readonly id: number | null;
  /** Texts, whole numbers and connection ids, in the order of `scalarFields(list)`. */
  readonly scalars: readonly Scalar[];
  /** Texts or connection ids of each array, in the order of `arrayFields(list)`. */
  readonly arrays: readonly (readonly Scalar[])[];
  /** Compact JSON of what the columns can't hold; null when there is nothing. */
  readonly extra: string | null;
}

/** Writes a record's content, 16 bytes, to a place in a buffer. */
export type ContentWriter = (record: RecordValues, target: Buffer, offset: number) => void;

/**
 * Makes the function that says what a list's records say: the first 16 bytes of the SHA-256 of canonical JSON in the service's
 * shape, without fields that are null or absent, a reference to a connection as `{"id":N}` alone. Source: CONTRACT, section 5.
 */
export function contentWriter(list: ListDefinition): ContentWriter {
  const text = canonicalRecord(list);
  return (record, target, offset) => writeHash16(text(record), target, offset);
}

/** A record's content as a buffer of its own; for a few records. */
export function contentOf(list: ListDefinition, record: RecordValues): Buffer {
  return hash16(canonicalRecord(list)(record));
}

/** The content of a connection: `{"id":N,"name":"…"}` with its further fields. */
export function connectionContent(id: number, name: string | null, extra: string | null): Buffer {
  const members: Member[] = [['id', String(id)]];
  if (name !== null) members.push(['name', JSON.stringify(name)]);
  return hash16(canonicalObject(merged(members, extra, canonicalJson)));
}

/** Where a field's value is found in a record, and how it is written. */
interface Part {
  readonly name: string;
  readonly prefix: string;
  readonly json: (record: RecordValues) => string | null;
}

const texts = new WeakMap<ListDefinition, (record: RecordValues) => string>();

/** The canonical text of a list's records, by concatenation in the order of field names; only `extra` needs a general writer. */
function canonicalRecord(list: ListDefinition): (record: RecordValues) => string {
  const known = texts.get(list);
  if (known !== undefined) return known;
  const parts = partsOf(list).sort((a, b) => (a.name < b.name ? -1 : 1));
  const connectionFields = new Set(list.fields.filter(isReference).map(field => field.name));
  const canonicalExtra = (value: unknown, name: string) =>
    canonicalJson(connectionFields.has(name) ? withoutNames(value) : value);

  const write = (record: RecordValues): string => {
    if (record.extra === null) {
      let json = '';
      for (const part of parts) {
        const value = part.json(record);
        if (value !== null) json += json === '' ? `${part.prefix}${value}` : `,${part.prefix}${value}`;
      }
      return `{${json}}`;
    }
    const members = parts.flatMap(({ name, json }): Member[] => {
      const value = json(record);
      return value === null ? [] : [[name, value]];
    });
    return canonicalObject(merged(members, record.extra, canonicalExtra));
  };
  texts.set(list, write);
  return write;
}

function partsOf(list: ListDefinition): Part[] {
  const part = (name: string, json: Part['json']): Part => ({
    name,
    prefix: `${JSON.stringify(name)}:`,
    json,
  });
  const id = list.identity.by === 'id' ? [part('id', record => String(record.id))] : [];
  const scalars = scalarFields(list).map(({ name, kind }, at) =>
    part(name, record => {
      const value = record.scalars[at] as Scalar;
      if (value === null) return null;
      return kind === 'connection' ? `{"id":${value}}` : JSON.stringify(value);
    }),
  );
  const arrays = arrayFields(list).map(({ name, kind }, at) =>
    part(name, record => {
      const values = record.arrays[at] ?? [];
      return kind === 'texts' ? JSON.stringify(values) : `[${values.map(referenceJson).join(',')}]`;
    }),
  );
  return [...id, ...scalars, ...arrays];
}

function referenceJson(id: Scalar): string {
  return id === null ? 'null' : `{"id":${id}}`;
}

/** The members with those of `extra`, which go before: a field that its columns could not hold stands whole there. */
function merged(
  members: readonly Member[],
  extra: string | null,
  canonical: (value: unknown, name: string) => string,
): Member[] {
  if (extra === null) return [...members];
  const further = Object.entries(parseKept(extra) as Record<string, unknown>);
  const held = new Set(further.map(([name]) => name));
  return [
    ...members.filter(([name]) => !held.has(name)),
    ...further.flatMap(([name, value]): Member[] => (value === null ? [] : [[name, canonical(value, name)]])),
  ];
}

function isReference({ kind }: Field): boolean {
  return kind === 'connection' || kind === 'connections';
}

/** References that no column could hold, each that has an id as `{"id":N}` alone. */
function withoutNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNames);
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null;
  return id === null ? value : { id };
}
