import type Database from 'better-sqlite3';
import { and, eq, gt, sql } from 'drizzle-orm';
import type { ConnectionMention } from '../../contract/item-parser.ts';
import {
  type ListDefinition,
  lists,
  type ResourceName,
  type Scalar,
  type ScalarField,
  scalarFields,
  timeColumnOf,
  timeIndexOf,
} from '../../contract/lists.ts';
import { ConnectionClaims } from './connection-claims.ts';
import { ConnectionTable } from './connection-table.ts';
import { columnOf, keyOf, rowsTable, schemaTable } from './rows-table.ts';
import { listStates, pages } from './schema.ts';
import { prepare, registerInstant, select, words } from './statement.ts';

/** Some of the fields in a row that has something in `_extra`. */
interface WaitingRow {
  readonly id: number;
  readonly changedRunId: number;
  readonly time: string | null;
  /** The JSON text of each field in `_extra`, by its name. */
  readonly waiting: string;
}

/** Rows that are held in memory at once. */
const rowsAtOnce = 10_000;

/**
 * Moves values from `_extra` into columns that were added since, if they fit; other values stay. The history needs no change,
 * because its records are in the service's shape. Shortcuts of the lists that have new columns are forgotten.
 *
 * An array's new table stays empty: every reader takes its values from `_extra` until they change.
 *
 * @param columnsBefore the columns of each table before the upgrade.
 */
export function fillNewColumns(
  sqlite: Database.Database,
  columnsBefore: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  for (const list of lists) {
    const before = columnsBefore.get(list.table);
    fillTimes(sqlite, list, before);
    const added = scalarFields(list).filter(({ column }) => before?.has(column) === false);
    if (added.length === 0) continue;
    for (const field of added) moveField(sqlite, list, field);
    forgetShortcuts(sqlite, list);
  }
}

/** Times as numbers came with version 0.4. */
function fillTimes(
  sqlite: Database.Database,
  list: ListDefinition,
  before: ReadonlySet<string> | undefined,
): void {
  const [column, text] = [timeColumnOf(list), scalarFields(list)[timeIndexOf(list)]?.column];
  if (column === null || before?.has(column) !== false) return;
  registerInstant(sqlite);
  // By hand: a function of docmirror.
  sqlite.exec(`UPDATE ${list.table} SET ${column} = instant_ms(${text})`);
}

function moveField(sqlite: Database.Database, list: ListDefinition, field: ScalarField): void {
  const path = `$."${field.name}"`;
  const written = schemaTable(list.table);
  const table = rowsTable(list.resource);
  // SQLite's own JSON keeps the text of unchanged values, even of numbers that JavaScript would round.
  const move = prepare(sqlite, (value: Scalar, at: string, id: number) =>
    words
      .update(written)
      .set({
        [keyOf(written, field.column)]: value,
        extra: sql`nullif(json_remove(${table.extra}, ${at}), '{}')`,
      })
      .where(eq(table.id, id)),
  );
  const connections = new UnknownConnections(sqlite);
  for (const row of waitingRows(sqlite, list, path)) {
    const value = fittingValue(field, row.waiting);
    if (value === undefined) continue;
    const isMention = typeof value === 'object' && value !== null;
    if (isMention) connections.offer(value, row);
    move.run(isMention ? value.id : value, path, row.id);
  }
  connections.insert(list.resource);
}

/** The rows that have a value at that path in `_extra`; the caller can change them meanwhile. */
function* waitingRows(sqlite: Database.Database, list: ListDefinition, path: string): Generator<WaitingRow> {
  const table = rowsTable(list.resource);
  const timeColumn = scalarFields(list)[timeIndexOf(list)]?.column;
  const time =
    timeColumn === undefined ? sql<null>`null` : sql<string | null>`${columnOf(table, timeColumn)}`;
  const some = prepare(sqlite, (at: string, after: number, sameAt: string, most: number) =>
    select({
      id: table.id,
      changedRunId: table.changedRunId,
      time,
      waiting: sql<string>`${table.extra} -> ${at}`,
    })
      .from(table)
      .where(and(gt(table.id, after), sql`${table.extra} -> ${sameAt} is not null`))
      .orderBy(table.id)
      .limit(most),
  );
  for (let after = Number.MIN_SAFE_INTEGER - 1; ; ) {
    const rows = some.all(path, after, path, rowsAtOnce);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** The value of that field's column for a JSON value; undefined if the column can't store it. */
function fittingValue(field: ScalarField, json: string): Scalar | ConnectionMention | undefined {
  const value: unknown = JSON.parse(json);
  if (value === null) return null;
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' && value.isWellFormed() ? value : undefined;
    case 'integer':
      // The text is checked as well, because JavaScript rounds integers that are too large.
      return Number.isSafeInteger(value) && /^-?\d+$/.test(json) ? (value as number) : undefined;
    case 'connection':
      return typeof value === 'object' ? mentionIn(value, json) : undefined;
  }
}

/** The mention of a connection in a value; `extra` is all of it, with its id and name. */
function mentionIn(value: object, json: string): ConnectionMention | undefined {
  const { id, name = null, ...rest }: { id?: unknown; name?: unknown } = { ...value };
  if (!Number.isSafeInteger(id) || (name !== null && typeof name !== 'string')) return undefined;
  return { id: id as number, name, extra: Object.keys(rest).length === 0 ? null : json };
}

/** Gathers the connections that the new references lead to and that have no row. */
class UnknownConnections {
  readonly #sqlite: Database.Database;
  readonly #connections: ConnectionTable;
  /** The claims about each connection, with the first run that wrote them. */
  readonly #claims = new Map<number, { runId: number; claims: ConnectionClaims }>();

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#connections = new ConnectionTable(sqlite);
  }

  offer({ id, name, extra }: ConnectionMention, { time, changedRunId }: WaitingRow): void {
    if (this.#connections.read(id) !== undefined) return;
    const known = this.#claims.get(id) ?? { runId: changedRunId, claims: new ConnectionClaims() };
    known.runId = Math.min(known.runId, changedRunId);
    known.claims.offer({ id, name, extra: extra === null ? null : this.#withoutOwn(extra) }, time);
    this.#claims.set(id, known);
  }

  /** Inserts their rows, as of the run that first wrote a record that refers to them. */
  insert(resource: ResourceName): void {
    for (const { runId, claims } of this.#claims.values())
      this.#connections.apply(this.#connections.changes(resource, claims, false), runId);
  }

  #withoutOwn(json: string): string {
    // By hand: a SELECT without a table.
    const without = this.#sqlite.prepare<[string], string>("SELECT json_remove(?, '$.id', '$.name')");
    return without.pluck().get(json) as string;
  }
}

/** Known pages and the growing end were found for records of the old shape. */
function forgetShortcuts(sqlite: Database.Database, { resource }: ListDefinition): void {
  for (const table of [pages, listStates])
    prepare(sqlite, (of: string) => words.delete(table).where(eq(table.resource, of))).run(resource);
}
