import { furtherFields, type RecordValues } from '../../contract/content.ts';
import { arrayFields, type Field, type ListDefinition, scalarFields } from '../../contract/lists.ts';
import type { UnknownField } from '../../contract/page.ts';
import type { Finding } from '../../proof/findings.ts';
import type { RecordNo, VersionNo } from '../../proof/page-items.ts';
import { allRows, allValues, firstValue } from '../tables/ask.ts';
import { reasonsIn } from '../tables/reasons.ts';
import { unreadableTimes } from '../tables/unreadable-times.ts';
import type { ListContext } from './mirror.ts';
import type { Stage } from './stage.ts';

/**
 * Brings `unknown_fields` up to date with a list's rows that were just written, and returns what is new of fields, and what there is to tell of
 * them. Only a full sync counts all.
 */
export function writeFieldNews(
  stage: Stage,
  deletedCount: number,
  isFull: boolean,
  volatile: readonly string[],
) {
  const { context, reconciliation, records } = stage;
  const { sqlite, list } = context;
  const beforeRun = isFull ? fieldsBeside(context) : [];
  const fresh = writeNewFields(stage, isFull);
  const left = new Set(isFull ? fieldsBeside(context) : []);
  const isChanged = reconciliation.updated + reconciliation.inserted + deletedCount > 0;
  const last = reasonsOfLast(context);
  const known = last.flatMap(each => (each.code === 'field_gone' ? [each.field] : []));
  const gone = list.fields.filter(field =>
    isChanged ? isGone(context, field, known) : known.includes(field.name),
  );
  const names = [...gone.map(({ name }) => name), ...beforeRun.filter(name => !left.has(name))];
  const all = `SELECT count(*) FROM ${list.table}`;
  const count = names.length === 0 ? 0 : (firstValue<number>(sqlite, all) ?? 0);
  const changed = Math.max(reconciliation.updated, records.toReconcile.size);
  const times = unreadableTimes(sqlite, list.resource);
  const ofFields: Finding[] = [
    ...(count === 0 ? [] : names).map(field => ({ code: 'field_gone' as const, field, count })),
    ...fresh.flatMap(({ field, recordCount }) =>
      recordCount === null ? [] : [{ code: 'field_new' as const, field, count: recordCount }],
    ),
    ...volatile.map(field => ({ code: 'field_volatile' as const, field, count: changed })),
    ...(times === null ? [] : [{ code: 'time_unreadable' as const, count: times.count }]),
  ];
  const news = fresh.map(({ recordCount: _count, ...field }) => field);
  return { newFields: news as readonly UnknownField[], unreadableTimes: times, ofFields };
}

/** The fields beside the contract that records have, and are not null in all of them. */
function fieldsBeside({ sqlite, list }: ListContext): string[] {
  const held = `SELECT DISTINCT field FROM unknown_fields WHERE resource = ? AND record_count > 0 AND json_type <> 'null'`;
  return allValues<string>(sqlite, held, list.resource);
}

/** What the last run that wrote the list found out. */
function reasonsOfLast({ sqlite, list, runs }: ListContext): readonly Finding[] {
  const runId = runs.last('written', list.resource)?.runId ?? 0;
  const reasons = 'SELECT reasons FROM sync_run_resources WHERE run_id = ? AND resource = ?';
  return reasonsIn(firstValue<string>(sqlite, reasons, runId, list.resource)) ?? [];
}

/** Whether no row has a value of a field, and the run ended versions that had one, or the run before said so already. */
function isGone({ sqlite, list, runId }: ListContext, field: Field, known: readonly string[]): boolean {
  const path = `'$.${field.name}'`;
  const has =
    'table' in field
      ? `json_type(_extra, ${path}) IS NOT 'null'`
      : `${field.column} IS NOT NULL OR json_type(_extra, ${path}) <> 'null'`;
  if (firstValue(sqlite, `SELECT 1 FROM ${list.table} WHERE ${has} LIMIT 1`) !== null) return false;
  const had = `SELECT 1 FROM record_history WHERE valid_to_run_id = ? AND +resource = ? AND json_type(record, ${path}) <> 'null' LIMIT 1`;
  return known.includes(field.name) || firstValue(sqlite, had, runId, list.resource) !== null;
}

/** What is new in `unknown_fields`, and how many records have it; null if it is beside the items of an answer. */
function writeNewFields({ context, sql, answerMembers }: Stage, isFull: boolean) {
  const { sqlite, list, runId } = context;
  const { resource, table } = list;
  const counted = sqlite.prepare('SELECT 1 FROM unknown_fields WHERE resource = ? AND record_count IS NOT 0');
  const isCounted = isFull && counted.get(resource) !== undefined;
  const hasFurther = isCounted || sqlite.prepare(sql.isFurther).get() !== undefined;
  const ofRun = isFull ? '' : `AND r._changed_run_id = ${runId}`;
  type Further = UnknownField & { readonly recordCount: number };
  const further = `SELECT j.key AS field,
      CASE j.type WHEN 'text' THEN 'string' WHEN 'integer' THEN 'number' WHEN 'real' THEN 'number'
        WHEN 'true' THEN 'boolean' WHEN 'false' THEN 'boolean' ELSE j.type END AS jsonType,
      count(*) AS recordCount
    FROM ${table} r, json_each(r._extra) j WHERE r._extra IS NOT NULL ${ofRun} GROUP BY 1, 2 ORDER BY 1, 2`;
  // A value that its column can't store is in `_extra`, too.
  const columns = new Set(list.fields.map(({ name }) => name));
  const fields = (hasFurther ? allRows<Further>(sqlite, further) : []).filter(
    ({ field }) => !columns.has(field),
  );

  if (isFull) sqlite.prepare('UPDATE unknown_fields SET record_count = 0 WHERE resource = ?').run(resource);
  const upsert = `INSERT INTO unknown_fields (resource, field, json_type, first_seen_run_id, last_seen_run_id, record_count)
    VALUES (@resource, @field, @jsonType, @runId, @runId, @recordCount) ON CONFLICT DO UPDATE SET
      last_seen_run_id = @runId, record_count = coalesce(@recordCount, record_count)
    RETURNING first_seen_run_id = @runId`;
  const note = sqlite.prepare<object, number>(upsert).pluck();
  const isNew = ({ field, jsonType }: UnknownField, recordCount: number | null) =>
    note.get({ resource, field, jsonType, runId, recordCount }) === 1;
  const ofRecords = fields.filter(each => isNew(each, isFull ? each.recordCount : null));
  const ofAnswers = [...answerMembers.values()].filter(member => isNew(member, 0));
  return [...ofRecords, ...ofAnswers.map(member => ({ ...member, recordCount: null }))];
}

/** So many records are compared, and fewer tell nothing. */
const [sampleMax, sampleMin] = [100, 5];

/** The fields that differ in most records between two answers, or the mirror and the list: each run would make new versions of all. */
export function volatileFields(stage: Stage): string[] {
  const { context, reconciliation, records, sql } = stage;
  const { list, sumBefore, sqlite } = context;
  const reconciled = [...reconciliation.reconciled].filter(
    ([, { shown, edited }]) => shown.size > 1 || edited.length > 0,
  );
  const plain =
    reconciliation.updated - reconciled.reduce((count, [, { edited }]) => count + edited.length, 0);
  const changed = reconciled.length + plain;
  // Those can differ that were shown twice, or that the mirror has.
  const comparable =
    sumBefore.count > 0 ? Math.min(sumBefore.count, reconciliation.seen) : stage.repeatedCount;
  if (changed < sampleMin || changed <= comparable / 2) return [];
  const pairs: (readonly [RecordValues, RecordValues])[] = [];
  for (const [record, { shown }] of reconciled.slice(0, sampleMax)) {
    const [row] = records.rowsOf(record);
    const [one, other = row?.version] = shown;
    if (one !== undefined && other !== undefined)
      pairs.push([records.valuesOf(record, one), records.valuesOf(record, other)]);
  }
  const ofRows = sqlite.prepare<[number], { record: RecordNo; n: VersionNo }>(sql.stagedOfRows);
  for (const { record, n } of plain > 0 ? ofRows.all(sampleMax) : [])
    pairs.push([records.valuesOf(record, n), context.table.read(record).record]);
  const counts = new Map<string, number>();
  for (const [one, other] of pairs)
    for (const name of differing(list, one, other)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const isVolatile = (name: string) =>
    (counts.get(name) ?? 0) > pairs.length / 2 && !context.ignored.has(name);
  return [...counts.keys()].filter(isVolatile);
}

function differing(list: ListDefinition, one: RecordValues, other: RecordValues): string[] {
  // A field that one has and the other has not is new, or gone.
  const doDiffer = (a: unknown, b: unknown) => a !== b && (a ?? null) !== null && (b ?? null) !== null;
  const scalars = scalarFields(list).filter((_, at) => doDiffer(one.scalars[at], other.scalars[at]));
  const arrays = arrayFields(list).filter((_, at) => String(one.arrays[at]) !== String(other.arrays[at]));
  const [further, others] = [furtherFields(one.extra), furtherFields(other.extra)];
  const names = Object.keys(further).filter(name => name in others);
  const members = names.filter(name => JSON.stringify(further[name]) !== JSON.stringify(others[name]));
  return [...[...scalars, ...arrays].map(({ name }) => name), ...members];
}
