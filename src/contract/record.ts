import { ExactItems, hasNumericKeys, hasUncertainNumbers } from './exact-json.ts';
import { hashBytes, writeHash16 } from './fingerprint.ts';
import { type Field, itemSchema, type ListDefinition } from './lists.ts';
import type { PageContent } from './page.ts';
import { instantMs } from './time.ts';
import { type Check, compile } from './validate.ts';

/** What a column holds. */
export type Scalar = string | number | null;

/** An item of a list as the mirror keeps it. */
export interface MirrorRecord {
  /** The service's id; null in a list that has none. */
  readonly id: number | null;
  /** 16 bytes that say who the record is, in a list without ids; null in the others. */
  readonly key: Buffer | null;
  /** 16 bytes that say what the record says: all its fields, but no connection's name. */
  readonly fingerprint: Buffer;
  /** Texts and connection ids, in the order of `scalarFields(list)`. */
  readonly scalars: readonly Scalar[];
  /** Texts or connection ids of each array, in the order of `arrayFields(list)`. */
  readonly arrays: readonly (readonly Scalar[])[];
  /** Compact JSON of what the columns can't hold; null when there is nothing. */
  readonly extra: string | null;
  readonly mentions: readonly ConnectionMention[];
}

/** What a record says of a connection that it refers to. */
export interface ConnectionMention {
  readonly id: number;
  readonly name: string | null;
  readonly extra: string | null;
}

/** An item that can't be read, whole. */
export interface Rejection {
  readonly position: number;
  readonly reason: string;
  /** The item's JSON text as received. */
  readonly record: string;
}

/** A page's items, each read or rejected; positions count from 0. */
export interface PageRecords {
  readonly records: readonly MirrorRecord[];
  readonly positions: readonly number[];
  readonly rejections: readonly Rejection[];
}

/** Who some of a page's records are and what they say, as it was found out before. */
export interface KnownIdentities {
  /** Positions of the records on the page. */
  readonly positions: readonly number[];
  /** 32 bytes a record, in the order of `positions`: its key, or zeros where it has an id, and its fingerprint. */
  readonly identities: Buffer;
}

/** Reads the items of one list's pages: unknown in, typed records out. */
export interface PageReader {
  /** Reads all items of a page. */
  read(page: PageContent): PageRecords;
  /** Reads only items that were read before, without hashing them again. */
  readAgain(page: PageContent, known: KnownIdentities): MirrorRecord[];
}

type Item = { readonly [name: string]: unknown };
type Connection = { readonly id?: number | null; readonly name?: string | null };

export function scalarFields(list: ListDefinition): (Field & { kind: 'text' | 'connection' })[] {
  return list.fields.filter(field => field.kind === 'text' || field.kind === 'connection');
}

export function arrayFields(list: ListDefinition): (Field & { kind: 'texts' | 'connections' })[] {
  return list.fields.filter(field => field.kind === 'texts' || field.kind === 'connections');
}

const readers = new WeakMap<ListDefinition, PageReader>();

/** The reader of a list's pages; it is made once, for that compiles the list's schema. */
export function pageReader(list: ListDefinition): PageReader {
  const reader = readers.get(list) ?? makeReader(list);
  readers.set(list, reader);
  return reader;
}

function makeReader(list: ListDefinition): PageReader {
  const isItem = compile<Item>(itemSchema(list));
  const known = new Set(['id', ...list.fields.map(field => field.name)]);
  if (list.identity.by === 'content') known.delete('id');
  const scalars = scalarFields(list);
  const arrays = arrayFields(list);
  const identify = identifier(list);

  const byId = list.identity.by === 'id';

  const readItem = (
    page: PageText,
    item: Item,
    position: number,
    identities: Buffer,
    at: number,
    isIdentified: boolean,
  ): MirrorRecord => {
    const draft = new Draft(page, position);
    const scalarValues = scalars.map(field => draft.scalar(field, item[field.name]));
    const arrayValues = arrays.map(field => draft.array(field, item[field.name]));
    const extra = draft.extra(item, known);
    const id = byId ? (item.id as number) : null;
    const { key, fingerprint } = isIdentified
      ? identityAt(identities, at, byId)
      : identify(id, scalarValues, arrayValues, extra, identities, at);
    return {
      id,
      key,
      fingerprint,
      scalars: scalarValues,
      arrays: arrayValues,
      extra,
      mentions: draft.mentions,
    };
  };

  return {
    read(page) {
      const text = new PageText(page.text);
      const records: MirrorRecord[] = [];
      const positions: number[] = [];
      const rejections: Rejection[] = [];
      // One buffer a page: a buffer of its own for each record costs as much as its hashes.
      const identities = Buffer.allocUnsafe(page.items.length * identityBytes);
      for (const [position, item] of page.items.entries()) {
        const reason = isItem(item) ? text.illFormed(item) : explain(isItem, item);
        if (reason === null) {
          records.push(readItem(text, item as Item, position, identities, position, false));
          positions.push(position);
        } else {
          rejections.push({ position, reason, record: text.exact.itemText(position) });
        }
      }
      return { records, positions, rejections };
    },

    readAgain(page, { positions, identities }) {
      const text = new PageText(page.text);
      return positions.map((position, at) =>
        readItem(text, page.items[position] as Item, position, identities, at, true),
      );
    },
  };
}

/** Bytes of an identity in a page's buffer: the key, or zeros where the record has an id, then the fingerprint. */
const identityBytes = 2 * hashBytes;

function identityAt(identities: Buffer, at: number, byId: boolean): Identity {
  const start = at * identityBytes;
  const middle = start + hashBytes;
  return {
    key: byId ? null : identities.subarray(start, middle),
    fingerprint: identities.subarray(middle, start + identityBytes),
  };
}

interface Identity {
  readonly key: Buffer | null;
  readonly fingerprint: Buffer;
}

const noKey = Buffer.alloc(hashBytes);

/** Packs who records are and what they say, for `readAgain`. */
export function packIdentities(records: readonly MirrorRecord[]): Buffer {
  const identities = Buffer.allocUnsafe(records.length * identityBytes);
  for (const [at, { key, fingerprint }] of records.entries()) {
    identities.set(key ?? noKey, at * identityBytes);
    identities.set(fingerprint, at * identityBytes + hashBytes);
  }
  return identities;
}

/**
 * Says who a record is and what it says, from what the mirror's columns hold: so an audit can compute both again.
 * Each part is written with its length, so that no two different records have the same text.
 */
export function identifier(list: ListDefinition) {
  const scalars = scalarFields(list);
  const { identity } = list;
  const keyAt = identity.by === 'content' ? identity.fields.map(name => indexOf(scalars, name)) : [];
  const timeAt = identity.by === 'content' ? indexOf(scalars, identity.timeField) : -1;

  return (
    id: number | null,
    scalarValues: readonly Scalar[],
    arrayValues: readonly (readonly Scalar[])[],
    extra: string | null,
    target: Buffer = Buffer.allocUnsafe(identityBytes),
    at = 0,
  ): Identity => {
    const parts = scalarValues.map(canonical);
    let text = id === null ? '' : canonical(id);
    for (const part of parts) text += part;
    for (const values of arrayValues) text += `a${values.length}:${values.map(canonical).join('')}`;
    const start = at * identityBytes;
    writeHash16(text + canonical(extra), target, start + hashBytes);
    if (timeAt >= 0)
      writeTimedKey(keyAt.map(part => parts[part]).join(''), scalarValues[timeAt], target, start);
    return identityAt(target, at, timeAt < 0);
  };
}

function indexOf(fields: readonly Field[], name: string): number {
  return fields.findIndex(field => field.name === name);
}

function canonical(value: Scalar): string {
  if (value === null) return 'n';
  return typeof value === 'number' ? `i${value};` : `s${value.length}:${value}`;
}

const timeBytes = 6;
const timeMax = 2 ** (8 * timeBytes) - 1;

/** A key that sorts by time first: records arrive in time order, so neighbours share index pages. */
function writeTimedKey(text: string, time: Scalar | undefined, target: Buffer, start: number): void {
  writeHash16(text, target, start);
  const ms = typeof time === 'string' ? instantMs(time) : 0;
  target.writeUIntBE(ms > 0 && ms <= timeMax ? Math.floor(ms) : 0, start, timeBytes);
}

/** A page's text and what is known of it as a whole; the costly exact reading is made when first asked for. */
class PageText {
  readonly #text: string;
  readonly #hasSurrogateEscapes: boolean;
  #hasUncertainNumbers: boolean | undefined;
  #exact: ExactItems | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#hasSurrogateEscapes = text.includes('\\ud') || text.includes('\\uD');
  }

  get hasUncertainNumbers(): boolean {
    this.#hasUncertainNumbers ??= hasUncertainNumbers(this.#text);
    return this.#hasUncertainNumbers;
  }

  get exact(): ExactItems {
    this.#exact ??= new ExactItems(this.#text);
    return this.#exact;
  }

  /** Half a surrogate pair has no UTF-8 form, so a text with one can't be kept as it is. */
  illFormed(item: unknown): string | null {
    if (!this.#hasSurrogateEscapes) return null;
    return isWellFormed(item) ? null : 'a text holds half a surrogate pair, which is not valid Unicode';
  }
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member));
}

/** One item on its way to a record: collects what it says of connections and what no column can hold. */
class Draft {
  readonly mentions: ConnectionMention[] = [];
  readonly #page: PageText;
  readonly #position: number;
  #unheld: Set<string> | undefined;

  constructor(page: PageText, position: number) {
    this.#page = page;
    this.#position = position;
  }

  scalar(field: Field, value: unknown): Scalar {
    if (field.kind === 'text') return (value as string | null | undefined) ?? null;
    return this.#connectionId(value as Connection | null | undefined, field.name, [field.name]);
  }

  array(field: Field, value: unknown): Scalar[] {
    if (value === null || value === undefined) return [];
    if (field.kind === 'texts') return value as string[];
    return (value as (Connection | null)[]).map((element, at) =>
      this.#connectionId(element, field.name, [field.name, at]),
    );
  }

  /** Compact JSON of the members that no column holds, in the order received; null when there are none. */
  extra(item: Item, known: ReadonlySet<string>): string | null {
    const isHeld = (name: string) => known.has(name) && !this.#unheld?.has(name);
    return this.#leftover(item, isHeld, []);
  }

  #connectionId(
    value: Connection | null | undefined,
    field: string,
    path: (string | number)[],
  ): number | null {
    if (value === null || value === undefined) return null;
    const id = value.id ?? null;
    const extra = this.#leftover(value, name => name === 'id' || name === 'name', path);
    if (id !== null) {
      this.mentions.push({ id, name: value.name ?? null, extra });
    } else if (extra !== null || typeof value.name === 'string') {
      // A connection without an id has no row to stand in, so the field is kept whole beside the null.
      this.#unheld ??= new Set();
      this.#unheld.add(field);
    }
    return id;
  }

  #leftover(object: object, isHeld: (name: string) => boolean, path: (string | number)[]): string | null {
    let json = '';
    for (const name in object) {
      if (isHeld(name)) continue;
      json += `${json === '' ? '' : ','}${JSON.stringify(name)}:${JSON.stringify((object as Item)[name])}`;
    }
    if (json === '') return null;
    json = `{${json}}`;
    if (!this.#page.hasUncertainNumbers && !hasNumericKeys(json)) return json;
    const members = this.#page.exact.members(this.#position, path).filter(([name]) => !isHeld(name));
    return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
  }
}

function explain(check: Check<Item>, item: unknown): string {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return 'the item is not an object';
  const { path, message } = check.why();
  const value = path.reduce<unknown>((at, name) => (at as Item)?.[name], item);
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  const problem = isRounded ? "the number is beyond 2^53, so it can't be held exactly" : message;
  return `${path.join('.') || 'the item'}: ${problem}`;
}
