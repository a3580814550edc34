import { haveSame, type PlainResult, readPlainly } from './plain.ts';
import { otherSizes } from './plan.ts';
import { type Asking, type Reading, readAroundFailed, type Verdict } from './reading.ts';
import { showOneOrder } from './stable.ts';

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
    const isEnded = whole.some(answers => answers.some(({ page, size: full }) => page.count < full)); // guard: a page that ends the list
    const canBeOrder = whole.length >= wholeMin && isEnded && !run.hasOneSize;
    if (canBeOrder && showOneOrder(whole, identity)) return { rule: 'order', isProven: true, reason: null };
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
