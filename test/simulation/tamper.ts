import Database from 'better-sqlite3';
import type { Tamper } from './scenario.ts';

type Value = string | number | bigint | Buffer | null;
type Row = Value[];

/** Alters a mirror's tables of shortcuts as another program might. Nothing happens if all are empty. */
export function tamperWith(path: string, { kind, table, row, column }: Tamper): void {
  const database = new Database(path, { fileMustExist: true });
  try {
    database.pragma('foreign_keys = OFF');
    const tables = shortcutTables(database).filter(name => rowsOf(database, name).length > 0);
    const name = tables[table % Math.max(1, tables.length)];
    if (name === undefined) return;
    const rows = rowsOf(database, name);
    const at = row % rows.length;
    const width = rows[0]?.length ?? 0;
    write(database, name, altered(rows, kind, at, column % Math.max(1, width)));
  } finally {
    database.close();
  }
}

/** Tables that only save work, by their names: all internal ones but the mirror's id, the connections' names and the migrations' own. */
export function shortcutTables(database: Database.Database): string[] {
  return database
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema
       WHERE type = 'table' AND name LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE '\\_\\_drizzle%' ESCAPE '\\'
         AND name NOT IN ('_mirror', '_connection_names')
       ORDER BY name`,
    )
    .pluck()
    .all();
}

function altered(rows: readonly Row[], kind: Tamper['kind'], at: number, column: number): Row[] {
  const next = (at + 1) % rows.length;
  const result = rows.map(row => [...row]);
  const [here, there] = [result[at], result[next]];
  if (here === undefined || there === undefined) return result;
  if (kind === 'delete') result.splice(at, 1);
  if (kind === 'change') here[column] = changed(here[column] ?? null);
  if (kind === 'copy') there[column] = here[column] ?? null;
  // The first columns are the place of a row. All the others are swapped.
  if (kind === 'swap') {
    const from = Math.min(2, here.length - 1);
    const rest = here.splice(from);
    here.push(...there.splice(from));
    there.push(...rest);
  }
  return result;
}

function changed(value: Value): Value {
  if (typeof value === 'bigint') return value + 1n;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string')
    return value.replace(/\d(?=\D*$)/, digit => String((Number(digit) + 1) % 10));
  if (value === null || value.length === 0) return value;
  const bytes = Buffer.from(value);
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
  return bytes;
}

function columnsOf(database: Database.Database, table: string): string[] {
  return database
    .prepare<[string], string>('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid')
    .pluck()
    .all(table);
}

function rowsOf(database: Database.Database, table: string): Row[] {
  const columns = columnsOf(database, table).map(name => `"${name}"`);
  return database
    .prepare<[], Row>(`SELECT ${columns.join(', ')} FROM "${table}"`)
    .safeIntegers()
    .raw()
    .all();
}

function write(database: Database.Database, table: string, rows: readonly Row[]): void {
  const columns = columnsOf(database, table);
  const names = columns.map(name => `"${name}"`).join(', ');
  const marks = columns.map(() => '?').join(', ');
  const insert = database.prepare(`INSERT OR REPLACE INTO "${table}" (${names}) VALUES (${marks})`);
  database.transaction(() => {
    database.exec(`DELETE FROM "${table}"`);
    for (const row of rows) insert.run(...row);
  })();
}
