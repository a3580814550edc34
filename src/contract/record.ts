import { isDeepStrictEqual } from 'node:util';
import {
  canonicalRecord,
  connectionContent,
  type NameAndExtra,
  type RecordValues,
  readWireConnection,
  wireWriter,
} from './content.ts';
import { isDeeper, isObject } from './json.ts';
import {
  type ArrayField,
  arrayFields,
  type ListDefinition,
  listOf,
  type Scalar,
  type ScalarField,
  scalarFields,
} from './lists.ts';
import { type PageContent, readContent } from './page.ts';
import { contentBytes, writeHash16 } from './sum.ts';

/** What a record says of a connection. */
export interface ConnectionMention extends NameAndExtra {
  readonly id: number;
}

/** An item of a list as the mirror keeps it. */
export interface MirrorRecord extends RecordValues {
  /** 16 bytes: the hash of all its fields, but of no connection's name. */
  readonly content: Buffer;
  readonly mentions: readonly ConnectionMention[];
}

/** An item that can't be read. */
export interface Rejection {
  /** Its place on the page, from 0. */
  readonly position: number;
  readonly reason: string;
  /** Compact JSON of the item; of one that is nested some thousand levels deep, the reason. */
  readonly record: string;
}

/** A page's items, each read or rejected. */
export interface PageRecords {
  readonly records: readonly MirrorRecord[];
  /** The records' places on the page, from 0. */
  readonly positions: readonly number[];
  readonly rejections: readonly Rejection[];
  /** 16 bytes for each item, in their order: the content of a record, anything for a rejected one. */
  readonly contents: Buffer;
}

/** The most levels of nesting in a record: SQLite reads JSON of 1,000. */
const nestingMax = 512;
const tooDeep = `the record is nested deeper than ${nestingMax} levels`;

/** The message says why an item can't be read. */
class Unreadable extends Error {}

type Exact = PageContent['exact'];
type Item = { readonly [name: string]: unknown };

/** Reads the items of a page of a list: unknown in, typed records out. */
export function readRecords(list: ListDefinition, { items, exact }: PageContent): PageRecords {
  const shape = shapes.get(list) ?? shapeOf(list);
  const records: MirrorRecord[] = [];
  const positions: number[] = [];
  const rejections: Rejection[] = [];
  // One buffer for each page: a buffer for each record would cost as much as its hash.
  const contents = Buffer.allocUnsafe(items.length * contentBytes);
  for (let position = 0; position < items.length; position++) {
    try {
      records.push(readItem(shape, items[position], exact, position, contents));
      positions.push(position);
    } catch (error) {
      // A page can be nested too deep to be parsed again.
      if (!(error instanceof Unreadable || error instanceof RangeError)) throw error;
      const reason = error instanceof Unreadable ? error.message : tooDeep;
      rejections.push({ position, reason, record: textOf(exact, position) });
    }
  }
  return { records, positions, rejections, contents };
}

function textOf(exact: Exact, position: number): string {
  try {
    return JSON.stringify(exact()[position]);
  } catch {
    return JSON.stringify(tooDeep);
  }
}

const shapes = new WeakMap<ListDefinition, ReturnType<typeof shapeOf>>();

/** The parts of a list's definition that `readRecords` needs, computed once. */
function shapeOf(list: ListDefinition) {
  const byId = list.identity.by === 'id';
  const shape = {
    scalars: scalarFields(list),
    arrays: arrayFields(list),
    known: new Set([...(byId ? ['id'] : []), ...list.fields.map(field => field.name)]),
    byId,
    canonical: canonicalRecord(list),
  };
  shapes.set(list, shape);
  return shape;
}

/** @throws Unreadable if the item is not a record of the list. */
function readItem(
  shape: ReturnType<typeof shapeOf>,
  item: unknown,
  exact: Exact,
  position: number,
  contents: Buffer,
): MirrorRecord {
  if (!isObject(item)) throw new Unreadable('the item is not an object');
  if (shape.byId && item.id === undefined) throw new Unreadable("the item: must have required property 'id'");
  const id = shape.byId ? readInteger('id', item.id) : null;
  if (shape.byId && id === null) throw mismatch('id', 'integer');
  const reading = new ItemReading(item, exact, position);
  const scalars = shape.scalars.map(field => reading.scalar(field));
  const arrays = shape.arrays.map(field => reading.array(field));
  const extra = reading.extra(shape.known);
  const offset = position * contentBytes;
  writeHash16(shape.canonical({ id, scalars, arrays, extra }), contents, offset);
  const content = contents.subarray(offset, offset + contentBytes);
  return { id, scalars, arrays, extra, content, mentions: reading.mentions };
}

/** Reads the fields of one item, and collects the connections that it mentions and what fits no column. */
class ItemReading {
  readonly mentions: ConnectionMention[] = [];
  readonly #item: Item;
  readonly #exact: Exact;
  readonly #position: number;
  /** Fields of the contract that do not fit their columns; they are kept complete in `extra`. */
  readonly #unheld: string[] = [];

  constructor(item: Item, exact: Exact, position: number) {
    this.#item = item;
    this.#exact = exact;
    this.#position = position;
  }

  scalar({ kind, name }: ScalarField): Scalar {
    const value = this.#item[name];
    if (kind === 'integer') return readInteger(name, value);
    if (kind === 'connection') return this.#connection(name, name, value);
    const text = readText(name, value);
    if (text === null || text.isWellFormed()) return text;
    this.#unheld.push(name);
    return null;
  }

  array({ kind, name }: ArrayField): Scalar[] {
    const values = this.#item[name] ?? null;
    if (values === null) {
      // No rows can mean an empty array, so a missing one is recorded in `extra`.
      this.#unheld.push(name);
      return [];
    }
    if (!Array.isArray(values)) throw mismatch(name, 'array');
    if (kind === 'connections')
      return values.map((value, at) => this.#connection(`${name}.${at}`, name, value, at));
    const texts = values.map((value, at) => readText(`${name}.${at}`, value));
    if (texts.every(text => text?.isWellFormed())) return texts;
    this.#unheld.push(name);
    return [];
  }

  /** Compact JSON of the members without a column; null if there are none. */
  extra(known: ReadonlySet<string>): string | null {
    const further = namesBeside(known, this.#item);
    const names = this.#unheld.length === 0 ? further : [...further, ...this.#unheld];
    return this.#membersOf(names);
  }

  /** @param at its place in an array of connections. */
  #connection(path: string, field: string, value: unknown, at?: number): number | null {
    if (value === null || value === undefined) return null;
    if (!isObject(value)) throw mismatch(path, 'object');
    const id = readInteger(`${path}.id`, value.id);
    const name = readText(`${path}.name`, value.name);
    const extra = this.#membersOf(namesBeside(inConnection, value), field, at);
    // Half a surrogate pair has no UTF-8 form.
    if (id !== null) this.mentions.push({ id, name: name?.toWellFormed() ?? null, extra });
    // A connection without an id has no row, so the field is kept complete in `extra`, besides the null.
    else if (extra !== null || name !== null) this.#unheld.push(field);
    return id;
  }

  /** Members of the item, or of a connection in it, with all digits of their numbers. */
  #membersOf(names: readonly string[], field?: string, at?: number): string | null {
    if (names.length === 0) return null;
    if (isDeeper(this.#item, nestingMax)) throw new Unreadable(tooDeep);
    const item = this.#exact()[this.#position] as Item;
    const value = field === undefined ? item : item[field];
    const object = (at === undefined ? value : (value as unknown[])[at]) as Item;
    return JSON.stringify(Object.fromEntries(names.map(name => [name, object[name] ?? null])));
  }
}

function readText(path: string, value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  throw mismatch(path, 'string');
}

function readInteger(path: string, value: unknown): number | null {
  if (Number.isSafeInteger(value)) return value as number;
  if (value === null || value === undefined) return null;
  if (!Number.isInteger(value)) throw mismatch(path, 'integer');
  throw new Unreadable(`${path}: the number is beyond 2^53, so it can't be held exactly`);
}

function mismatch(path: string, type: string): Unreadable {
  return new Unreadable(`${path}: must be ${path === 'id' ? type : `${type} or null`}`);
}

/** The members of a connection that have columns. */
const inConnection: ReadonlySet<string> = new Set(['id', 'name']);
const none: readonly string[] = [];

/** The members of an object that have no column. Usually there are none, so it makes no array first. */
function namesBeside(known: ReadonlySet<string>, object: object): readonly string[] {
  let names: string[] | undefined;
  for (const name in object)
    if (!known.has(name)) {
      names ??= [];
      names.push(name);
    }
  return names ?? none;
}

/** A record of a list from its JSON in the service's own shape; undefined if no record of the list is so. Throws a SyntaxError if it is no JSON. */
export function readOne(list: ListDefinition, json: string): MirrorRecord | undefined {
  return readRecords(list, readContent(Buffer.from(`[${json}]`))).records[0];
}

/**
 * The content of a record, in 32 hexadecimal digits, from its JSON in the service's own shape.
 *
 * @param resource a list, or `connections`.
 * @throws SyntaxError, TypeError if the text is not a record of that resource.
 */
export function contentOfJson(resource: string, json: string): string {
  if (resource === 'connections') return connectionContent(readWireConnection(json)).toString('hex');
  const record = readOne(listOf(resource), json);
  if (record === undefined) throw new TypeError(`The text is not a record of ${resource}.`);
  return record.content.toString('hex');
}

/**
 * Whether a record's further fields are as docmirror writes them: in compact JSON, and none that fits its column, so that
 * queries of the columns find it. The order of the fields does not count.
 *
 * @throws SyntaxError if `extra` is not a JSON object.
 */
export function isNormalRecord(list: ListDefinition, { id, scalars, arrays, extra }: RecordValues): boolean {
  if (extra === null) return true;
  const read = readOne(list, wireWriter(list, () => undefined)({ id, scalars, arrays, extra }));
  // A value of another kind was there before its field had a column.
  if (read === undefined) return true;
  return (
    read.extra?.length === extra.length && isDeepStrictEqual([read.scalars, read.arrays], [scalars, arrays])
  );
}
