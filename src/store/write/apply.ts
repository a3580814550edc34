import { scalarFields } from '../../contract/lists.ts';
import type { UnknownField } from '../../contract/page.ts';
import { Sum } from '../../contract/sum.ts';
import { miscount } from '../../proof/ends.ts';
import { passesGate } from '../../proof/removal.ts';
import type { PageItems } from '../../proof/window.ts';
import { TimeSlice } from '../../time-slice.ts';
import { altered } from '../receipts/altered-lists.ts';
import { sumOfContents } from '../receipts/statements.ts';
import { wroteListSql } from '../tables/ended-runs.ts';
import type { Applied, ListOutcome } from '../tables/run.ts';
import { stateAfter, writeState } from './memory.ts';
import type { ListContext } from './mirror.ts';
import { type Plan, planOf, type Result } from './plan.ts';
import { restlessFields } from './restless.ts';
import type { Stage } from './stage.ts';
import { transact } from './transaction.ts';

/**
 * Writes what was read of a list, in one short transaction: versions that end, rows, names of connections, rejected records, notes for
 * the next run and the run's record; all or nothing. The rows must then have the sum of what was read.
 *
 * @param conclude makes the outcome that is recorded.
 * @returns the outcome; or why the list has to be read again without what earlier runs remember.
 */
export async function apply(
  stage: Stage,
  result: Result,
  conclude: (unproven: string | null, applied: Applied) => ListOutcome,
): Promise<ListOutcome | string> {
  const { file, list, runId, records, sqlite, sum, signal, haveOthersWritten } = stage.context;
  const { proof, undecided } = result;
  const plan = planOf(stage, result);
  const { edits, held, gone, withheld, changedIdentity } = plan;
  const unproven = result.unproven ?? whyMiscounted(stage, result, plan);
  const restless = restlessFields(
    stage,
    plan,
    sum.count > 0 ? Math.min(sum.count, plan.sum.count) : stage.repeatedCount,
  );
  // An incremental sync rests on the newest records that were known.
  const isKnown = (row: number) => stage.shown.has(row) || held.has(row);
  if (proof === null && stage.before.growth?.newestRows.every(isKnown) !== true)
    return 'the newest known record is gone';

  return transact(file, signal, async () => {
    // From here on nobody else can write, and nothing of this run was written yet.
    if (haveOthersWritten()) assertSum(stage.context);
    const { rows, read } = await writeRows(stage, result, plan);
    if (!passesGate(read, rows)) {
      sqlite.exec('ROLLBACK');
      return `the rows of ${list.resource} would differ from what was read of the list`;
    }
    stage.names.write(sqlite, list.resource, runId, proof?.verdict.isProven === true);
    stage.rejected.write(stage.context, result);
    const isSure = unproven === null && stage.rejected.count === 0 && withheld === 0;
    const seen = { pages: stage.pages, names: stage.names.entries };
    writeState(
      sqlite,
      list,
      runId,
      stateAfter(stage.before, { ...result, unproven }, seen, isSure, rows.count, rowsOn(stage, plan)),
    );
    const outcome = conclude(unproven, {
      inserted: rows.count - sum.count + gone.length,
      updated: edits.size,
      removed: gone.length,
      unchanged: sum.count - edits.size - gone.length - withheld,
      rejected: stage.rejected.count,
      removalsWithheld: withheld,
      changedIdentity,
      undecided,
      checksum: rows.toString(),
      restlessFields: restless,
      ...fieldNews(stage, { ...result, unproven }),
    });
    signal.throwIfAborted();
    return records.endList(runId, outcome, rows);
  });
}

/** Finds the rows that the records of a page have then; null for one that has none that is known. */
function rowsOn({ isOfIds }: Stage, { settled, base }: Plan) {
  const placed = new Map<number, Map<number, (number | null)[]>>();
  for (const [record, { kept, edited, added }] of settled) {
    const rows = new Map<number, (number | null)[]>();
    const place = (version: number, row: number | null) =>
      rows.set(version, [...(rows.get(version) ?? []), row]);
    for (const { row, version } of [...kept, ...edited]) place(version, row);
    for (const [at, version] of added.entries()) {
      const isFirst = version > 0 && added.indexOf(version) === at;
      place(version, isFirst ? (isOfIds ? record : base + version) : null);
    }
    placed.set(record, rows);
  }
  return ({ records, versions }: PageItems): (number | null)[] => {
    const taken = new Map<readonly (number | null)[], number>();
    return Array.from(records, (record, at) => {
      const version = versions[at] as number;
      const rows = placed.get(record);
      if (rows === undefined) return version < 0 ? null : version === 0 || isOfIds ? record : base + version;
      const its = rows.get(version) ?? [];
      const next = taken.get(its) ?? 0;
      taken.set(its, next + 1);
      return its[next] ?? null;
    });
  };
}

/** Why the rows are not as many as the records of the list; null if they are. */
function whyMiscounted(
  { context, staged, rejected }: Stage,
  { proof, answers }: Result,
  { copies, gone, stays }: Plan,
): string | null {
  if (proof === null || rejected.count > 0) return null;
  let added = staged.size;
  for (const [n, count] of copies) added += count - (staged.has(n) ? 1 : 0);
  return miscount(answers, context.sum.count + added - gone.length - stays.length);
}

/**
 * Makes sure that the content hashes beside the rows still have the expected sum. It does not read the rows.
 *
 * @throws MirrorAlteredError if they do not.
 */
export function assertSum({ file: { path, sqlite }, list, sum }: ListContext): void {
  if (!sumOfContents(sqlite, list.resource).equals(sum)) throw altered(path, list.resource);
}

/** Writes the rows, and returns the sum that they have then, and the sum of what was read and of what stays. */
async function writeRows(
  stage: Stage,
  result: Result,
  { edits, gone, stays, base, copies, sum: shown }: Plan,
): Promise<{ rows: Sum; read: Sum }> {
  const { context, sql } = stage;
  const { runId: run, sqlite, sum, signal } = context;
  const slice = new TimeSlice(signal);
  let rows = sum.plus(new Sum());
  sqlite.exec('DELETE FROM temp.ends');
  const end = sqlite.prepare(sql.end);
  for (const [row, n] of edits) end.run(row, n);
  for (const row of gone) end.run(row, null);
  for (const content of sqlite.prepare<[], Buffer>(sql.contentsOfEnds).pluck().iterate())
    rows.subtract(content);
  // Of a growing list only the end was read: all other rows stay.
  const read = (result.proof === null ? rows : shown).plus(new Sum());
  if (result.proof === null)
    for (const [content, count] of sqlite.prepare<[], [Buffer, number]>(sql.incomingContents).raw().iterate())
      for (let each = 0; each < count; each++) read.add(content);
  sqlite.prepare(sql.endVersions).run({ run });
  sqlite.exec(sql.remove);
  sqlite.prepare(sql.update).run({ run });
  // Without rows there is nothing to look up, and indexes are made faster afterwards.
  const isNew = sum.count === 0 && stage.staged.size > 1000;
  const indexes = isNew ? sqlite.prepare<[], { name: string; sql: string }>(sql.indexes).all() : [];
  for (const { name } of indexes) sqlite.exec(`DROP INDEX "${name}"`);
  sqlite.prepare(sql.insertRows).run({ base, run });
  if ([...copies.values()].some(count => count > 1)) sqlite.prepare(sql.insertCopies).run({ run });
  for (const insert of sql.insertItems) sqlite.prepare(insert).run({ run });
  const next = sqlite.prepare<[number, number], [number | null, string | null]>(sql.writtenAfter).raw();
  for (let after: number | null = Number.MIN_SAFE_INTEGER; after !== null; ) {
    const [last, contents] = next.get(run, after) as [number | null, string | null];
    rows = rows.plus(Sum.of(Buffer.from(contents ?? '', 'hex')));
    after = last;
    if (slice.isOver) await slice.next();
  }
  for (const index of indexes) sqlite.exec(index.sql);
  const contentOf = sqlite.prepare<[number], Buffer>(sql.contentOf).pluck();
  for (const id of stays) {
    read.add(contentOf.get(id) as Buffer);
    if (slice.isOver) await slice.next();
  }
  return { rows, read };
}

/**
 * Brings `unknown_fields` up to date with a list's rows that were just written, and returns what is new. A full sync counts all rows,
 * unless none has or had further fields. An incremental sync reads only the rows that it wrote, and leaves the counts as they are.
 */
function fieldNews({ context, sql, answerMembers }: Stage, { proof, unproven }: Result) {
  const { sqlite, list, runId } = context;
  const { resource, table } = list;
  const isFull = proof !== null;
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
  const newFields = fields.filter(each => isNew(each, isFull ? each.recordCount : null));
  return {
    newFields: [
      ...newFields.map(({ field, jsonType }) => ({ field, jsonType })),
      ...[...answerMembers.values()].filter(member => isNew(member, 0)),
    ],
    emptiedColumns: isFull && unproven === null ? emptiedColumns(context) : [],
  };
}

/**
 * The columns in which no row has a value, but each version up to the last full sync had one. One look-up in an index nearly always
 * shows that there is none: it finds a row that is as the last full sync left it.
 */
function emptiedColumns({ sqlite, list, runId }: Stage['context']): string[] {
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
