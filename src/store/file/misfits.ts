import type Database from 'better-sqlite3';
import { openInMemory } from './open-to-write.ts';

/** A value of another type than docmirror writes there. Tables that are STRICT take none, unless somebody edits the schema. */
export interface Misfit {
  readonly table: string;
  /** The row's id; null where its table has none, and `what` names the row. */
  readonly id: number | null;
  readonly what: string;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNeeded: 0 | 1;
  readonly isKey: 0 | 1;
  /** Of its table. */
  readonly isStrict: 0 | 1;
}

const inWords: Readonly<Record<string, string>> = {
  integer: 'an integer',
  real: 'a real number',
  text: 'text',
  blob: 'a blob',
  null: 'null',
};

/**
 * Looks at the type of every value, in tables as they are in a mirror that is made fresh; nothing is parsed.
 *
 * @param isChecked true where SQLite's own check found nothing: it has looked at the values of each table that still is STRICT.
 */
export function* misfitsIn(sqlite: Database.Database, isChecked = false): Generator<Misfit> {
  using made = openInMemory();
  const strict = made.sqlite.prepare<[], string>(
    "SELECT name FROM pragma_table_list WHERE strict AND schema = 'main'",
  );
  for (const table of strict.pluck().all()) {
    const [there, should] = [columnsOf(sqlite, table), columnsOf(made.sqlite, table)];
    if (isChecked && JSON.stringify(there) === JSON.stringify(should)) continue;
    const names = new Set(there.map(({ name }) => name));
    const columns = should.filter(({ name }) => names.has(name));
    if (columns.length > 0) yield* misfitsOf(sqlite, table, columns);
  }
}

function columnsOf(sqlite: Database.Database, table: string): Column[] {
  return sqlite
    .prepare<[string], Column>(
      `SELECT c.name, lower(c.type) AS type, c."notnull" AS isNeeded, c.pk > 0 AS isKey, t.strict AS isStrict
       FROM pragma_table_list(?) t JOIN pragma_table_info(t.name) c WHERE t.schema = 'main'`,
    )
    .all(table);
}

function* misfitsOf(sqlite: Database.Database, table: string, columns: readonly Column[]): Generator<Misfit> {
  const keys = columns.filter(({ isKey }) => isKey);
  const isNumbered = keys.every(({ type }) => type === 'integer') && keys.length < 2;
  const key = isNumbered
    ? "''"
    : keys.map(({ name }) => `'${name} ' || quote(\`${name}\`)`).join(" || ', ' || ");
  const fits = ({ name, type, isNeeded }: Column) =>
    `typeof(\`${name}\`) IN ('${type}', '${isNeeded ? type : 'null'}')`;
  const rows = sqlite
    .prepare<[], [id: number, key: string, ...types: string[]]>(
      `SELECT rowid, ${key}, ${columns.map(({ name }) => `typeof(\`${name}\`)`).join(', ')} FROM ${table}
       WHERE NOT (${columns.map(fits).join(' AND ')})`,
    )
    .raw();
  for (const [rowId, named, ...types] of rows.iterate()) {
    for (const [at, { name, type, isNeeded }] of columns.entries()) {
      const found = types[at] ?? '';
      if (found === type || (found === 'null' && !isNeeded)) continue;
      const words = `${name} is ${inWords[found]}, where docmirror writes ${inWords[type]}`;
      yield isNumbered ? { table, id: rowId, what: words } : { table, id: null, what: `${named}: ${words}` };
    }
  }
}
