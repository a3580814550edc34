import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** A value of a column, as SQLite returns it. */
export type ColumnValue = string | number | null | Uint8Array;

/**
 * A row of a table as canonical JSON (RFC 8785), by the names of its columns. Null columns are left out. A BLOB is written in
 * lower-case hexadecimal digits. Source: docs/audit.md.
 */
export function canonicalRow(row: Readonly<Record<string, ColumnValue>>): string {
  const members = Object.entries(row)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value]);
  return canonicalize(Object.fromEntries(members)) as string;
}

/** The kinds of change, named as in the view `changes`, in the order in which they are hashed. */
export const operations = ['insert', 'removal', 'update'] as const;

/** One of them. */
export type Operation = (typeof operations)[number];

const contentDigits = 32;

/** The content in the line of a change: `operation TAB record_id TAB content LF`. */
export function contentInLine(line: string): string {
  return line.slice(-contentDigits - 1, -1);
}

const linesPerUpdate = 1024;

/** A SHA-256 over lines, each of which ends with a line feed. No line is kept, so their number is not limited. */
export class LinesHash {
  readonly #hash = createHash('sha256');
  #count = 0;
  #lines: string[] = [];

  /** How many lines were added. */
  get count(): number {
    return this.#count;
  }

  add(line: string): void {
    this.#count++;
    if (this.#lines.push(line) === linesPerUpdate) this.#hash.update(this.#lines.splice(0).join(''));
  }

  /** The hash in 64 hexadecimal digits, once. Without lines it is the SHA-256 of nothing. */
  digest(): string {
    return this.#hash.update(this.#lines.join('')).digest('hex');
  }
}
