import type Database from 'better-sqlite3';
import { cutEndpoint } from '../../contract/endpoint.ts';
import { arrayFields, type ListDefinition, listOf, lists, scalarFields } from '../../contract/lists.ts';
import type { Withheld } from './withheld.ts';

// All by hand: tables and columns that are found in the mirror.

/** The parts of a mirror that go into a share. */
export interface Selection {
  readonly withheld: Withheld;
  readonly withHistory: boolean;
}

interface Table {
  readonly name: string;
  readonly sql: string;
}

/** For each column whose values differ in the share, the SQL expression that replaces it. */
type Replacements = Readonly<Record<string, string>>;

/** A row with withheld fields has no content hash, because a reader could use it to check a guess of them. */
const noContent = "x''";

/**
 * Finds the tables that a share contains: docmirror's own without the internal ones, and those that somebody added to the mirror.
 * Virtual tables are left out, because some of them can't be copied row by row.
 */
export function tablesToCopy(sqlite: Database.Database): Table[] {
  return sqlite
    .prepare<[], Table>(
      `SELECT s.name, s.sql FROM mirror.sqlite_schema s
       JOIN pragma_table_list t ON t.schema = 'mirror' AND t.name = s.name AND t.type = 'table'
       WHERE s.type = 'table' AND s.name NOT LIKE '\\_%' ESCAPE '\\'
         AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND s.name <> 'docmirror_upgrades'
       ORDER BY s.rowid`,
    )
    .all();
}

/**
 * Makes a table of the mirror in the share, with its indexes, and fills it. Withheld values are replaced before they are written,
 * so no page of the file ever contains them.
 */
export function copyTable(sqlite: Database.Database, { name, sql }: Table, selection: Selection): void {
  const columns = columnsOf(sqlite, name);
  const replacements = replacementsIn(name, selection);
  const replaced = columns.filter(column => replacements !== null && column in replacements);
  const indexes = indexesOf(sqlite, name, replaced.length > 0);
  sqlite.exec(sql);
  if (replacements !== null && replaced.length === 0 && !hasGenerated(sqlite, name)) {
    // SQLite copies a table without reading each row only if the statement has no other clause and the indexes are the same.
    for (const index of indexes) sqlite.exec(index);
    sqlite.exec(`INSERT INTO main.${quoted(name)} SELECT * FROM mirror.${quoted(name)}`);
    return;
  }
  if (replacements !== null) {
    const values = columns.map(column => replacements[column] ?? quoted(column));
    sqlite.exec(
      `INSERT INTO main.${quoted(name)} (${columns.map(quoted).join(', ')})
       SELECT ${values.join(', ')} FROM mirror.${quoted(name)}`,
    );
  }
  for (const index of indexes) sqlite.exec(index);
}

/** A name in quotation marks, for use in SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Adds the SQL functions that replace withheld values to a connection. Each returns null for null. */
export function addFunctions(sqlite: Database.Database, withheld: Withheld): void {
  const add = (name: string, replace: (resource: string, text: string) => string | null) =>
    sqlite.function(name, { deterministic: true }, (resource: unknown, text: unknown) =>
      typeof text === 'string' ? replace(String(resource), text) : null,
    );
  add('share_extra', (resource, text) => withheld.extra(listOf(resource), text));
  add('share_record', (resource, text) => withheld.record(listOf(resource), text));
  add('share_endpoint', (_resource, text) => cutEndpoint(text));
}

/** Null if the table gets no rows. */
function replacementsIn(table: string, { withheld, withHistory }: Selection): Replacements | null {
  if (table === 'record_history') return withHistory ? historyReplacements(withheld) : null;
  if (table === 'rejected_records') return { record: 'NULL', content: noContent };
  const list = lists.find(each => each.table === table);
  if (list !== undefined) return withheld.isOf(list) ? listReplacements(list, withheld) : {};
  const isWithheld = lists.some(each =>
    arrayFields(each).some(field => field.table === table && withheld.has(each, field.name)),
  );
  return isWithheld ? null : {};
}

function listReplacements(list: ListDefinition, withheld: Withheld): Replacements {
  const columns = scalarFields(list).flatMap(({ name, column }) => {
    if (withheld.has(list, name)) return [[column, 'NULL']];
    return withheld.isCut(list, name) ? [[column, `share_endpoint('${list.resource}', ${column})`]] : [];
  });
  return {
    ...Object.fromEntries(columns),
    _extra: `share_extra('${list.resource}', _extra)`,
    _content: noContent,
  };
}

function historyReplacements(withheld: Withheld): Replacements {
  const touched = lists.filter(list => withheld.isOf(list)).map(({ resource }) => `'${resource}'`);
  const isTouched = `resource IN (${touched.join(', ')})`;
  return {
    record: `iif(${isTouched}, share_record(resource, record), record)`,
    // The text of an erased version is never shown.
    content: `iif(${isTouched} OR record IS NULL, ${noContent}, content)`,
  };
}

/** The columns without those that SQLite computes. */
function columnsOf(sqlite: Database.Database, table: string): string[] {
  return sqlite
    .prepare<[string], string>("SELECT name FROM pragma_table_xinfo(?, 'mirror') WHERE hidden = 0")
    .pluck()
    .all(table);
}

function hasGenerated(sqlite: Database.Database, table: string): boolean {
  const hidden = "SELECT 1 FROM pragma_table_xinfo(?, 'mirror') WHERE hidden <> 0";
  return sqlite.prepare(hidden).get(table) !== undefined;
}

/**
 * The statements that make a table's indexes. If values are replaced, unique indexes are left out, because replaced values can be
 * equal.
 */
function indexesOf(sqlite: Database.Database, table: string, isReplaced: boolean): string[] {
  return sqlite
    .prepare<[string, string, number], string>(
      `SELECT s.sql FROM mirror.sqlite_schema s JOIN pragma_index_list(?, 'mirror') i ON i.name = s.name
       WHERE s.type = 'index' AND s.tbl_name = ? AND s.sql IS NOT NULL AND NOT (i."unique" AND ?)`,
    )
    .pluck()
    .all(table, table, isReplaced ? 1 : 0);
}
