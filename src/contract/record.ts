import { isDeepStrictEqual } from 'node:util';
import {
  connectionContent,
  contentWriter,
  furtherFields,
  normalExtra,
  type RecordValues,
} from './content.ts';
import { hasLongNumbers, isDeeper, parseExact } from './json.ts';
import {
  type ArrayField,
  arrayFields,
  type ListDefinition,
  listOf,
  type Scalar,
  type ScalarField,
  scalarFields,
} from './lists.ts';
import type { ContentPart, PageContent } from './page.ts';
import { contentBytes } from './sum.ts';
import { readWireConnection } from './wire.ts';

/** The members of a connection in a record that refers to it. */
export interface ConnectionMention {
  readonly id: number;
  /** As the service gives it: the text can contain a lone surrogate, which has no UTF-8 form. */
  readonly name: string | null;
  /** Compact JSON of its further fields; null if there are none. */
  readonly extra: string | null;
}

/** An item of a list as the mirror keeps it. */
export interface MirrorRecord extends RecordValues {
  /** 16 bytes: the hash of all its fields, but of no connection's name. */
  readonly content: Buffer;
  readonly mentions: readonly ConnectionMention[];
}

/** An item that can't be read, complete. */
export interface Rejection {
  /** Its place on the page, from 0. */
  readonly position: number;
  readonly reason: string;
  /** Compact JSON of the item. */
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

/** The most levels of nesting in a record; a deeper one is rejected. */
const nestingMax = 512;
const tooDeep = `the record is nested deeper than ${nestingMax} levels`;

/** The message says why an item can't be read. */
class Unreadable extends Error {}

type Item = { readonly [name: string]: unknown };
/** Finds an item of a part again, with all digits of its numbers. */
type ExactItems = (place: number) => Item;

/** Reads the items of a page of a list: unknown in, typed records out. */
export function readRecords(list: ListDefinition, { count, parts }: PageContent): PageRecords {
  const shape = shapes.get(list) ?? shapeOf(list);
  const records: MirrorRecord[] = [];
  const positions: number[] = [];
  const rejections: Rejection[] = [];
  // One buffer for each page: a buffer for each record would cost as much as its hash.
  const contents = Buffer.allocUnsafe(count * contentBytes);
  let position = 0;
  for (const part of parts) {
    const exact = exactItems(part);
    for (let place = 0; place < part.items.length; place++, position++) {
      const item = part.items[place];
      try {
        records.push(readItem(shape, item, { exact, place, contents, position }));
        positions.push(position);
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        rejections.push({ position, reason: error.message, record: textOf(item, exact, place) });
      }
    }
  }
  return { records, positions, rejections, contents };
}

function exactItems({ items, text }: ContentPart): ExactItems {
  let exact: readonly unknown[] | undefined;
  return place => {
    try {
      exact ??= hasLongNumbers(text()) ? (parseExact(text()) as unknown[]) : items;
    } catch (error) {
      if (error instanceof RangeError) throw new Unreadable(tooDeep);
      throw error;
    }
    return exact[place] as Item;
  };
}

/** An item that is nested too deep to be written is written without the members that are. */
function textOf(item: unknown, exact: ExactItems, place: number): string {
  try {
    return JSON.stringify(exact(place));
  } catch {
    const members = Object.entries(item as object).filter(([, value]) => !isDeeper(value, nestingMax));
    return JSON.stringify(Object.fromEntries(members));
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
    writeContent: contentWriter(list),
  };
  shapes.set(list, shape);
  return shape;
}

interface Place {
  readonly exact: ExactItems;
  /** In its part. */
  readonly place: number;
  readonly contents: Buffer;
  /** On the page. */
  readonly position: number;
}

/** @throws Unreadable if the item is not a record of the list. */
function readItem(shape: ReturnType<typeof shapeOf>, item: unknown, at: Place): MirrorRecord {
  if (!isObject(item)) throw new Unreadable('the item is not an object');
  const reading = new ItemReading(item, at.exact, at.place);
  if (shape.byId && item.id === undefined) throw new Unreadable("the item: must have required property 'id'");
  const id = shape.byId ? readInteger('id', item.id) : null;
  if (shape.byId && id === null) throw mismatch('id', 'integer');
  const scalars = shape.scalars.map(field => reading.scalar(field, item[field.name]));
  const arrays = shape.arrays.map(field => reading.array(field, item[field.name]));
  const extra = reading.extra(shape.known);
  const offset = at.position * contentBytes;
  const content = at.contents.subarray(offset, offset + contentBytes);
  shape.writeContent({ id, scalars, arrays, extra }, at.contents, offset);
  return { id, scalars, arrays, extra, content, mentions: reading.mentions };
}

/** Reads the fields of one item, and collects the connections that it mentions and what fits no column. */
class ItemReading {
  readonly mentions: ConnectionMention[] = [];
  readonly #item: Item;
  readonly #exact: ExactItems;
  readonly #place: number;
  /** Fields of the contract that do not fit their columns; they are kept complete in `extra`. */
  #unheld: Set<string> | undefined;

  constructor(item: Item, exact: ExactItems, place: number) {
    this.#item = item;
    this.#exact = exact;
    this.#place = place;
  }

  scalar({ kind, name }: ScalarField, value: unknown): Scalar {
    if (kind === 'integer') return readInteger(name, value);
    if (kind === 'connection') return this.#connection(name, name, value);
    const text = readText(name, value);
    return text === null || text.isWellFormed() ? text : this.#keepWhole(name);
  }

  array({ kind, name }: ArrayField, value: unknown): Scalar[] {
    if (value === null || value === undefined) {
      // No rows can mean an empty array, so a missing one is recorded in `extra`.
      this.#keepWhole(name);
      return [];
    }
    if (!Array.isArray(value)) throw mismatch(name, 'array');
    if (kind === 'connections') {
      return value.map((each, at) => this.#connection(`${name}.${at}`, name, each, at));
    }
    const texts = value.map((each, at) => readText(`${name}.${at}`, each));
    if (texts.every(text => text?.isWellFormed())) return texts;
    this.#keepWhole(name);
    return [];
  }

  /** Compact JSON of the members without a column, in the order received; null if there are none. */
  extra(known: ReadonlySet<string>): string | null {
    const unheld = this.#unheld;
    if (unheld === undefined && areAllIn(known, this.#item)) return null;
    const missing = [...(unheld ?? [])].filter(name => !(name in this.#item));
    const others = this.#others(this.#item, name => known.has(name) && !unheld?.has(name));
    return objectOf([...missing.map(name => `${JSON.stringify(name)}:null`), ...others]);
  }

  /** @param at its place in an array of connections. */
  #connection(path: string, field: string, value: unknown, at?: number): number | null {
    if (value === null || value === undefined) return null;
    if (!isObject(value)) throw mismatch(path, 'object');
    const id = readInteger(`${path}.id`, value.id);
    const name = readText(`${path}.name`, value.name);
    const others = areAllIn(inConnection, value)
      ? []
      : this.#others(value, each => inConnection.has(each), field, at);
    const extra = objectOf(others);
    if (id !== null) this.mentions.push({ id, name, extra });
    // A connection without an id has no row, so the field is kept complete in `extra`, besides the null.
    else if (extra !== null || name !== null) this.#keepWhole(field);
    return id;
  }

  #keepWhole(name: string): null {
    this.#unheld ??= new Set();
    this.#unheld.add(name);
    return null;
  }

  /** The members without a column, with all digits of their numbers, of the item or of a connection in it. */
  #others(object: Item, isHeld: (name: string) => boolean, field?: string, at?: number): string[] {
    const names = Object.keys(object).filter(name => !isHeld(name));
    if (names.length === 0) return [];
    if (isDeeper(this.#item, nestingMax)) throw new Unreadable(tooDeep);
    const item = this.#exact(this.#place);
    const value = field === undefined ? item : item[field];
    const exact = (at === undefined ? value : (value as unknown[])[at]) as Item;
    return names.map(name => `${JSON.stringify(name)}:${JSON.stringify(exact[name])}`);
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

function isObject(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of a connection that have columns. */
const inConnection: ReadonlySet<string> = new Set(['id', 'name']);

/** Whether an object has no other members. Usually it has none, and to collect them is slow. */
function areAllIn(names: ReadonlySet<string>, object: object): boolean {
  for (const name in object) if (!names.has(name)) return false;
  return true;
}

function objectOf(members: readonly string[]): string | null {
  return members.length === 0 ? null : `{${members.join(',')}}`;
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
export function isNormalRecord(list: ListDefinition, { extra, arrays }: RecordValues): boolean {
  if (extra === null) return true;
  if (normalExtra(extra)?.length !== extra.length) return false;
  const further = furtherFields(extra);
  if (list.identity.by === 'id' && Object.hasOwn(further, 'id')) return false;
  return list.fields.every(({ name }) => {
    if (!Object.hasOwn(further, name)) return true;
    const alone = readOne(list, JSON.stringify({ id: 0, [name]: further[name] }));
    // A value of another kind was there before its field had a column.
    if (alone === undefined) return true;
    const fits = alone.extra === null || !Object.hasOwn(furtherFields(alone.extra), name);
    const at = arrayFields(list).findIndex(field => field.name === name);
    return !fits && isDeepStrictEqual(alone.arrays[at], arrays[at]);
  });
}

/** A record of a list from its JSON in the service's own shape; undefined if no record of the list is so. Throws a SyntaxError if it is no JSON. */
export function readOne(list: ListDefinition, json: string): MirrorRecord | undefined {
  const part = { text: () => `[${json}]`, items: [JSON.parse(json)] };
  return readRecords(list, { count: 1, parts: [part] }).records[0];
}
