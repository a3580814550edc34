import { and, count, eq, max, min, ne, notInArray, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import {
  type ArrayField,
  arrayFields,
  type ListDefinition,
  type Scalar,
  scalarFields,
  timeColumnOf,
} from '../../contract/lists.ts';
import { columnOf, keyOf, rowsTable, schemaTable } from './rows-table.ts';
import { hexOf, isSame, marks, select, textOf, words } from './statement.ts';

/** The statements of a list's own table. Their texts are made once, because that takes longer than to prepare them. */
export interface ListWords extends ReturnType<typeof wordsOf> {
  readonly children: readonly ChildWords[];
}

/** The statements of a table for an array field of a list's records. */
export type ChildWords = ReturnType<typeof childWordsOf>;

const known = new WeakMap<ListDefinition, ListWords>();

/** The statements of a list. They name the columns in its definition. */
export function listWords(list: ListDefinition): ListWords {
  const found = known.get(list) ?? {
    ...wordsOf(list),
    children: arrayFields(list).map(field => childWordsOf(list, field)),
  };
  known.set(list, found);
  return found;
}

function wordsOf(list: ListDefinition) {
  const table = rowsTable(list.resource);
  const { id, firstSeenRunId, changedRunId, extra } = table;
  const scalars = scalarFields(list).map(({ column }) => columnOf(table, column));
  // The column with the index for finding a content: the time, or the id.
  const time = timeColumnOf(list);
  const lead = time === null ? id : columnOf(table, time);
  const content = hexOf(table.content);
  const columns: Record<string, SQL | SQLiteColumn> = { id, firstSeenRunId, changedRunId, content, extra };
  for (const [at, column] of scalars.entries()) columns[`scalar${at}`] = column;

  const says = (value: Scalar, bytes: Buffer) => and(isSame(lead, value), eq(table.content, bytes));
  const rows = () => select(columns).from(table);
  const isBetween = (from: number | bigint, to: number | bigint) => sql`${id} between ${from} and ${to}`;
  return {
    table,
    find: (value: Scalar, bytes: Buffer) => select({ id }).from(table).where(says(value, bytes)),
    // Identical rows are in the order of the index already. To sort them for each page would take hours for many.
    others: (value: Scalar, bytes: Buffer, row: number, limit: number) =>
      select({ id })
        .from(table)
        .where(and(says(value, bytes), ne(id, row)))
        .limit(limit),
    has: (row: number) => select({ id }).from(table).where(eq(id, row)),
    count: () => select({ count: count() }).from(table),
    read: (row: number) => rows().where(eq(id, row)),
    rowsBetween: (from: bigint, to: bigint) => rows().where(isBetween(from, to)).orderBy(id),
    rowsAt: (limit: number, offset: number) => rows().orderBy(id).limit(limit).offset(offset),
    rowsWrittenBy: (runId: number) => rows().where(eq(changedRunId, runId)).orderBy(id),
    leadsAndContents: (from: bigint, to: bigint) =>
      select({ id, lead, content }).from(table).where(isBetween(from, to)).orderBy(id),
    leads: (from: number | bigint, to: number | bigint) =>
      select({ id, lead }).from(table).where(isBetween(from, to)).orderBy(id),
    setContent: (further: string | null, bytes: Buffer, row: number) =>
      words.update(table).set({ extra: further, content: bytes }).where(eq(id, row)),
    remove: (row: number) => words.delete(table).where(eq(id, row)),
    ...writingTexts(list),
  };
}

/** The statements that write rows. The run of an insertion is bound by its name, once a statement and not once a row. */
function writingTexts(list: ListDefinition) {
  const table = schemaTable(list.table);
  const ids = list.identity.by === 'id' ? ['id'] : [];
  const time = timeColumnOf(list);
  const scalars = scalarFields(list).map(({ column }) => keyOf(table, column));
  const times = time === null ? [] : [keyOf(table, time)];
  const marked = (names: readonly string[]) => {
    const values = marks(names.length);
    return Object.fromEntries(names.map((name, at) => [name, values[at]]));
  };
  const ofRun = { firstSeenRunId: sql`@run`, changedRunId: sql`@run` };
  const inserted = { ...marked([...ids, ...scalars, 'extra', 'content', ...times]), ...ofRun };
  const { id, ...updated } = marked([...scalars, 'changedRunId', 'extra', 'content', ...times, 'id']);
  return {
    insert: textOf(words.insert(table).values(inserted)),
    update: textOf(
      words
        .update(table)
        .set(updated)
        .where(isSame(columnOf(table, 'id'), id)),
    ),
  };
}

function childWordsOf(list: ListDefinition, field: ArrayField) {
  const table = schemaTable(field.table);
  const [owner, position, value] = [list.ownerColumn, 'position', field.column].map(name =>
    columnOf(table, name),
  ) as [SQLiteColumn, SQLiteColumn, SQLiteColumn];
  const owners = rowsTable(list.resource);
  const ofNone = notInArray(owner, words.select({ id: owners.id }).from(owners));
  const ownerOf: SQL<number> = sql`${owner}`;
  return {
    table: field.table,
    insert: (ownerId: number, at: number, item: Scalar) =>
      words.insert(table).values({
        [keyOf(table, list.ownerColumn)]: ownerId,
        [keyOf(table, 'position')]: at,
        [keyOf(table, field.column)]: item,
      }),
    clear: (ownerId: number) => words.delete(table).where(eq(owner, ownerId)),
    read: (ownerId: number) =>
      select({ value: sql<Scalar>`${value}` })
        .from(table)
        .where(eq(owner, ownerId))
        .orderBy(position),
    strays: () => select({ id: ownerOf }).from(table).where(ofNone).limit(1),
    dropStrays: () => words.delete(table).where(ofNone),
    ownersWithGaps: () =>
      select({ id: ownerOf })
        .from(table)
        .groupBy(owner)
        .having(or(sql`${min(position)} <> 0`, sql`${max(position)} <> ${count()} - 1`)),
  };
}
