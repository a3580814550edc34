import { canonicalJson, canonicalObject, type Member, parseExact } from './json.ts';
import { arrayFields, type Field, type ListDefinition, type Scalar, scalarFields } from './lists.ts';
import { hash16, hash16Hex, writeHash16 } from './sum.ts';

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

/** A connection as the mirror stores it. */
export interface StoredConnection {
  readonly id: number;
  readonly name: string | null;
  /** Compact JSON of the members that have no column; null if there are none. */
  readonly extra: string | null;
}

/** Writes a record's content, 16 bytes, to a place in a buffer. */
export type ContentWriter = (record: RecordValues, target: Buffer, offset: number) => void;

/**
 * Makes the function that computes the content of a list's records: the first 16 bytes of the SHA-256 of canonical JSON
 * in the service's shape. Fields that are null or absent are left out, and a reference to a connection is `{"id":N}`
 * alone. docs/audit.md describes it.
 */
export function contentWriter(list: ListDefinition): ContentWriter {
  const text = canonicalRecord(list);
  return (record, target, offset) => writeHash16(text(record), target, offset);
}

/** A record's content as 32 hexadecimal digits. */
export function contentOf(list: ListDefinition, record: RecordValues): string {
  return hash16Hex(canonicalRecord(list)(record));
}

/** The content of a connection: `{"id":N,"name":"…"}` with its further fields. */
export function connectionContent({ id, name, extra }: StoredConnection): Buffer {
  const members: Member[] = [['id', String(id)]];
  if (name !== null) members.push(['name', JSON.stringify(name)]);
  return hash16(canonicalObject(merged(members, extra, canonicalJson)));
}

/** The place of a member of the canonical text in a record. */
interface Part {
  readonly name: string;
  readonly from: 'id' | 'scalars' | 'arrays';
  readonly at: number;
  readonly isReference: boolean;
}

const writers = new WeakMap<ListDefinition, (record: RecordValues) => string>();

/**
 * The canonical text of a list's records: an object with its members in the order of their names, written at once. Only
 * `extra` needs a general writer.
 */
function canonicalRecord(list: ListDefinition): (record: RecordValues) => string {
  const known = writers.get(list);
  if (known !== undefined) return known;
  const parts = partsOf(list).sort((a, b) => (a.name < b.name ? -1 : 1));
  const references = new Set(parts.filter(part => part.isReference).map(({ name }) => name));
  const canonicalExtra = (value: unknown, name: string) =>
    canonicalJson(references.has(name) ? withoutNames(value) : value);

  const write = (record: RecordValues): string => {
    const members = membersOf(parts, record);
    if (record.extra === null) return JSON.stringify(members);
    const held = Object.entries(members).filter(([, value]) => value !== undefined);
    const canonical = held.map(([name, value]): Member => [name, JSON.stringify(value)]);
    return canonicalObject(merged(canonical, record.extra, canonicalExtra));
  };
  writers.set(list, write);
  return write;
}

function partsOf(list: ListDefinition): Part[] {
  const part =
    (from: Part['from']) =>
    ({ name, kind }: Field, at: number): Part => ({
      name,
      from,
      at,
      isReference: kind === 'connection' || kind === 'connections',
    });
  const id: Part[] = list.identity.by === 'id' ? [{ name: 'id', from: 'id', at: 0, isReference: false }] : [];
  return [...id, ...scalarFields(list).map(part('scalars')), ...arrayFields(list).map(part('arrays'))];
}

/**
 * A record's members in the order of their names. A null is made undefined, which JSON leaves out. It runs for every
 * record that is read.
 */
function membersOf(parts: readonly Part[], { id, scalars, arrays }: RecordValues): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const { name, from, at, isReference } of parts) {
    if (from === 'id') members[name] = id;
    else if (from === 'scalars') {
      const value = scalars[at] as Scalar;
      members[name] = value === null ? undefined : isReference ? { id: value } : value;
    } else {
      const values = arrays[at] ?? [];
      members[name] = isReference ? values.map(reference) : values;
    }
  }
  return members;
}

function reference(id: Scalar): { id: Scalar } | null {
  return id === null ? null : { id };
}

/**
 * The members with those of `extra`. A field that did not fit its columns is complete in `extra`, and its columns are
 * empty or contain its ids. If the two differ, both count, so that neither can hide the other.
 */
function merged(
  members: readonly Member[],
  extra: string | null,
  canonical: (value: unknown, name: string) => string,
): Member[] {
  if (extra === null) return [...members];
  const further = furtherFields(extra);
  const isHeldTwice = ([name, json]: Member) =>
    Object.hasOwn(further, name) && (json === '[]' || json === idsIn(further[name]));
  return [
    ...members.filter(member => !isHeldTwice(member)),
    ...Object.entries(further).flatMap(([name, value]): Member[] =>
      value === null ? [] : [[name, canonical(value, name)]],
    ),
  ];
}

/** @throws SyntaxError if the text is not a JSON object. */
export function furtherFields(extra: string): Readonly<Record<string, unknown>> {
  const fields = parseExact(extra);
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new SyntaxError('it is not a JSON object');
  return fields as Record<string, unknown>;
}

/** The ids that the columns contain for references that are complete in `extra`; null if the value is not an array. */
function idsIn(value: unknown): string | null {
  return Array.isArray(value) ? JSON.stringify(value.map(each => reference(each?.id ?? null))) : null;
}

/** References that fit no column, each that has an id as `{"id":N}` alone. The service can't have sent any other name. */
function withoutNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNames);
  const { id, name = null } = Object(value) as { readonly id?: unknown; readonly name?: unknown };
  return Number.isSafeInteger(id) && (name === null || typeof name === 'string') ? { id } : value;
}

/**
 * Further fields as docmirror writes them: compact JSON of an object with members, else null.
 *
 * @throws SyntaxError if the text is not a JSON object.
 */
export function normalExtra(extra: string | null): string | null {
  const fields = extra === null ? {} : furtherFields(extra);
  return Object.keys(fields).length === 0 ? null : JSON.stringify(fields);
}
