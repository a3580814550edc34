// An item becomes a record with its content, or a rejection with a reason.

import { isDeepStrictEqual } from 'node:util';
import {
  type Connection,
  connectionContent,
  nothingIgnored,
  type RecordValues,
  readWireConnection,
  shapeOf,
  wireWriter,
} from './content.ts';
import { isDeeper, isObject, parseExact } from './json.ts';
import { type ArrayField, type ListDefinition, listOf, type Scalar, type ScalarField } from './lists.ts';
import { contentBytes, writeHash16 } from './sum.ts';
import { instantMs } from './time.ts';

/** An item of a list as the mirror keeps it. */
export interface MirrorRecord extends RecordValues {
  /** Its place on the page, from 0. */
  readonly position: number;
  /** What lists are ordered by: its id, or its time in milliseconds since 1970; NaN if it has none. */
  readonly key: number;
  /** Its content, 16 bytes at its offset: the hash of all its fields, but of no connection's name. */
  readonly contents: Buffer;
  readonly offset: number;
  readonly mentions: readonly Connection[];
}

/** An item that can't be read. */
export interface Rejection {
  /** Its place on the page, from 0. */
  readonly position: number;
  readonly reason: string;
  /** Compact JSON of the item; of one that is nested some thousand levels deep, the reason. */
  readonly record: string;
}

/** The most levels of nesting in a record: SQLite reads JSON of 1,000. */
const nestingMax = 512;
const tooDeep = `the record is nested deeper than ${nestingMax} levels`;

/** The message says why an item can't be read. */
class Unreadable extends Error {
  constructor(message: string) {
    // A whole list can be rejected, and the stack of each error would take longer than all the rest.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * Reads the items of a page of a list, but for those that are `undefined`. The `ignored` fields are left out of the contents, but are in the
 * records' `extra`.
 */
export function readRecords(list: ListDefinition, items: readonly unknown[], ignored = nothingIgnored) {
  const shape = shapeOf(list);
  const records: MirrorRecord[] = [];
  const rejections: Rejection[] = [];
  // One buffer for each page: a buffer for each record would cost as much as its hash.
  const contents = Buffer.allocUnsafe(items.length * contentBytes);
  for (let position = 0; position < items.length; position++) {
    const item = items[position];
    if (item === undefined) continue;
    try {
      const record = readItem(shape, item, position, contents);
      writeHash16(shape.canonical(record, ignored), contents, record.offset);
      records.push(record);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      rejections.push({ position, reason: error.message, record: textOf(item) });
    }
  }
  return { records, rejections };
}

function textOf(item: unknown): string {
  try {
    return JSON.stringify(item);
  } catch {
    return JSON.stringify(tooDeep);
  }
}

/** @throws Unreadable if the item is not a record of the list. */
function readItem(
  { byId, scalars: fields, arrays, timeAt, known }: ReturnType<typeof shapeOf>,
  item: unknown,
  position: number,
  contents: Buffer,
): MirrorRecord {
  if (!isObject(item)) throw new Unreadable('the item is not an object');
  const id = byId ? readInteger('id', item.id) : null;
  if (byId && id === null) throw mismatch('id', 'integer');
  const reading = new ItemReading(item);
  const scalars = fields.map(field => reading.scalar(field));
  const time = scalars[timeAt];
  return {
    position,
    contents,
    offset: position * contentBytes,
    id,
    key: id ?? (typeof time === 'string' ? instantMs(time) : null) ?? Number.NaN,
    scalars,
    arrays: arrays.map(field => reading.array(field)),
    extra: membersBeside(known, item, reading.unheld),
    mentions: reading.mentions,
  };
}

/** Reads the fields of one item, and collects the connections that it mentions and what fits no column. */
class ItemReading {
  readonly mentions: Connection[] = [];
  /** Fields of the contract that do not fit their columns; they are kept complete in `extra`. */
  readonly unheld: string[] = [];
  readonly #item: { readonly [name: string]: unknown };

  constructor(item: { readonly [name: string]: unknown }) {
    this.#item = item;
  }

  scalar({ kind, name }: ScalarField): Scalar {
    const value = this.#item[name];
    if (kind === 'connection') return this.#connection(name, name, value);
    if (kind === 'integer') return readInteger(name, value);
    const text = readText(name, value);
    return text === null || text.isWellFormed() ? text : this.#leave(name, null);
  }

  array({ kind, name }: ArrayField): Scalar[] {
    const values = this.#item[name] ?? null;
    // No rows can mean an empty array, so a missing one is recorded in `extra`.
    if (values === null) return this.#leave(name, []);
    if (!Array.isArray(values)) throw mismatch(name, 'array');
    if (kind === 'connections')
      return values.map((value, at) => this.#connection(`${name}.${at}`, name, value));
    const texts = values.map((value, at) => readText(`${name}.${at}`, value));
    return texts.every(text => text?.isWellFormed()) ? texts : this.#leave(name, []);
  }

  #connection(path: string, field: string, value: unknown): number | null {
    if (value === null || value === undefined) return null;
    if (!isObject(value)) throw mismatch(path, 'object');
    const id = readInteger(`${path}.id`, value.id);
    const name = readText(`${path}.name`, value.name);
    const extra = membersBeside(inConnection, value);
    // Half a surrogate pair has no UTF-8 form.
    if (id !== null) this.mentions.push({ id, name: name?.toWellFormed() ?? null, extra });
    // A connection without an id has no row.
    else if (extra !== null || name !== null) this.unheld.push(field);
    return id;
  }

  #leave<T>(field: string, value: T): T {
    this.unheld.push(field);
    return value;
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
  if (!Number.isInteger(value) && !JSON.isRawJSON(value)) throw mismatch(path, 'integer');
  throw new Unreadable(`${path}: the number is beyond 2^53, so it can't be held exactly`);
}

function mismatch(path: string, type: string): Unreadable {
  return new Unreadable(`${path}: must be ${path === 'id' ? type : `${type} or null`}`);
}

/** The members of a connection that have columns. */
const inConnection: ReadonlySet<string> = new Set(['id', 'name']);

/** Compact JSON of the members that have no column, and of those that do not fit it; null if there are none, as usual. */
function membersBeside(
  known: ReadonlySet<string>,
  object: { readonly [name: string]: unknown },
  unheld: readonly string[] = [],
): string | null {
  let names = unheld;
  for (const name in object) if (!known.has(name)) names = [...names, name];
  if (names.length === 0) return null;
  const members = Object.fromEntries(names.map(name => [name, object[name] ?? null]));
  if (isDeeper(members, nestingMax)) throw new Unreadable(tooDeep);
  return JSON.stringify(members);
}

/** A record of a list from its JSON in the service's own shape; undefined if it is none. Throws a SyntaxError if it is no JSON. */
export function readOne(list: ListDefinition, json: string, ignored = nothingIgnored) {
  return readRecords(list, [parseExact(json)], ignored).records[0];
}

/** The content of a record. */
export function contentBytesOf({ contents, offset }: Pick<MirrorRecord, 'contents' | 'offset'>): Buffer {
  return contents.subarray(offset, offset + contentBytes);
}

/** The values of the fields that identify a record of a list without ids, in the order of their definition. */
export function identifying(list: ListDefinition, { scalars }: Pick<RecordValues, 'scalars'>): Scalar[] {
  return shapeOf(list).identifyingAt.map(at => scalars[at] ?? null);
}

/** An id, or as JSON the fields that identify a record: contents with one identity are versions of it. Two texts of an instant are one. */
export function identityOf(list: ListDefinition, record: RecordValues & { readonly key?: number }): string {
  const { id, scalars, key } = record;
  if (list.identity.by === 'id') return String(id);
  const { timeAt, identifyingAt } = shapeOf(list);
  const text = scalars[timeAt];
  const instant = key ?? (typeof text === 'string' ? instantMs(text) : null) ?? Number.NaN;
  const time = Number.isNaN(instant) ? text : instant;
  return JSON.stringify(identifyingAt.map(at => (at === timeAt ? time : scalars[at])));
}

type Hashed = RecordValues & { readonly content: Buffer };

/** A record, or a connection whose name is its only scalar, from its JSON in the service's shape. Throws a SyntaxError or TypeError. */
export function recordOfJson(resource: string, json: string, ignored = nothingIgnored): Hashed {
  if (resource === 'connections') {
    const connection = readWireConnection(json);
    const { id, name, extra } = connection;
    return { id, scalars: [name], arrays: [], extra, content: connectionContent(connection) };
  }
  const record = readOne(listOf(resource), json, ignored);
  if (record === undefined) throw new TypeError(`The text is not a record of ${resource}.`);
  return { ...record, content: record.contents };
}

/** Whether `extra` is compact JSON with no field that fits its column, so that queries find it. Throws a SyntaxError if it is no JSON. */
export function isNormalRecord(list: ListDefinition, { id, scalars, arrays, extra }: RecordValues): boolean {
  if (extra === null) return true;
  const read = readOne(list, wireWriter(list, () => undefined)({ id, scalars, arrays, extra }));
  // A value of another kind was there before its field had a column.
  if (read === undefined) return true;
  const hasSameLength = read.extra?.length === extra.length;
  return hasSameLength && isDeepStrictEqual([read.scalars, read.arrays], [scalars, arrays]);
}
