import { contentWriter, type RecordValues } from './content.ts';
import { elementTexts, hasUncertainNumbers, parseExact, uncertainMembers } from './exact-json.ts';
import {
  type ArrayField,
  arrayFields,
  itemSchema,
  type ListDefinition,
  type Scalar,
  type ScalarField,
  scalarFields,
} from './lists.ts';
import { isDeeper, nestingMax } from './nesting.ts';
import type { ContentPart, PageContent } from './page.ts';
import { contentBytes } from './sum.ts';
import { type Check, compile } from './validate.ts';

/** An item of a list as the mirror keeps it. */
export interface MirrorRecord extends RecordValues {
  /** 16 bytes that say what the record says: all its fields, but no connection's name. */
  readonly content: Buffer;
  readonly mentions: readonly ConnectionMention[];
}

/** What a record says of a connection that it refers to. */
export interface ConnectionMention {
  readonly id: number;
  /** As the service gives it: a text that need not have a UTF-8 form. */
  readonly name: string | null;
  /** Compact JSON of its further fields; null when there are none. */
  readonly extra: string | null;
}

/** An item that can't be read, whole. */
export interface Rejection {
  /** Its place on the page, from 0. */
  readonly position: number;
  readonly reason: string;
  /** The item's JSON text as received. */
  readonly record: string;
}

/** A page's items, each read or rejected. */
export interface PageRecords {
  readonly records: readonly MirrorRecord[];
  /** The records' places on the page, from 0. */
  readonly positions: readonly number[];
  readonly rejections: readonly Rejection[];
}

/** Reads the items of one list's pages: unknown in, typed records out. */
export interface PageReader {
  /** Reads the items of a page; of some places alone where these are given, in ascending order. */
  read(page: PageContent, only?: readonly number[]): PageRecords;
}

type Item = { readonly [name: string]: unknown };
type Connection = { readonly id?: number | null; readonly name?: string | null };

const readers = new WeakMap<ListDefinition, PageReader>();

/** The reader of a list's pages; it is made once, for that compiles the list's schema. */
export function pageReader(list: ListDefinition): PageReader {
  const reader = readers.get(list) ?? makeReader(list);
  readers.set(list, reader);
  return reader;
}

function makeReader(list: ListDefinition): PageReader {
  const isItem = compile<Item>(itemSchema(list));
  const shape = shapeOf(list);

  /** The record that an item says, or why it can't be read. */
  const readOne = (
    part: PartText,
    place: number,
    item: unknown,
    contents: Buffer,
    at: number,
  ): MirrorRecord | string => {
    if (!isItem(item)) return explain(isItem, item);
    const reading = new ItemReading(part, place, item);
    const record = readItem(shape, reading, item, contents, at);
    if (record === null) return tooDeep;
    // Parsed, 1.00000000000000000001 is a whole number, and might be another record's id; by its digits it is none.
    return !part.hasUncertainIntegers || isItem(reading.exact) ? record : explain(isItem, reading.exact);
  };

  return {
    read({ count, parts }, only) {
      const records: MirrorRecord[] = [];
      const positions: number[] = [];
      const rejections: Rejection[] = [];
      // One buffer a page: a buffer of its own for each record costs as much as its hash.
      const contents = Buffer.allocUnsafe((only?.length ?? count) * contentBytes);
      let at = 0;
      let from = 0;
      for (const part of parts) {
        const text = new PartText(part, shape.hasUncertainIntegers);
        for (let place = 0; place < part.items.length; place++) {
          const position = from + place;
          if (only !== undefined && only[at] !== position) continue;
          const read = readOne(text, place, part.items[place], contents, at++);
          if (typeof read === 'string') {
            rejections.push({ position, reason: read, record: text.itemText(place) });
          } else {
            records.push(read);
            positions.push(position);
          }
        }
        from += part.items.length;
      }
      return { records, positions, rejections };
    },
  };
}

const tooDeep = `the record is nested deeper than ${nestingMax} levels`;

/** What a list's items hold, worked out once. */
function shapeOf(list: ListDefinition) {
  const byId = list.identity.by === 'id';
  const known = new Set([...(byId ? ['id'] : []), ...list.fields.map(field => field.name)]);
  const writeContent = contentWriter(list);
  const integers = list.fields.filter(({ kind }) => kind === 'integer').map(({ name }) => name);
  const hasUncertainIntegers = uncertainMembers(['id', ...integers]);
  return {
    scalars: scalarFields(list),
    arrays: arrayFields(list),
    known,
    byId,
    writeContent,
    hasUncertainIntegers,
  };
}

/** The record that an item says; null where it is nested too deep. */
function readItem(
  shape: ReturnType<typeof shapeOf>,
  reading: ItemReading,
  item: Item,
  contents: Buffer,
  at: number,
): MirrorRecord | null {
  const scalars = shape.scalars.map(field => reading.scalar(field, item[field.name]));
  const arrays = shape.arrays.map(field => reading.array(field, item[field.name]));
  const extra = reading.extra(item, shape.known);
  if (reading.isTooDeep) return null;
  const id = shape.byId ? (item.id as number) : null;
  const offset = at * contentBytes;
  const content = contents.subarray(offset, offset + contentBytes);
  shape.writeContent({ id, scalars, arrays, extra }, contents, offset);
  return { id, scalars, arrays, extra, content, mentions: reading.mentions };
}

/** The text of some of a page's items and what is known of it as a whole; the costly exact reading is made when first asked for. */
class PartText {
  readonly #text: string;
  readonly hasSurrogateEscapes: boolean;
  /** Whether an id or another whole number may be one only because it was rounded. */
  readonly hasUncertainIntegers: boolean;
  #hasUncertainNumbers: boolean | undefined;
  #items: string[] | undefined;

  constructor({ text }: ContentPart, hasUncertainIntegers: (text: string) => boolean) {
    this.#text = text;
    this.hasUncertainIntegers = hasUncertainIntegers(text);
    this.hasSurrogateEscapes = text.includes('\\ud') || text.includes('\\uD');
  }

  /** Found out when first asked for: where all fields are known it takes as long as a fourth of the parsing, for nothing. */
  get hasUncertainNumbers(): boolean {
    this.#hasUncertainNumbers ??= hasUncertainNumbers(this.#text);
    return this.#hasUncertainNumbers;
  }

  /** An item's text, byte for byte as received. */
  itemText(place: number): string {
    this.#items ??= elementTexts(this.#text);
    return this.#items[place] ?? 'null';
  }
}

/** One item on its way to a record: collects what it says of connections and what no column can hold. */
class ItemReading {
  readonly mentions: ConnectionMention[] = [];
  isTooDeep = false;
  readonly #part: PartText;
  readonly #place: number;
  readonly #item: Item;
  /** Fields of the contract that their columns can't hold as they are; they stand whole among the extra ones. */
  #unheld: Set<string> | undefined;
  #exact: Item | undefined;

  constructor(part: PartText, place: number, item: Item) {
    this.#part = part;
    this.#place = place;
    this.#item = item;
  }

  scalar(field: ScalarField, value: unknown): Scalar {
    if (value === null || value === undefined) return null;
    if (field.kind === 'integer') return value as number;
    if (field.kind === 'connection') return this.#connectionId(value as Connection, field.name);
    return this.#isHeld(value as string) ? (value as string) : this.#keepWhole(field.name);
  }

  array(field: ArrayField, value: unknown): Scalar[] {
    if (value === null || value === undefined) {
      // No rows say that the array is empty, so that there is none is said elsewhere.
      this.#keepWhole(field.name);
      return [];
    }
    if (field.kind === 'texts') {
      const texts = value as (string | null)[];
      if (texts.every(text => text !== null && this.#isHeld(text))) return texts;
      this.#keepWhole(field.name);
      return [];
    }
    return (value as (Connection | null)[]).map((element, at) =>
      element === null ? null : this.#connectionId(element, field.name, at),
    );
  }

  /** Compact JSON of the members that no column holds, in the order received; null when there are none. */
  extra(item: Item, known: ReadonlySet<string>): string | null {
    if (this.#unheld === undefined && areAllIn(known, item)) return null;
    const members: string[] = [];
    for (const name of this.#unheld ?? []) if (!(name in item)) members.push(`${JSON.stringify(name)}:null`);
    return this.#leftover(item, name => known.has(name) && !this.#unheld?.has(name), [], members);
  }

  /** @param at its place in an array of connections. */
  #connectionId(value: Connection, field: string, at?: number): number | null {
    const id = value.id ?? null;
    const name = value.name ?? null;
    const extra = areAllIn(inConnection, value) ? null : this.#connectionExtra(value, field, at);
    if (id !== null) this.mentions.push({ id, name, extra });
    // A connection without an id has no row to stand in, so the field is kept whole beside the null.
    else if (extra !== null || name !== null) this.#keepWhole(field);
    return id;
  }

  #connectionExtra(value: Connection, field: string, at?: number): string | null {
    const path = at === undefined ? [field] : [field, at];
    return this.#leftover(value, name => inConnection.has(name), path, []);
  }

  /** Half a surrogate pair has no UTF-8 form, so no column can hold it. */
  #isHeld(text: string): boolean {
    return !this.#part.hasSurrogateEscapes || text.isWellFormed();
  }

  #keepWhole(name: string): null {
    this.#unheld ??= new Set();
    this.#unheld.add(name);
    return null;
  }

  #leftover(
    object: object,
    isHeld: (name: string) => boolean,
    path: readonly (string | number)[],
    members: string[],
  ): string | null {
    for (const name in object) {
      if (isHeld(name)) continue;
      const isExact = this.#part.hasUncertainNumbers;
      // An exact reading goes through all of the item with recursion, whatever of it is asked for.
      this.isTooDeep ||= isExact
        ? this.#exact === undefined && isDeeper(this.#item, nestingMax)
        : isDeeper((object as Item)[name], nestingMax - 1 - path.length);
      if (this.isTooDeep) return null;
      const holder = isExact ? this.#exactAt(path) : object;
      members.push(`${JSON.stringify(name)}:${JSON.stringify((holder as Item)[name])}`);
    }
    return members.length === 0 ? null : `{${members.join(',')}}`;
  }

  /** The item with numbers that keep their digits. */
  get exact(): Item {
    this.#exact ??= parseExact(this.#part.itemText(this.#place)) as Item;
    return this.#exact;
  }

  /** What stands there in it. */
  #exactAt(path: readonly (string | number)[]): unknown {
    return path.reduce<unknown>((at, step) => (at as Item)[step], this.exact);
  }
}

/** The members of a connection that its columns hold. */
const inConnection: ReadonlySet<string> = new Set(['id', 'name']);

/** Whether an object has no other members: mostly so, and what is left over is costly to collect. */
function areAllIn(names: ReadonlySet<string>, object: object): boolean {
  for (const name in object) if (!names.has(name)) return false;
  return true;
}

function explain(check: Check<Item>, item: unknown): string {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return 'the item is not an object';
  const { path, message } = check.why();
  const value = path.reduce<unknown>((at, name) => (at as Item)?.[name], item);
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  const problem = isRounded ? "the number is beyond 2^53, so it can't be held exactly" : message;
  return `${path.join('.') || 'the item'}: ${problem}`;
}
