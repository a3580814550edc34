import { arrayFields, scalarFields } from '../../contract/lists.ts';
import type { Settlement, Stage } from './stage.ts';

/** So many records are compared, and fewer tell nothing. */
const [sampleMax, sampleMin] = [100, 10];

/**
 * The fields that differ in most records between two answers of a run, or between the mirror and the list: a signed address, or the time of
 * the answer. Such a field makes every record a new version in every run.
 *
 * @param comparable how many records could differ: they were shown twice, or the mirror has them.
 */
export function restlessFields(
  stage: Stage,
  { settled }: Pick<Settlement, 'settled'>,
  comparable: number,
): string[] {
  const changed = [...settled].filter(([, { edited, shown }]) => shown.size > 1 || edited.length > 0);
  if (changed.length < sampleMin || changed.length <= comparable / 2) return [];
  const counts = new Map<string, number>();
  const sample = changed.slice(0, sampleMax);
  for (const [record, { shown, edited }] of sample) {
    const row = edited[0]?.row;
    const versions = [...shown].slice(0, 2).map(version => valuesOf(stage, record, version));
    if (row !== undefined && versions.length < 2) versions.push(valuesOfRow(stage, row));
    const [one = {}, other = {}] = versions;
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
      if (one[name] !== other[name]) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > sample.length / 2).map(([name]) => name);
}

type Values = Record<string, unknown>;

function valuesOf(stage: Stage, record: number, version: number): Values {
  if (version === 0) return valuesOfRow(stage, record);
  const { list, sqlite } = stage.context;
  const staged =
    sqlite.prepare<[number], Values>('SELECT * FROM temp.incoming WHERE n = ?').get(version) ?? {};
  const scalars = scalarFields(list).map(({ name, column }) => [name, staged[column]]);
  return {
    ...Object.fromEntries(scalars),
    ...arraysOf(stage, JSON.parse(String(staged.arrays ?? '[]'))),
    ...extraOf(staged._extra),
  };
}

function valuesOfRow(stage: Stage, row: number): Values {
  const { list, table } = stage.context;
  const { record } = table.read(row);
  const scalars = scalarFields(list).map(({ name }, at) => [name, record.scalars[at]]);
  return { ...Object.fromEntries(scalars), ...arraysOf(stage, record.arrays), ...extraOf(record.extra) };
}

const arraysOf = ({ context: { list } }: Stage, arrays: readonly unknown[]): Values =>
  Object.fromEntries(arrayFields(list).map(({ name }, at) => [name, JSON.stringify(arrays[at] ?? [])]));

function extraOf(extra: unknown): Values {
  if (typeof extra !== 'string') return {};
  return Object.fromEntries(
    Object.entries(JSON.parse(extra)).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}
