import { HttpError } from '../serve/http-error.ts';
import { Turns } from '../serve/turns.ts';
import { BrowseReader } from '../store/read/browse-reader.ts';
import { inSlices } from './in-slices.ts';

/** Looks through a mirror for those who ask: a few at once, each over a connection of its own. */
export class Browsing {
  readonly #database: string;
  readonly #turns = new Turns();

  constructor(database: string) {
    this.#database = database;
  }

  /** Does something with a reader; `slices` does what takes long, and lets others have their turn in between. */
  async with<T>(
    look: (reader: BrowseReader, slices: <R>(work: Generator<void, R>) => Promise<R>) => Promise<T>,
  ): Promise<T> {
    using _turn = await this.#turns.take();
    using reader = new BrowseReader(this.#database);
    return await look(reader, inSlices);
  }

  /** Writes texts one after the other as they are read; the reader is closed when the last is taken, or nobody takes more. */
  async *pieces(write: (reader: BrowseReader) => AsyncGenerator<string>): AsyncGenerator<string> {
    using _turn = await this.#turns.take();
    using reader = new BrowseReader(this.#database);
    yield* write(reader);
  }
}

/** A place of a list as the text of an address. */
export function placeText(kind: string, place: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([kind, ...place])).toString('base64url');
}

/**
 * Reads what `placeText` wrote.
 *
 * @throws HttpError with status 400 if it is no place, or one of another order.
 */
export function readPlace(
  name: string,
  text: string,
  kind: string,
  length: number,
): (string | number | null)[] {
  const value = parsed(Buffer.from(text, 'base64url').toString());
  const isPlace =
    Array.isArray(value) &&
    value[0] === kind &&
    value.length === length + 1 &&
    value.every(each => each === null || typeof each === 'string' || Number.isSafeInteger(each));
  if (!isPlace)
    throw new HttpError(400, `${name} is no place of this list in this order. Begin at its first page.`);
  return value.slice(1);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
