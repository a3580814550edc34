import { contentBytes } from '../contract/sum.ts';
import { ContentNumbers, Groups } from './numbers.ts';
import { haveSame, type PlainResult, readPlainly } from './plain.ts';
import { otherSizes } from './plan.ts';
import { type Asking, type Reading, readAroundFailed, type Verdict } from './reading.ts';
import type { Answer, Identity } from './window.ts';

/** Complete readings of which two in a row have to agree. */
const readingsMax = 4;
/** Whole readings that have to show one order: so a record has to be hidden that often. */
const wholeMin = 3;

/**
 * Plain readings of the whole list, by some page sizes if the service serves them. If two in a row agree, the list is proven; or if three
 * do not agree, but show one stable order.
 *
 * @param reason why windows do not prove it.
 */
export function* proveByAgreement(run: Reading, reason: string): Asking<Verdict> {
  const { largest, identity } = run.list;
  const sizes = [largest, ...otherSizes(largest, run.list.run)].slice(0, wholeMin);
  const results: PlainResult[] = [];
  const [first] = run.heard;
  // The first page was asked for already.
  const isFirst = first !== undefined && run.heard.length === 1;
  let again = first === undefined || isFirst ? null : reason;
  for (let sizeNo = 0; results.length < readingsMax; sizeNo++) {
    const size = run.hasOneSize ? largest : (sizes[sizeNo % sizes.length] as number);
    const isIgnored = run.hasOneSize && run.ignoresSizes && results.length % 2 === 1;
    const result = yield* readPlainly(run, size, {
      isSecondLook: false,
      again,
      sent: isIgnored ? run.ignoredSize(results.length) : null,
      known: results.length === 0 && isFirst ? [first] : [],
    });
    again = reason;
    if (result.kind === 'contradicted' && result.isSizeRefused && (isIgnored || size !== largest)) {
      // From here on all readings are by the largest size, at its own address.
      if (isIgnored) run.ignoresSizes = false;
      continue;
    }
    results.push(result);
    if (run.failed.length > 0) {
      yield* readAroundFailed(run);
      break;
    }
    if (doAgree(results, run)) {
      const repeated = result.kind === 'complete' ? result.repeated : [];
      return { rule: 'agreement', isProven: true, reason: null, repeated };
    }
    const whole = results.flatMap(each => (each.whole === null ? [] : [each.whole]));
    if (whole.length >= wholeMin && !run.hasOneSize && showStableOrder(whole, identity))
      return { rule: 'order', isProven: true, reason: null };
  }
  const now = results.at(-1) as PlainResult;
  const areAlike = results.slice(-2).every(each => each.kind === 'contradicted' && each.isAlike);
  const isPageNoIgnored = areAlike && results.every(({ kind }) => kind === 'contradicted');
  const isRepeated = now.kind === 'complete' && now.repeated.length > 0;
  const differ = isRepeated ? 'identical records are on two pages' : 'two readings differ';
  const why = now.kind === 'contradicted' ? now.reason : differ;
  return { rule: 'agreement', isProven: false, reason: `${reason}; ${why}`, isPageNoIgnored };
}

/**
 * Whether the last two readings agree. If a record is on two pages, an unstable order might show it twice and hide another one. Then
 * three have to agree, not all cut alike.
 */
function doAgree(results: readonly PlainResult[], { hasOneSize, failed }: Reading): boolean {
  const now = results.at(-1);
  if (now?.kind !== 'complete' || failed.length > 0 || !haveSame(results.at(-2), now)) return false;
  if (now.repeated.length === 0) return true;
  if (hasOneSize) return false; // guard: records on two pages
  return haveSame(results.at(-3), now);
}

/**
 * Whether whole readings show a list in a stable order that nobody sees. Each page then covers all places between its first and its
 * last record, as a window does, and pages that share records leave none out. A record on two pages of one reading links none: it might
 * be two that are the same. There are only as many of them as the total says that records came: if there are more, a record was moved,
 * and another one can be hidden.
 */
function showStableOrder(readings: readonly (readonly Answer[])[], identity: Identity): boolean {
  const contents = new ContentNumbers();
  const nameOf = ({ page }: Answer, at: number) =>
    identity === 'id' ? (page.keys[at] as number) : contents.numberOf(page.contents, at * contentBytes);
  const repeated = new Set<number>();
  const pages: number[][] = [];
  for (const answers of readings) {
    const before = new Set<number>();
    let [rises, again, total] = [0, 0, Number.POSITIVE_INFINITY];
    for (const answer of answers) {
      rises += Math.max(0, answer.total - total);
      total = answer.total;
      const page = Array.from(answer.page.keys, (_, at) => nameOf(answer, at));
      for (const name of page) {
        if (!before.has(name)) continue;
        repeated.add(name);
        again++;
      }
      for (const name of page) before.add(name);
      pages.push(page);
    }
    if (again > rises) return false; // guard: only new records shift others to the next page
  }
  const groups = new Groups(pages.length);
  const newest = new Map<number, number>();
  for (const [at, page] of pages.entries())
    for (const name of page) {
      const other = newest.get(name) ?? at;
      if (!repeated.has(name)) groups.join(other, at);
      newest.set(name, at);
    }
  return pages.every((_, at) => groups.of(at) === groups.of(0)); // guard: linked pages
}
