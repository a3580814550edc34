import { scalarFields } from '../../contract/lists.ts';
import type { UnknownField } from '../../contract/page.ts';
import { wroteListSql } from '../tables/ended-runs.ts';
import type { ReadList } from './memory.ts';
import type { ListContext } from './mirror.ts';
import type { Stage } from './stage.ts';

/**
 * Brings `unknown_fields` up to date with a list's rows that were just written, and returns what is new. A full sync counts all rows,
 * unless none has or had further fields. An incremental sync reads only the rows that it wrote, and leaves the counts as they are.
 */
export function fieldNews({ context, sql, answerMembers }: Stage, { proof, unproven }: ReadList) {
  const { sqlite, list, runId } = context;
  const isFull = proof !== null;
  const all = <Row>(query: string, ...values: unknown[]) =>
    sqlite.prepare<unknown[], Row>(query).all(...values);
  const known = all<UnknownField & { readonly recordCount: number | null }>(
    'SELECT field, json_type AS jsonType, record_count AS recordCount FROM unknown_fields WHERE resource = ?',
    list.resource,
  );
  const isCounted = isFull && known.some(({ recordCount }) => recordCount !== 0);
  const hasFurther = isCounted || all(sql.isFurther).length > 0;
  const columns = new Set(list.fields.map(({ name }) => name));
  const ofRun = isFull ? '' : `AND r._changed_run_id = ${runId}`;
  const further = hasFurther
    ? all<UnknownField & { readonly recordCount: number }>(
        `SELECT j.key AS field,
           CASE j.type WHEN 'text' THEN 'string' WHEN 'integer' THEN 'number' WHEN 'real' THEN 'number'
             WHEN 'true' THEN 'boolean' WHEN 'false' THEN 'boolean' ELSE j.type END AS jsonType,
           count(*) AS recordCount
         FROM ${list.table} r, json_each(r._extra) j WHERE r._extra IS NOT NULL ${ofRun} GROUP BY 1, 2 ORDER BY 1, 2`,
      )
    : [];
  const isNew = ({ field, jsonType }: UnknownField) =>
    !known.some(each => each.field === field && each.jsonType === jsonType);
  // A value that its column can't store is in `_extra`, too.
  const fields = further.filter(({ field }) => !columns.has(field));
  const members = [...answerMembers.values()].filter(isNew);

  if (isFull)
    sqlite.prepare('UPDATE unknown_fields SET record_count = 0 WHERE resource = ?').run(list.resource);
  const note = sqlite.prepare(
    `INSERT INTO unknown_fields (resource, field, json_type, first_seen_run_id, last_seen_run_id, record_count)
     VALUES (@resource, @field, @jsonType, @runId, @runId, @recordCount) ON CONFLICT DO UPDATE SET
       last_seen_run_id = @runId, record_count = coalesce(@recordCount, record_count)`,
  );
  const { resource } = list;
  for (const { field, jsonType } of members) note.run({ resource, field, jsonType, runId, recordCount: 0 });
  for (const { field, jsonType, recordCount } of fields)
    note.run({ resource, field, jsonType, runId, recordCount: isFull ? recordCount : null });
  return {
    newFields: [...fields.filter(isNew).map(({ field, jsonType }) => ({ field, jsonType })), ...members],
    emptiedColumns: isFull && unproven === null ? emptiedColumns(context) : [],
  };
}

/**
 * The columns in which no row has a value, but each version up to the last full sync had one. One look-up in an index nearly always
 * shows that there is none: it finds a row that is as the last full sync left it.
 */
function emptiedColumns({ sqlite, list, runId }: ListContext): string[] {
  const { resource, table } = list;
  const isTrue = (query: string, ...values: unknown[]) =>
    sqlite
      .prepare(`SELECT ${query}`)
      .pluck()
      .get(...values) === 1;
  const lastFull = `(SELECT max(run_id) FROM sync_run_resources WHERE resource = '${resource}' AND run_id < ${runId} AND mode = 'full' AND ${wroteListSql})`;
  const isLikely = `EXISTS (SELECT 1 FROM ${table}) AND NOT EXISTS (SELECT 1 FROM ${table} WHERE _changed_run_id <= ${lastFull})`;
  if (!isTrue(isLikely)) return [];
  const wasFull = `(SELECT min(json_extract(record, ?) IS NOT NULL) FROM record_history
    WHERE resource = '${resource}' AND valid_from_run_id <= ${lastFull} AND record IS NOT NULL)`;
  return scalarFields(list)
    .filter(({ name, column }) =>
      isTrue(
        `${wasFull} = 1 AND NOT EXISTS (SELECT 1 FROM ${table} WHERE ${column} IS NOT NULL)`,
        `$.${name}`,
      ),
    )
    .map(({ column }) => column);
}
