import type { PageAnswer } from '../../../src/proof/windows/page.ts';
import type * as Core from './core.ts';
import type { Pages, WorldRecord } from './records.ts';
import type { SmallWorld } from './small-world.ts';

/** How many records there are of each content. */
export type Counts = ReadonlyMap<number, { readonly record: WorldRecord; readonly count: number }>;

/** The result of an incremental sync. */
export interface IncrementalNight {
  readonly kind: 'done' | 'full';
  /** The rows of the mirror now. They are as before if the list has to be read in full. */
  readonly rows: Counts;
  /** Whether a page showed a new record that is older than the newest known one. */
  readonly isOlderNew: boolean;
}

/** Plays an incremental sync of a small list, against a mirror that was proven in the order in which the list was then. */
export function playIncremental(
  core: typeof Core,
  known: readonly WorldRecord[],
  world: SmallWorld,
  pages: Pages,
  options: { identity: 'id' | 'content'; isDown: boolean; largest: number; overlap: number },
): IncrementalNight {
  const { identity, isDown, largest, overlap } = options;
  const rows = countsOf(known);
  const newestKey = Math.max(...known.map(({ key }) => key));
  const direction = isDown ? ('down' as const) : ('up' as const);
  const list = { identity, direction, newestKey, count: known.length };
  const plan = new core.Plan(largest, overlap);
  const served = new Map<PageAnswer, readonly WorldRecord[]>();
  const itemsOf = (answer: PageAnswer) => pages.make(served.get(answer) ?? []).items;
  for (let tick = 0; ; tick += 2) {
    const answers = [...served].map(([answer, records]) => growthOf(answer, records, rows));
    const isOlderNew = answers.some(({ newCount, oldestNewKey }) => newCount > 0 && oldestNewKey < newestKey);
    const after = most([rows, ...[...served.values()].map(countsOf)]);
    const step = core.planIncremental(list, plan, answers, total(after) - total(rows), itemsOf);
    if (step.kind === 'full') return { kind: 'full', rows, isOlderNew };
    if (step.kind === 'done') {
      const shown = most([...served.values()].map(countsOf));
      const isMissing = [...rows].some(
        ([content, { record, count }]) =>
          core.isIn(record.key, step.range) && (shown.get(content)?.count ?? 0) < count,
      );
      return isMissing ? { kind: 'full', rows, isOlderNew } : { kind: 'done', rows: after, isOlderNew };
    }
    const page = plan.at(step.number);
    if (page === null) throw new Error('The plan has no such page.');
    world.change();
    const { records, total: stated } = world.answer(page);
    const { summary } = pages.make(records);
    served.set(
      { ...page, asked: tick, arrived: tick + 1, total: stated, isSecondLook: false, reading: 0, summary },
      records,
    );
  }
}

/** A record is new if the page has more of its content than the mirror. */
function growthOf(answer: PageAnswer, records: readonly WorldRecord[], rows: Counts) {
  const added = [...countsOf(records).values()].flatMap(({ record, count }) => {
    const more = count - (rows.get(record.content)?.count ?? 0);
    return more > 0 ? [{ key: record.key, more }] : [];
  });
  const newCount = added.reduce((sum, { more }) => sum + more, 0);
  return { answer, newCount, oldestNewKey: Math.min(...added.map(({ key }) => key)) };
}

function countsOf(records: readonly WorldRecord[]): Counts {
  const counts = new Map<number, { record: WorldRecord; count: number }>();
  for (const record of records) {
    const known = counts.get(record.content);
    if (known === undefined) counts.set(record.content, { record, count: 1 });
    else known.count++;
  }
  return counts;
}

function most(all: readonly Counts[]): Counts {
  const counts = new Map<number, { record: WorldRecord; count: number }>();
  for (const some of all) {
    for (const [content, { record, count }] of some) {
      const known = counts.get(content);
      if (known === undefined || known.count < count) counts.set(content, { record, count });
    }
  }
  return counts;
}

function total(counts: Counts): number {
  return [...counts.values()].reduce((sum, { count }) => sum + count, 0);
}
