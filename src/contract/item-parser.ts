import { elementTexts, hasUncertainNumbers, parseExact } from './exact-json.ts';
import type { ArrayField, Scalar, ScalarField } from './lists.ts';
import { isDeeper, nestingMax } from './nesting.ts';
import type { ContentPart } from './page-content.ts';

/** The members of a connection in a record that refers to it. */
export interface ConnectionMention {
  readonly id: number;
  /** As the service gives it: the text can contain a lone surrogate, which has no UTF-8 form. */
  readonly name: string | null;
  /** Compact JSON of its further fields; null if there are none. */
  readonly extra: string | null;
}

/** An item of a page: a JSON object. */
export type Item = { readonly [name: string]: unknown };
type Connection = { readonly id?: number | null; readonly name?: string | null };

/**
 * The text of some of a page's items, and what is known of it as a whole. The slow exact parsing happens only when
 * first asked for.
 */
export class PartText {
  readonly items: readonly unknown[];
  readonly #part: ContentPart;
  readonly hasSurrogateEscapes: boolean;
  /** Whether an id or another whole number might be one only because it was rounded. */
  readonly hasUncertainIntegers: boolean;
  #hasUncertainNumbers: boolean | undefined;
  #itemTexts: string[] | undefined;

  /** @param hasUncertainIntegers checks the text for them. */
  constructor(part: ContentPart, hasUncertainIntegers: (text: string) => boolean) {
    const text = part.text();
    this.items = part.items;
    this.#part = part;
    this.hasUncertainIntegers = hasUncertainIntegers(text);
    this.hasSurrogateEscapes = text.includes('\\ud') || text.includes('\\uD');
  }

  /** Computed only on demand: it takes a fourth of the parsing time, and no item needs it if all fields are known. */
  get hasUncertainNumbers(): boolean {
    this.#hasUncertainNumbers ??= hasUncertainNumbers(this.#part.text());
    return this.#hasUncertainNumbers;
  }

  /** An item's text, byte for byte as received. */
  itemText(place: number): string {
    this.#itemTexts ??= elementTexts(this.#part.text());
    return this.#itemTexts[place] ?? 'null';
  }
}

/**
 * Turns one item into a record. It collects the connections that the item mentions, and the fields that fit no column.
 */
export class ItemParser {
  readonly mentions: ConnectionMention[] = [];
  isTooDeep = false;
  readonly #part: PartText;
  readonly #place: number;
  readonly #item: Item;
  /** Fields of the contract that do not fit their columns; they are kept complete in `extra`. */
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
      // No rows can mean an empty array, so a missing one is recorded in `extra`.
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

  /** Compact JSON of the members without a column, in the order received; null if there are none. */
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
    // A connection without an id has no row, so the field is kept complete in `extra`, besides the null.
    else if (extra !== null || name !== null) this.#keepWhole(field);
    return id;
  }

  #connectionExtra(value: Connection, field: string, at?: number): string | null {
    const path = at === undefined ? [field] : [field, at];
    return this.#leftover(value, name => inConnection.has(name), path, []);
  }

  /** Half a surrogate pair has no UTF-8 form, so it fits no column. */
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
      // Exact parsing goes through the complete item with recursion, even for one field.
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

  /** The value at that path. */
  #exactAt(path: readonly (string | number)[]): unknown {
    return path.reduce<unknown>((at, step) => (at as Item)[step], this.exact);
  }
}

/** The members of a connection that have columns. */
const inConnection: ReadonlySet<string> = new Set(['id', 'name']);

/** Whether an object has no other members. Usually it has none, and to collect them is slow. */
function areAllIn(names: ReadonlySet<string>, object: object): boolean {
  for (const name in object) if (!names.has(name)) return false;
  return true;
}
