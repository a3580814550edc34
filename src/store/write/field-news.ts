import type Database from 'better-sqlite3';
import { and, eq, isNotNull, lt, lte, max, sql } from 'drizzle-orm';
import { type ListDefinition, scalarFields } from '../../contract/lists.ts';
import type { FieldNews, UnknownField } from '../../contract/run.ts';
import { firstValue } from '../tables/query.ts';
import { columnOf, rowsTable } from '../tables/rows-table.ts';
import { recordHistory, syncRunResources, unknownFields } from '../tables/schema.ts';
import { prepareValue, select } from '../tables/statement.ts';
import { wroteList } from '../tables/written-lists.ts';
import type { ListContext } from './list-context.ts';

interface WrittenFields {
  readonly isFull: boolean;
  readonly isProven: boolean;
  /** Whether the run wrote a record with fields that have no column. */
  readonly hasFurtherFields: boolean;
}

/**
 * Brings `unknown_fields` up to date with a list's rows, inside the transaction that has written them, and returns what is new.
 *
 * A full sync counts the rows and not the records that it parsed, because known pages are not parsed. Nothing is counted if no
 * record has further fields and none had any before. An incremental sync reads only the rows that it wrote, so it leaves the counts
 * as they are.
 */
export function fieldNews(context: ListContext, written: WrittenFields): FieldNews {
  if (context.run.isDry) return { newFields: newInStaged(context, written), emptiedColumns: [] };
  return {
    newFields: written.isFull ? countAll(context, written) : noteWritten(context, written),
    emptiedColumns: written.isFull && written.isProven ? emptiedColumns(context) : [],
  };
}

/** The fields of staged records that no earlier run has met; nothing is noted. */
function newInStaged({ file, list }: ListContext, { hasFurtherFields }: WrittenFields): UnknownField[] {
  if (!hasFurtherFields) return [];
  const ofList = eq(unknownFields.resource, list.resource);
  const known = file.orm.select().from(unknownFields).where(ofList).all();
  return fieldsOf(file.sqlite, { ...list, table: 'temp.incoming' }, '', [])
    .filter(
      found => !known.some(({ field, jsonType }) => field === found.field && jsonType === found.jsonType),
    )
    .map(({ field, jsonType }) => ({ field, jsonType }));
}

function countAll(context: ListContext, { hasFurtherFields }: WrittenFields): UnknownField[] {
  const { file, list } = context;
  const ofList = eq(unknownFields.resource, list.resource);
  const isKnown = file.orm.select().from(unknownFields).where(ofList).limit(1).get() !== undefined;
  if (!hasFurtherFields && !isKnown) return [];
  const found = fieldsOf(file.sqlite, list, '', []);
  file.orm.update(unknownFields).set({ recordCount: 0 }).where(ofList).run();
  return note(context, found, true);
}

function noteWritten(context: ListContext, { hasFurtherFields }: WrittenFields): UnknownField[] {
  if (!hasFurtherFields) return [];
  const { file, list, run } = context;
  return note(context, fieldsOf(file.sqlite, list, 'AND r._changed_run_id = ?', [run.id]), false);
}

type CountedField = UnknownField & { readonly recordCount: number };

/** The fields of the rows that have no column. */
function fieldsOf(
  sqlite: Database.Database,
  { table, fields }: ListDefinition,
  condition: string,
  values: readonly number[],
): CountedField[] {
  // By hand: a table-valued function.
  const found = sqlite
    .prepare<number[], CountedField>(
      `SELECT j.key AS field,
         CASE j.type WHEN 'text' THEN 'string' WHEN 'integer' THEN 'number' WHEN 'real' THEN 'number'
           WHEN 'true' THEN 'boolean' WHEN 'false' THEN 'boolean' ELSE j.type END AS jsonType,
         count(*) AS recordCount
       FROM ${table} r, json_each(r._extra) j WHERE r._extra IS NOT NULL ${condition} GROUP BY 1, 2 ORDER BY 1, 2`,
    )
    .all(...values);
  // A value that its column can't store is in `_extra`, too.
  const known = new Set(fields.map(({ name }) => name));
  return found.filter(({ field }) => !known.has(field));
}

/** Notes the fields that the run has met, and returns those that no earlier run has met. */
function note(
  { file, list, run }: ListContext,
  found: readonly CountedField[],
  isCount: boolean,
): UnknownField[] {
  const { resource } = list;
  const isNew = found.filter(({ field, jsonType, recordCount }) => {
    const row = file.orm
      .insert(unknownFields)
      .values({
        resource,
        field,
        jsonType,
        firstSeenRunId: run.id,
        lastSeenRunId: run.id,
        recordCount: isCount ? recordCount : null,
      })
      .onConflictDoUpdate({
        target: [unknownFields.resource, unknownFields.field, unknownFields.jsonType],
        set: { lastSeenRunId: run.id, ...(isCount && { recordCount: sql`excluded.record_count` }) },
      })
      .returning({ firstSeenRunId: unknownFields.firstSeenRunId })
      .get();
    return row.firstSeenRunId === run.id;
  });
  return isNew.map(({ field, jsonType }) => ({ field, jsonType }));
}

/**
 * The columns in which no row has a value, but each version up to the last full sync had one. One look-up in an index nearly always
 * shows that there is none: it finds a row that is as the last full sync left it.
 */
function emptiedColumns({ file: { sqlite }, list, run }: ListContext): string[] {
  const { resource } = list;
  const lastFull = firstValue(sqlite, lastFullBefore, resource, run.id);
  if (typeof lastFull !== 'number') return [];
  const table = rowsTable(resource);
  const some = () => select({ id: table.id }).from(table).limit(1);
  const older = (runId: number) => some().where(lte(table.changedRunId, runId));
  if (firstValue(sqlite, older, lastFull) !== undefined || firstValue(sqlite, some) === undefined) return [];
  const isEmpty = (column: string) =>
    firstValue(sqlite, () => some().where(isNotNull(columnOf(table, column)))) === undefined;
  const { record, validFromRunId } = recordHistory;
  const wasFull = prepareValue(sqlite, (path: string, of: string, runId: number) =>
    select({ all: sql<number | null>`min(json_extract(${record}, ${path}) is not null)` })
      .from(recordHistory)
      .where(and(eq(recordHistory.resource, of), lte(validFromRunId, runId), isNotNull(record))),
  );
  return scalarFields(list)
    .filter(({ name, column }) => isEmpty(column) && wasFull.get(`$.${name}`, resource, lastFull) === 1)
    .map(({ column }) => column);
}

function lastFullBefore(resource: string, runId: number) {
  const of = syncRunResources;
  return select({ runId: max(of.runId) })
    .from(of)
    .where(and(eq(of.resource, resource), lt(of.runId, runId), eq(of.mode, 'full'), wroteList));
}
