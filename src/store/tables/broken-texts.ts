import { isUtf8 } from 'node:buffer';
import type Database from 'better-sqlite3';
import { codeOf } from '../../errors.ts';
import { firstValues } from './query.ts';
import { type RowSpan, rowSpans } from './row-spans.ts';

/** A text whose bytes are no UTF-8. It reads as U+FFFD, which may be what docmirror wrote there: no hash of a text tells them apart. */
export interface BrokenText {
  readonly table: string;
  readonly rowId: bigint;
  readonly column: string;
  /** As everybody reads it. */
  readonly text: string;
}

/** More are hardly faster; the texts of so many are in memory at once. */
const rowsPerSpan = 64;

/** Finds the texts of a table whose bytes are no UTF-8: docmirror writes none. */
export function* brokenTextsIn(sqlite: Database.Database, table: string): Generator<BrokenText> {
  const ofTexts = "SELECT name FROM pragma_table_info(?) WHERE lower(type) = 'text'";
  const columns = firstValues<string>(sqlite, ofTexts, table);
  if (columns.length === 0) return;
  const quoted = columns.map(column => `"${column}"`);
  // A zero between texts keeps halves of a character apart.
  const joined = sqlite
    .prepare<RowSpan, Buffer | null>(
      `SELECT CAST(group_concat(concat_ws(char(0), ${quoted.join(', ')}), char(0)) AS BLOB) FROM ${table}
       WHERE rowid BETWEEN ? AND ?`,
    )
    .pluck();
  const rows = sqlite
    .prepare<RowSpan, [rowId: bigint, ...texts: (Buffer | null)[]]>(
      `SELECT rowid, ${quoted.map(column => `CAST(${column} AS BLOB)`).join(', ')} FROM ${table}
       WHERE rowid BETWEEN ? AND ?`,
    )
    .raw()
    .safeIntegers();
  for (const span of rowSpans(sqlite, table, rowsPerSpan)) {
    if (areWhole(() => joined.get(...span) ?? Buffer.alloc(0))) continue;
    for (const [rowId, ...texts] of rows.iterate(...span)) {
      for (const [at, bytes] of texts.entries())
        if (bytes !== null && !isUtf8(bytes))
          yield { table, rowId, column: columns[at] as string, text: bytes.toString() };
    }
  }
}

function areWhole(read: () => Buffer): boolean {
  try {
    return isUtf8(read());
  } catch (error) {
    // Together they are longer than SQLite lets a text be.
    if (codeOf(error) === 'SQLITE_TOOBIG') return false;
    throw error;
  }
}

/** Writes the texts of a table whose bytes are no UTF-8 as everybody reads them. */
export function mendTexts(sqlite: Database.Database, table: string): void {
  for (const { rowId, column, text } of [...brokenTextsIn(sqlite, table)])
    sqlite.prepare(`UPDATE ${table} SET "${column}" = ? WHERE rowid = ?`).run(text, rowId);
}
