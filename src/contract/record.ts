import { contentWriter, type RecordValues } from './content.ts';
import { uncertainMembers } from './exact-json.ts';
import { type ConnectionMention, type Item, ItemParser, PartText } from './item-parser.ts';
import { arrayFields, itemSchema, type ListDefinition, scalarFields } from './lists.ts';
import { nestingMax } from './nesting.ts';
import type { PageContent } from './page-content.ts';
import { contentBytes } from './sum.ts';
import { type Check, compile } from './validate.ts';

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
  /** The item's JSON text as received. */
  readonly record: string;
}

/** A page's items, each read or rejected. */
export interface PageRecords {
  readonly records: readonly MirrorRecord[];
  /** The records' places on the page, from 0. */
  readonly positions: readonly number[];
  readonly rejections: readonly Rejection[];
  /** The records' contents, 16 bytes each, one after the other. */
  readonly contents: Buffer;
}

const shapes = new WeakMap<ListDefinition, ReturnType<typeof shapeOf>>();

/**
 * Reads the items of a page of a list: unknown in, typed records out.
 *
 * @param only the places to read, in ascending order; if it is left out, all are read.
 */
export function readRecords(
  list: ListDefinition,
  { count, parts }: PageContent,
  only?: readonly number[],
): PageRecords {
  // Made once, because that compiles the list's schema.
  const shape = shapes.get(list) ?? shapeOf(list);
  shapes.set(list, shape);
  const records: MirrorRecord[] = [];
  const positions: number[] = [];
  const rejections: Rejection[] = [];
  // One buffer for each page: a buffer for each record would cost as much as its hash.
  const contents = Buffer.allocUnsafe((only?.length ?? count) * contentBytes);
  let at = 0;
  let from = 0;
  for (const part of parts) {
    const text = new PartText(part, shape.hasUncertainIntegers);
    for (let place = 0; place < part.items.length; place++) {
      const position = from + place;
      if (only !== undefined && only[at] !== position) continue;
      const read = readOne(shape, text, place, contents, at++);
      if (typeof read === 'string') {
        rejections.push({ position, reason: read, record: text.itemText(place) });
      } else {
        records.push(read);
        positions.push(position);
      }
    }
    from += part.items.length;
  }
  return { records, positions, rejections, contents };
}

/** The parts of a list's definition that `readRecords` needs, computed once. */
function shapeOf(list: ListDefinition) {
  const byId = list.identity.by === 'id';
  const integers = list.fields.filter(({ kind }) => kind === 'integer').map(({ name }) => name);
  return {
    isItem: compile<Item>(itemSchema(list)),
    scalars: scalarFields(list),
    arrays: arrayFields(list),
    known: new Set([...(byId ? ['id'] : []), ...list.fields.map(field => field.name)]),
    byId,
    writeContent: contentWriter(list),
    hasUncertainIntegers: uncertainMembers(['id', ...integers]),
  };
}

/** The record of an item, or the reason why it can't be read. Its content is written to that place of the contents. */
function readOne(
  shape: ReturnType<typeof shapeOf>,
  part: PartText,
  place: number,
  contents: Buffer,
  at: number,
): MirrorRecord | string {
  const { isItem } = shape;
  const item = part.items[place];
  if (!isItem(item)) return explain(isItem, item);
  const reading = new ItemParser(part, place, item);
  const scalars = shape.scalars.map(field => reading.scalar(field, item[field.name]));
  const arrays = shape.arrays.map(field => reading.array(field, item[field.name]));
  const extra = reading.extra(item, shape.known);
  if (reading.isTooDeep) return `the record is nested deeper than ${nestingMax} levels`;
  // Parsed as a double, 1.00000000000000000001 is a whole number, and might be another record's id. By its digits it is
  // not whole.
  if (part.hasUncertainIntegers && !isItem(reading.exact)) return explain(isItem, reading.exact);
  const id = shape.byId ? (item.id as number) : null;
  const offset = at * contentBytes;
  const content = contents.subarray(offset, offset + contentBytes);
  shape.writeContent({ id, scalars, arrays, extra }, contents, offset);
  return { id, scalars, arrays, extra, content, mentions: reading.mentions };
}

function explain(check: Check<Item>, item: unknown): string {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return 'the item is not an object';
  const { path, message } = check.why();
  const value = path.reduce<unknown>((at, name) => (at as Item)?.[name], item);
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  const problem = isRounded ? "the number is beyond 2^53, so it can't be held exactly" : message;
  return `${path.join('.') || 'the item'}: ${problem}`;
}
