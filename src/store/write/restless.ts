import { furtherFields, type RecordValues } from '../../contract/content.ts';
import { arrayFields, type ListDefinition, scalarFields } from '../../contract/lists.ts';
import type { Stage } from './stage.ts';

/** So many records are compared, and fewer tell nothing. */
const [sampleMax, sampleMin] = [100, 5];

/** The fields that differ in most records between two answers, or the mirror and the list: each run would make new versions of all. */
export function restlessFields(stage: Stage): string[] {
  const { context, settlement, records, sql } = stage;
  const { list, sum, sqlite } = context;
  const settled = [...settlement.settled].filter(
    ([, { shown, edited }]) => shown.size > 1 || edited.length > 0,
  );
  const plain = settlement.edited - settled.reduce((count, [, { edited }]) => count + edited.length, 0);
  const changed = settled.length + plain;
  // Those can differ that were shown twice, or that the mirror has.
  const comparable = sum.count > 0 ? Math.min(sum.count, settlement.seen) : stage.repeatedCount;
  if (changed < sampleMin || changed <= comparable / 2) return [];
  const pairs: (readonly [RecordValues, RecordValues])[] = [];
  for (const [record, { shown }] of settled.slice(0, sampleMax)) {
    const [row] = records.rowsOf(record);
    const [one, other = row?.version] = shown;
    if (one !== undefined && other !== undefined)
      pairs.push([records.valuesOf(record, one), records.valuesOf(record, other)]);
  }
  const ofRows = sqlite.prepare<[number], { record: number; n: number }>(sql.stagedOfRows);
  for (const { record, n } of plain > 0 ? ofRows.all(sampleMax) : [])
    pairs.push([records.valuesOf(record, n), context.table.read(record).record]);
  const counts = new Map<string, number>();
  for (const [one, other] of pairs)
    for (const name of differing(list, one, other)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const isRestless = (name: string) =>
    (counts.get(name) ?? 0) > pairs.length / 2 && !context.ignored.has(name);
  return [...counts.keys()].filter(isRestless);
}

function differing(list: ListDefinition, one: RecordValues, other: RecordValues): string[] {
  const scalars = scalarFields(list).filter((_, at) => one.scalars[at] !== other.scalars[at]);
  const arrays = arrayFields(list).filter((_, at) => String(one.arrays[at]) !== String(other.arrays[at]));
  const [further, others] = [furtherFields(one.extra), furtherFields(other.extra)];
  // A field that one has and the other has not is new, or gone.
  const names = Object.keys(further).filter(name => name in others);
  const members = names.filter(name => JSON.stringify(further[name]) !== JSON.stringify(others[name]));
  return [...[...scalars, ...arrays].map(({ name }) => name), ...members];
}
