import type { Answer } from '../../../src/proof/answers.ts';
import type { KeyOrder } from '../../../src/proof/order.ts';
import type * as Core from './core.ts';
import { type Mirror, settleMirror } from './mirror.ts';
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
  const served = new Map<Answer, readonly WorldRecord[]>();
  const settled = () =>
    settleMirror(core, { rows: countsOf(known) as Mirror['rows'] }, served, [], options.identity);
  const asking = core.proveGrowth({
    ...options,
    order: options.keyOrder ?? {
      direction: isDown ? 'down' : 'up',
      lateness: 0,
      extraOverlap: 0,
      outliers: 0,
    },
    newestKey,
    newestCount: known.filter(({ key }) => key === newestKey).length,
    count: known.length,
  });
  let tick = 0;
  let isOlderNew = false;
  let step = asking.next();
  while (step.done !== true) {
    if (step.value.kind !== 'pages') {
      step = asking.next({ kind: 'added', count: settled().addedCount });
      continue;
    }
    const answers = step.value.pages.map((ask): Answer => {
      world.change();
      const { records, total: stated } = world.answer(ask);
      const oldestNewKey = oldestNewIn(records, rows);
      isOlderNew ||= oldestNewKey < newestKey - (options.keyOrder?.lateness ?? 0);
      const answer: Answer = {
        ...ask,
        asked: ++tick,
        arrived: ++tick,
        at: world.moment,
        isRecalled: false,
        total: stated,
        page: pages.make(records),
        wrong: null,
        pageCount: null,
        oldestNewKeys: [oldestNewKey],
      };
      served.set(answer, records);
      return answer;
    });
    step = asking.next({ kind: 'pages', answers });
  }
  if (step.value.kind === 'full') return { kind: 'full', rows, isOlderNew };
  const { rows: shown, absent } = settled();
  const isMissing = absent.some(({ key }) => key === newestKey);
  const stays = absent.map(({ id }) => known.find(({ content }) => content === id) as WorldRecord);
  return isMissing
    ? { kind: 'full', rows, isOlderNew }
    : { kind: 'done', rows: countsOf([...shown, ...stays]), isOlderNew };
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
