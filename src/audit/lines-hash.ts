import { createHash } from 'node:crypto';

/** A kind of change, named as in the view `changes`. */
export type Operation = 'insert' | 'removal' | 'update';

/** In the order in which they are hashed. */
export const operations: readonly Operation[] = ['insert', 'removal', 'update'];

const contentDigits = 32;
const contentPattern = /^[\da-f]{32}$/;

/**
 * The line of a change: `operation TAB record_id TAB content LF`. `content` is 32 hexadecimal digits: the content of the record
 * after the change or, for a removal, before it.
 *
 * @throws RangeError if it is no change.
 */
export function changeLine(operation: Operation, recordId: number, content: string): string {
  if (!Number.isSafeInteger(recordId)) throw new RangeError(`${recordId} is not the id of a record.`);
  if (!contentPattern.test(content)) throw new RangeError(`${content} is no content.`);
  return `${operation}\t${recordId}\t${content}\n`;
}

/** The content in the line of a change. */
export function contentInLine(line: string): string {
  return line.slice(-contentDigits - 1, -1);
}

const linesPerUpdate = 1024;

/**
 * A SHA-256 over lines, each of which ends with a line feed. No line is kept, so their number is not limited. For the changes of a
 * run in a list, sort the lines by operation and then by record id as numbers.
 */
export class LinesHash {
  readonly #hash = createHash('sha256');
  #count = 0;
  #lines: string[] = [];
  #digest: string | undefined;

  /** How many lines were added. */
  get count(): number {
    return this.#count;
  }

  add(line: string): void {
    this.#count++;
    this.#lines.push(line);
    if (this.#lines.length === linesPerUpdate) this.#flush();
  }

  /** The hash in 64 hexadecimal digits. Nothing can be added after it. Without lines it is the SHA-256 of nothing. */
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
