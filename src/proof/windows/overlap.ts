import { hasCycle } from './cycle.ts';
import { Groups } from './groups.ts';
import { type Identity, type ItemsOf, isLater, type PageAnswer } from './page.ts';
import { RecordTable } from './record-table.ts';

/** The result of the answers for a list without a visible order. */
export type Overlap =
  | { readonly kind: 'proven' }
  /** A reading has gaps, at places between two of its pieces, by the addresses of the answers. */
  | { readonly kind: 'broken'; readonly reading: number; readonly at: readonly PlaceRange[] }
  /** The list has no stable order, or records that can't be told apart. */
  | { readonly kind: 'unfit'; readonly reason: string };

/** Places in the list, from the front. */
export interface PlaceRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Proof by overlap, in a list without a visible key: windows that share a record are one window. Two conditions show
 * that every record was on one of them. Each reading is linked from its first page to an end, and no two answers show
 * two records in opposite orders.
 *
 * @param readings the answers of each reading; they are by different plans.
 * @param ending the answers that end the list, as `endingAnswers` tells.
 */
export function proveByOverlap(
  readings: readonly (readonly PageAnswer[])[],
  ending: ReadonlySet<PageAnswer>,
  identity: Identity,
  itemsOf: ItemsOf,
): Overlap {
  const records = new RecordTable(identity);
  const answers = readings.flat();
  const shown: Int32Array[] = [];
  for (const answer of answers) {
    const numbers = numbersOf(answer, records, itemsOf);
    if (numbers === null) return { kind: 'unfit', reason: 'a page was not read' };
    shown.push(numbers);
  }
  if (hasCycle(shown, records.count)) return unfit(orderReason); // guard: one order
  let from = 0;
  for (const [number, reading] of readings.entries()) {
    if (reading.length === 0) continue;
    const to = from + reading.length;
    const at = breaksOf(reading, shown.slice(from, to), ending, records.count);
    if (at.length > 0) return { kind: 'broken', reading: number, at };
    from = to;
  }
  return { kind: 'proven' };
}

const orderReason = 'answers show records in different orders, or one at two places';

function unfit(reason: string): Overlap {
  return { kind: 'unfit', reason };
}

function numbersOf(answer: PageAnswer, records: RecordTable, itemsOf: ItemsOf): Int32Array | null {
  const { count } = answer.summary;
  if (count === 0) return new Int32Array(0);
  const items = itemsOf(answer);
  return items && Int32Array.from({ length: count }, (_, at) => records.numberOf(items, at));
}

/** The places at which a reading is not linked from a first page to an end. */
function breaksOf(
  answers: readonly PageAnswer[],
  shown: readonly Int32Array[],
  ending: ReadonlySet<PageAnswer>,
  count: number,
): PlaceRange[] {
  const groups = groupsOf(shown, count);
  const chains = new Map<number, { answers: PageAnswer[]; from: number; to: number }>();
  for (const [at, answer] of answers.entries()) {
    if (answer.summary.count === 0) continue;
    const from = answer.index * answer.size;
    const to = ending.has(answer) ? Number.POSITIVE_INFINITY : from + answer.summary.count;
    const chain = chains.get(groups.of(at));
    if (chain === undefined) chains.set(groups.of(at), { answers: [answer], from, to });
    else {
      chain.answers.push(answer);
      chain.from = Math.min(chain.from, from);
      chain.to = Math.max(chain.to, to);
    }
  }
  const sorted = [...chains.values()].sort((a, b) => a.from - b.from || b.to - a.to);
  const isWhole = ({ answers: all }: { answers: PageAnswer[] }) =>
    all.some(({ index }) => index === 0) && all.some(answer => ending.has(answer));
  if (sorted.some(isWhole)) return [];
  const breaks: PlaceRange[] = [];
  let reach = sorted[0]?.from === 0 ? (sorted[0]?.to ?? 0) : 0;
  for (const { from, to } of sorted.slice(sorted[0]?.from === 0 ? 1 : 0)) {
    if (to <= reach) continue;
    breaks.push({ from: Math.min(reach, from), to: Math.max(reach, from) });
    reach = to;
  }
  if (reach < Number.POSITIVE_INFINITY) {
    const newest = answers.reduce((best, answer) => (isLater(answer, best) ? answer : best));
    breaks.push({ from: Math.min(reach, newest.total), to: newest.total });
  }
  return breaks;
}

/** The pages that share a record, directly or through others. */
function groupsOf(shown: readonly Int32Array[], count: number): Groups {
  const groups = new Groups(shown.length);
  const firstPageOf = new Int32Array(count).fill(-1);
  for (const [at, page] of shown.entries()) {
    for (const record of page) {
      const first = firstPageOf[record] as number;
      if (first < 0) firstPageOf[record] = at;
      else groups.join(first, at);
    }
  }
  return groups;
}
