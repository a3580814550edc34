import { scalarFields } from '../../contract/lists.ts';
import type { UnknownField } from '../../contract/page.ts';
import type { FieldNews } from '../../contract/run.ts';
import { wroteListSql } from '../tables/written-lists.ts';
import type { ListContext } from './list-context.ts';

interface WrittenFields {
  readonly isFull: boolean;
  readonly isProven: boolean;
  /** Whether the run wrote a record with fields that have no column. */
  readonly hasFurtherFields: boolean;
  /** Members of the answers beside the items. */
  readonly answerMembers: readonly UnknownField[];
}

/**
 * Brings `unknown_fields` up to date with a list's rows, inside the transaction that has written them, and returns what is new. A dry
 * run looks at what it has staged, and notes nothing.
 *
 * A full sync counts the rows and not the records that it parsed, because known pages are not parsed. Nothing is counted if no
 * record has further fields and none had any before. An incremental sync reads only the rows that it wrote, so it leaves the counts
 * as they are.
 */
export function fieldNews(context: ListContext, written: WrittenFields): FieldNews {
  const { isFull, isProven, hasFurtherFields, answerMembers } = written;
  const { file, list, run } = context;
  const known = file.sqlite
    .prepare<[string], UnknownField & { readonly recordCount: number | null }>(
      'SELECT field, json_type AS jsonType, record_count AS recordCount FROM unknown_fields WHERE resource = ?',
    )
    .all(list.resource);
  const isIn = (fields: readonly UnknownField[], { field, jsonType }: UnknownField) =>
    fields.some(each => each.field === field && each.jsonType === jsonType);
  const areCounted = known.some(({ recordCount }) => recordCount !== 0);
  const isAsked = hasFurtherFields || (isFull && run.dry === null && areCounted);
  const further = isAsked ? furtherFields(context, isFull) : [];
  const ofAnswers = answerMembers.filter(each => !isIn(known, each) && !isIn(further, each));
  if (run.dry === null)
    note(context, [...further, ...ofAnswers.map(each => ({ ...each, recordCount: 0 }))], isFull);
  return {
    newFields: [
      ...further.filter(each => !isIn(known, each)).map(({ field, jsonType }) => ({ field, jsonType })),
      ...ofAnswers,
    ],
    emptiedColumns: isFull && isProven && run.dry === null ? emptiedColumns(context) : [],
  };
}

type CountedField = UnknownField & { readonly recordCount: number };

/** The fields that have no column in the rows, in those that this run wrote or, if it is dry, in the staged records. */
function furtherFields({ file, list, run }: ListContext, isFull: boolean): CountedField[] {
  const { table, fields } = list;
  const rows = run.dry !== null ? 'temp.incoming' : table;
  const ofRun = isFull || run.dry !== null ? '' : `AND r._changed_run_id = ${run.id}`;
  const found = file.sqlite
    .prepare<[], CountedField>(
      `SELECT j.key AS field,
         CASE j.type WHEN 'text' THEN 'string' WHEN 'integer' THEN 'number' WHEN 'real' THEN 'number'
           WHEN 'true' THEN 'boolean' WHEN 'false' THEN 'boolean' ELSE j.type END AS jsonType,
         count(*) AS recordCount
       FROM ${rows} r, json_each(r._extra) j WHERE r._extra IS NOT NULL ${ofRun} GROUP BY 1, 2 ORDER BY 1, 2`,
    )
    .all();
  // A value that its column can't store is in `_extra`, too.
  const known = new Set(fields.map(({ name }) => name));
  return found.filter(({ field }) => !known.has(field));
}

function note({ file, list, run }: ListContext, found: readonly CountedField[], isCount: boolean): void {
  const { sqlite } = file;
  if (isCount)
    sqlite.prepare('UPDATE unknown_fields SET record_count = 0 WHERE resource = ?').run(list.resource);
  const write = sqlite.prepare(
    `INSERT INTO unknown_fields (resource, field, json_type, first_seen_run_id, last_seen_run_id, record_count)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       last_seen_run_id = excluded.last_seen_run_id, record_count = coalesce(excluded.record_count, record_count)`,
  );
  for (const { field, jsonType, recordCount } of found)
    write.run(
      list.resource,
      field,
      jsonType,
      run.id,
      run.id,
      isCount || recordCount === 0 ? recordCount : null,
    );
}

/**
 * The columns in which no row has a value, but each version up to the last full sync had one. One look-up in an index nearly always
 * shows that there is none: it finds a row that is as the last full sync left it.
 */
function emptiedColumns({ file: { sqlite }, list, run }: ListContext): string[] {
  const { resource, table } = list;
  const value = (query: string, ...values: unknown[]) =>
    sqlite
      .prepare(query)
      .pluck()
      .get(...values);
  const lastFull = value(
    `SELECT max(run_id) FROM sync_run_resources WHERE resource = ? AND run_id < ? AND mode = 'full' AND ${wroteListSql}`,
    resource,
    run.id,
  );
  if (typeof lastFull !== 'number') return [];
  const has = (condition: string) => value(`SELECT 1 FROM ${table} WHERE ${condition} LIMIT 1`) === 1;
  if (has(`_changed_run_id <= ${lastFull}`) || !has('true')) return [];
  const wasFull = (name: string) =>
    value(
      `SELECT min(json_extract(record, ?) IS NOT NULL) FROM record_history
       WHERE resource = ? AND valid_from_run_id <= ? AND record IS NOT NULL`,
      `$.${name}`,
      resource,
      lastFull,
    ) === 1;
  return scalarFields(list)
    .filter(({ name, column }) => !has(`${column} IS NOT NULL`) && wasFull(name))
    .map(({ column }) => column);
}
