import type { KeyOrder } from '../../../src/proof/order.ts';
import type { Answer } from '../../../src/proof/window.ts';
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
  options: {
    identity: 'id' | 'content';
    isDown: boolean;
    largest: number;
    overlap: number;
    keyOrder?: KeyOrder;
  },
): IncrementalNight {
  const { isDown } = options;
  const rows = countsOf(known);
  const newestKey = Math.max(...known.map(({ key }) => key));
  const served: (readonly WorldRecord[])[] = [];
  const after = () => most([rows, ...served.map(countsOf)]);
  const asking = core.proveGrowth({
    ...options,
    order: options.keyOrder ?? { direction: isDown ? 'down' : 'up', slack: 0, stretch: 0, strays: 0 },
    newestKey,
    count: known.length,
    added: () => total(after()) - total(rows),
  });
  let tick = 0;
  let isOlderNew = false;
  let step = asking.next();
  while (step.done !== true) {
    const answers = step.value.pages.map((ask): Answer => {
      world.change();
      const { records, total: stated } = world.answer(ask);
      served.push(records);
      const oldestNewKey = oldestNewIn(records, rows);
      isOlderNew ||= oldestNewKey < newestKey - (options.keyOrder?.slack ?? 0);
      return {
        ...ask,
        asked: ++tick,
        arrived: ++tick,
        total: stated,
        page: pages.make(records),
        wrong: null,
        oldestNewKeys: [oldestNewKey],
      };
    });
    step = asking.next(answers);
  }
  if (step.value.kind === 'full') return { kind: 'full', rows, isOlderNew };
  const shown = most(served.map(countsOf));
  const isMissing = [...rows].some(
    ([content, { record, count }]) => record.key === newestKey && (shown.get(content)?.count ?? 0) < count,
  );
  return isMissing ? { kind: 'full', rows, isOlderNew } : { kind: 'done', rows: after(), isOlderNew };
}

/** A record is new if the page has more of its content than the mirror. */
function oldestNewIn(records: readonly WorldRecord[], rows: Counts): number {
  const added = [...countsOf(records).values()].filter(
    ({ record, count }) => count > (rows.get(record.content)?.count ?? 0),
  );
  return Math.min(...added.map(({ record }) => record.key));
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
