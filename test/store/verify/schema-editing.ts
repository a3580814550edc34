import Database from 'better-sqlite3';

/** The SQL of each table, by its name. */
export type Definitions = ReadonlyMap<string, string>;

/** How the tables of a file are made. */
export function definitionsOf(path: string): Definitions {
  const database = new Database(path, { readonly: true });
  try {
    const tables = database.prepare<[], [string, string]>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table'",
    );
    return new Map(tables.raw().all());
  } finally {
    database.close();
  }
}

/** Writes past SQLite how tables are made; their rows stay as they are. */
export function redefine(path: string, definitions: Definitions): void {
  const database = new Database(path);
  try {
    database.unsafeMode(true);
    database.pragma('writable_schema = ON');
    const update = database.prepare("UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?");
    for (const [name, sql] of definitions) update.run(sql, name);
  } finally {
    database.close();
  }
}

/** A table that takes values of any type in any column except the number of a row. */
export function withoutTypes(sql: string): string {
  const typed = /([`"]\w+[`"]|\w+) (?:integer(?! PRIMARY KEY)|text|blob|numeric|serial)\b(?! GENERATED)/gi;
  return sql
    .replace(/\) STRICT$/, ')')
    .replaceAll(typed, '$1')
    .replaceAll(/(?<!integer PRIMARY KEY(?: AUTOINCREMENT)?) NOT NULL/g, '');
}
