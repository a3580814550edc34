// Phase 5, full scans: several of them, until two or three show the same records, or three show one order.

import { greatestOf } from '../contract/extremes.ts';
import { type Answer, beginOf, inTime, isOfRun, type Shown } from './answers.ts';
import { DisjointSet, type Verdict } from './cover.ts';
import type { Finding } from './findings.ts';
import { type FullScan, scanFully } from './full-scan.ts';
import { type Direction, inOrder } from './keys.ts';
import type { AnswerLog } from './log.ts';
import { orderOf } from './order.ts';
import { areSameRecords, countsOf, type PageItems } from './page-items.ts';
import type { Asking } from './questions.ts';
import { totalsInTime } from './totals.ts';

/** Complete scans of which two in a row have to agree. */
const scansMax = 4;
/** Whole scans that have to show one order: so a record has to be hidden that often. */
const wholeMin = 3;

/** Full scans of the whole list, by several sizes: *Agreement* and *Order* in docs/proof.md. `findings` say why windows fail. */
export function* proveByAgreement(log: AnswerLog, findings: readonly Finding[]): Asking<Verdict> {
  const { largest, totalBefore } = log.list;
  const sizes = [largest, ...log.otherSizes].slice(0, wholeMin);
  const scans: FullScan[] = [];
  let isUnstable = false;
  // The first page was asked for already.
  const first = log.answers.length === 1 ? [...log.answers] : [];
  for (let sizeNo = 0; scans.length < scansMax; sizeNo++) {
    const again = sizeNo === 0 && log.answers.length <= 1 ? null : findings;
    const hasOtherAddresses = scans.length % 2 === 1;
    const size = log.hasOneSize ? largest : (sizes[sizeNo % sizes.length] as number);
    // The first scan goes to the end, whatever happens: everything that is listed is then seen.
    const isCut = scans.length > 0 && log.hasOneSize && keyOrderOf(log) === null;
    const known = sizeNo === 0 ? first : [];
    const scan = yield* scanFully(log, size, { again, hasOtherAddresses, isCut, known });
    // From here on all scans are by the largest size, at its own address.
    if (scan.isSizeRefused && (hasOtherAddresses || size !== largest)) continue;
    scans.push(scan);
    if (log.failed.length > 0) break;
    if (doAgree(scans, log.hasOneSize || sizes.length < wholeMin))
      return { rule: 'agreement', isProven: true, findings: [], repeated: mergedOf(scan) };
    isUnstable ||= isOrderUnstable(scans);
    // The first sync reads on, because each scan shows some of what the others skip.
    if (isUnstable && totalBefore !== null) break;
    if (log.hasOneSize && doAgreeToNewest(scans, log)) {
      const ends = scans.slice(-2);
      const isSeen = () => keyOrderOf(log)?.direction === 'up' || ends.some(each => isQuiet(each, log)); // guard: a last page of readings that was cut
      if (!isSeen()) yield* log.ask([{ index: 0, size: largest }]);
      if (isSeen()) return { rule: 'agreement', isProven: true, findings: [] };
    }
    const whole = scans.flatMap(({ pages, isWhole }) => (isWhole ? [pages] : []));
    if (whole.length >= wholeMin && !log.hasOneSize && showStableOrder(whole, log))
      return { rule: 'order', isProven: true, findings: [] };
  }
  const now = scans.at(-1) as FullScan;
  const isPageNoIgnored =
    scans.every(({ problem }) => problem !== null) && scans.slice(-2).every(({ isAlike }) => isAlike);
  const differ = now.repeated.count > 0 ? 'records_repeated' : 'changes_too_fast';
  const why = isUnstable ? { code: 'order_unstable' as const } : (now.problem ?? { code: differ });
  const others = findings.filter(({ code }) => code !== why.code);
  // An id that is twice in the list keeps the version of its row.
  const last = scans.findLast(({ isIdTwice, problem }) => isIdTwice || problem === null);
  const repeated = last?.isIdTwice ? { repeated: mergedOf(last) } : {};
  return { rule: 'agreement', isProven: false, findings: [...others, why], isPageNoIgnored, ...repeated };
}

const pagesOf = ({ pages }: Pick<FullScan, 'pages'>): PageItems[] => pages.map(({ page }) => page);

/** What is on several pages of a scan, as if its newest page had shown it. */
const mergedOf = ({ pages, repeated }: FullScan): Shown => ({
  asked: greatestOf(pages.map(({ asked }) => asked)),
  page: repeated,
});

/** Whether the last two scans agree; or three, if a record is on two pages, because an unstable order might then hide another one. */
function doAgree(scans: readonly FullScan[], hasFewSizes: boolean): boolean {
  const now = scans.at(-1) as FullScan;
  const isSame = (before: FullScan | undefined) =>
    before?.problem === null && now.problem === null && areSameRecords(pagesOf(before), pagesOf(now)); // guard: two readings agree
  if (now.repeated.count > 0 && (hasFewSizes || !isSame(scans.at(-3)))) return false; // guard: records on two pages
  return isSame(scans.at(-2));
}

/** Whether pages repeat some records and skip others: the last of two scans with one total shows a record less often. */
function isOrderUnstable(scans: readonly FullScan[]): boolean {
  const [before, now] = scans.slice(-2);
  if (before?.problem !== null || now?.problem !== null) return false;
  const countOf = (scan: FullScan) => scan.pages.reduce((sum, { page }) => sum + page.count, 0);
  if (countOf(before) !== countOf(now)) return false;
  const [one, other] = [before, now].map(scan => countsOf(pagesOf(scan)));
  const isRarer = (record: number) => (one?.get(record) ?? 0) > (other?.get(record) ?? 0);
  return [...before.repeated.records].some(isRarer);
}

/** The order of the list's keys, if all pages show one without exceptions. */
function keyOrderOf({ answers, list }: AnswerLog) {
  const order = orderOf(answers.filter(isOfRun), list.learnt);
  return order === null || order.lateness > 0 || order.outliers > 0 ? null : order;
}

/** Whether the last two scans agree in a list that grows at its newest keys: *If the service serves one page size* in docs/proof.md. */
function doAgreeToNewest(scans: readonly FullScan[], log: AnswerLog): boolean {
  const order = keyOrderOf(log);
  const [before, now] = scans.slice(-2);
  if (order === null || before === undefined || now === undefined || !before.isWhole || !now.isWhole)
    return false;
  const newest = greatestOf(before.pages.map(({ page }) => page.greatest));
  const [one, other] = [before, now].map(scan => inOneOrder(scan, order.direction, newest));
  if (one == null || other == null) return false;
  const twice = new Set<number>(before.repeated.records);
  const areDuplicates = log.list.identity === 'content' && now.repeated.records.some(each => twice.has(each)); // guard: duplicates of a list that grows
  const areSame = one.length === other.length && one.every((record, at) => record === other[at]); // guard: a list that grows
  // If a total fell, a copy that lags can still show the record that went, or it can have come back with another text.
  const totals = totalsInTime([...before.answers, ...now.answers]);
  const hasFallen = totals.some((total, at) => total < (totals[at - 1] ?? 0));
  return areSame && !areDuplicates && !hasFallen; // guard: totals of a list that grows
}

/** Whether nothing came in front of a list after the last page of a scan: cut at a count of before, it would lack the oldest record. */
function isQuiet({ pages }: FullScan, { answers }: AnswerLog): boolean {
  const last = pages.at(-1);
  const next = answers.find(({ asked }) => asked > (last?.arrived ?? 0));
  return last !== undefined && next !== undefined && next.total <= last.total;
}

/** The records with keys up to the newest, each page's once; null if keys are out of order, or fewer or more than the total. */
function inOneOrder({ pages }: FullScan, direction: Direction, newest: number) {
  const shownOn = new Map<number, Answer>();
  const upTo: number[] = [];
  let [last, count] = [Number.NEGATIVE_INFINITY, 0];
  for (const answer of pages)
    for (const [at, key] of answer.page.keys.entries()) {
      const record = answer.page.records[at] as number;
      const shown = shownOn.get(record) ?? answer;
      shownOn.set(record, shown);
      if (shown !== answer) continue;
      count++;
      if (inOrder(key, direction) < last) return null; // guard: pages follow each other
      last = inOrder(key, direction);
      if (key <= newest) upTo.push(record);
    }
  const listed = pages.at(direction === 'down' ? 0 : -1)?.total;
  if (count !== listed) return null; // guard: as many records as are listed
  return upTo.sort((a, b) => a - b);
}

/** Whether whole scans show one stable order: *Order* in docs/proof.md. A record that is on two pages of one scan links none. */
function showStableOrder(scans: readonly (readonly Answer[])[], { list }: AnswerLog): boolean {
  const repeated = new Set<number>();
  const pages: number[][] = [];
  for (const answers of scans) {
    const places = new Map<number, number>();
    const shifted = new Set<number>();
    let [rises, again, furthest, total] = [0, 0, 0, Number.POSITIVE_INFINITY];
    // A page can have been asked for once more.
    for (const answer of inTime(answers)) {
      rises += Math.max(0, answer.total - total);
      total = answer.total;
    }
    for (const answer of answers) {
      const begin = beginOf(answer);
      const page = [...answer.page.records];
      pages.push(page);
      for (const [at, number] of page.entries()) {
        const before = places.get(number) ?? begin + at;
        places.set(number, before);
        if (before >= begin) continue;
        shifted.add(number);
        again++;
        furthest = Math.max(furthest, begin + at - before);
      }
    }
    if (again > rises || furthest > rises) return false; // guard: only new records shift others to the next page
    for (const number of shifted) {
      if (list.identity === 'content' && repeated.has(number)) return false; // guard: a record is shifted in one reading
      repeated.add(number);
    }
  }
  const groups = new DisjointSet(pages.length);
  const newest = new Map<number, number>();
  for (const [at, page] of pages.entries())
    for (const number of page) {
      if (!repeated.has(number)) groups.join(newest.get(number) ?? at, at);
      newest.set(number, at);
    }
  return pages.every((_, at) => groups.of(at) === groups.of(0)); // guard: linked pages
}
