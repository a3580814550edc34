import type { UnknownField } from '../../contract/page.ts';
import type { Stage } from './stage.ts';

/** Brings `unknown_fields` up to date with a list's rows that were just written, and returns what is new. Only a full sync counts all. */
export function newFields({ context, sql, answerMembers }: Stage, isFull: boolean): UnknownField[] {
  const { sqlite, list, runId } = context;
  const { resource, table } = list;
  const counted = sqlite.prepare('SELECT 1 FROM unknown_fields WHERE resource = ? AND record_count IS NOT 0');
  const isCounted = isFull && counted.get(resource) !== undefined;
  const hasFurther = isCounted || sqlite.prepare(sql.isFurther).get() !== undefined;
  const ofRun = isFull ? '' : `AND r._changed_run_id = ${runId}`;
  const further = sqlite.prepare<[], UnknownField & { readonly recordCount: number }>(
    `SELECT j.key AS field,
       CASE j.type WHEN 'text' THEN 'string' WHEN 'integer' THEN 'number' WHEN 'real' THEN 'number'
         WHEN 'true' THEN 'boolean' WHEN 'false' THEN 'boolean' ELSE j.type END AS jsonType,
       count(*) AS recordCount
     FROM ${table} r, json_each(r._extra) j WHERE r._extra IS NOT NULL ${ofRun} GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  // A value that its column can't store is in `_extra`, too.
  const columns = new Set(list.fields.map(({ name }) => name));
  const fields = (hasFurther ? further.all() : []).filter(({ field }) => !columns.has(field));

  if (isFull) sqlite.prepare('UPDATE unknown_fields SET record_count = 0 WHERE resource = ?').run(resource);
  const note = sqlite
    .prepare<object, number>(
      `INSERT INTO unknown_fields (resource, field, json_type, first_seen_run_id, last_seen_run_id, record_count)
       VALUES (@resource, @field, @jsonType, @runId, @runId, @recordCount) ON CONFLICT DO UPDATE SET
         last_seen_run_id = @runId, record_count = coalesce(@recordCount, record_count)
       RETURNING first_seen_run_id = @runId`,
    )
    .pluck();
  const isNew = ({ field, jsonType }: UnknownField, recordCount: number | null) =>
    note.get({ resource, field, jsonType, runId, recordCount }) === 1;
  const ofRecords = fields.filter(each => isNew(each, isFull ? each.recordCount : null));
  const ofAnswers = [...answerMembers.values()].filter(member => isNew(member, 0));
  return [...ofRecords.map(({ field, jsonType }) => ({ field, jsonType })), ...ofAnswers];
}
