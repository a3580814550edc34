import { createHash } from 'node:crypto';

/** What a change did to a record, in the words of the view `changes`. */
export type Operation = 'insert' | 'removal' | 'update';

/** In the order of their bytes. */
export const operations: readonly Operation[] = ['insert', 'removal', 'update'];

const contentDigits = 32;
const contentPattern = /^[\da-f]{32}$/;
const linesPerUpdate = 1024;

/**
 * The line of a change. `content` is 32 hexadecimal digits: what the record says now or, of a removal, what it said.
 *
 * @throws RangeError where it is no change.
 */
export function changeLine(operation: Operation, recordId: number, content: string): string {
  if (!Number.isSafeInteger(recordId)) throw new RangeError(`${recordId} is no record's id.`);
  if (!contentPattern.test(content)) throw new RangeError(`${content} is no content.`);
  return `${operation}\t${recordId}\t${content}\n`;
}

/** The content in the line of a change. */
export function contentInLine(line: string): string {
  return line.slice(-contentDigits - 1, -1);
}

/** The record's id in the line of a change. */
export function idInLine(line: string): bigint {
  return BigInt(line.slice(line.indexOf('\t') + 1, line.lastIndexOf('\t')));
}

/**
 * The hash of what one run changed in one list: the SHA-256 over the lines `operation TAB record_id TAB content LF`, sorted by
 * their bytes. The changes must come in that order; none of them is kept, so a run may have changed any number of records.
 */
export class ChangesHash {
  readonly #hash = createHash('sha256');
  #count = 0;
  #lastLine = '';
  #lines: string[] = [];
  #digest: string | undefined;

  /** How many changes were added. */
  get count(): number {
    return this.#count;
  }

  /**
   * Adds a change by its line.
   *
   * @throws RangeError where it comes after one that it sorts before.
   */
  add(line: string): void {
    if (line < this.#lastLine) {
      const [operation, recordId] = line.split('\t');
      throw new RangeError(`The ${operation} of ${recordId} comes after a change that it sorts before.`);
    }
    this.#lastLine = line;
    this.#count++;
    this.#lines.push(line);
    if (this.#lines.length === linesPerUpdate) this.#flush();
  }

  /** The hash in 64 hexadecimal digits, after which nothing can be added; of no change it is the SHA-256 of nothing. */
  digest(): string {
    this.#flush();
    this.#digest ??= this.#hash.digest('hex');
    return this.#digest;
  }

  #flush(): void {
    if (this.#lines.length > 0) this.#hash.update(this.#lines.join(''));
    this.#lines = [];
  }
}
