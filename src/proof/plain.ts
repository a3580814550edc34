import { contentBytes, Sum } from '../contract/sum.ts';
import { checkTotal } from './ends.ts';
import { ContentNumbers } from './numbers.ts';
import type { Asking, Reading, RepeatedRecord } from './reading.ts';
import { type Answer, beginOf, endOf, type Identity, type PageAddress } from './window.ts';

/** This many equal pages are enough to give up. */
const alikeMin = 3;
/** The most pages beyond the total that are asked for while each is full. */
export const pagesBeyondMax = 20;

/** The result of reading the whole list by pages of one size that do not overlap. */
export type PlainResult = {
  /** Its answers, if they go from the first page to one that ends the list, each by its own total; null if they do not. */
  readonly whole: readonly Answer[] | null;
} & (
  | {
      readonly kind: 'complete';
      readonly count: number;
      readonly sum: Sum;
      readonly repeated: readonly RepeatedRecord[];
    }
  | {
      readonly kind: 'contradicted';
      readonly reason: string;
      /** Whether all pages with records were the same, or not those that were asked for. */
      readonly isAlike: boolean;
      /** Whether the service does not serve pages of this size. */
      readonly isSizeRefused: boolean;
    }
);

/** How a plain reading is made. */
export interface PlainOptions {
  readonly isSecondLook: boolean;
  readonly again: string | null;
  /** A size that the service ignores, to be asked for in the place of the pages' own. */
  readonly sent?: number | null;
  /** Answers of this size that came before, from the first page on. */
  readonly known?: readonly Answer[];
}

/**
 * Reads the list from its first page to its last one, by pages of one size. It goes on if a total changes, so that every page is seen;
 * but not if the list moves by more than a page, or if an answer is wrong.
 */
export function* readPlainly(run: Reading, size: number, options: PlainOptions): Asking<PlainResult> {
  const { isSecondLook, sent = null } = options;
  const answers: Answer[] = [...(options.known ?? [])];
  const wrong: Answer[] = [];
  let { again } = options;
  const isFailed = ({ wrong: why }: Answer) => why === 'failed';
  const isFar = ({ total }: Answer) => {
    const moved = Math.abs(total - (answers[0]?.total ?? total));
    return moved > (run.hasOneSize ? 0 : size);
  };
  // A page that fails for good does not keep the others from being read.
  const isOver = (answer: Answer) => !isFailed(answer) && (answer.wrong !== null || isFar(answer));
  let next = answers.length;
  function* readTo(end: number): Asking<boolean> {
    const pages: PageAddress[] = [];
    for (; next < end; next++) pages.push({ index: next, size });
    const came = yield* run.ask(pages, { isSecondLook, again, sent, stop: isOver });
    again = null;
    answers.push(...came.filter(answer => answer.wrong === null));
    wrong.push(...came.filter(answer => answer.wrong !== null));
    return wrong.every(isFailed) && !answers.some(isFar);
  }

  let goesOn = answers.length > 0 || (yield* readTo(1));
  const count = Math.max(1, Math.ceil((answers[0]?.total ?? 0) / size));
  // A few pages show a service that ignores the page number.
  if (goesOn) goesOn = yield* readTo(Math.min(count, alikeMin));
  const isPointless = isAlike(answers) && answers.length >= alikeMin && !hasOneRecord(answers[0] as Answer);
  if (goesOn && !isPointless && answers.length > 0) {
    goesOn = yield* readTo(count);
    // If the last page was full, the list might go on, whatever its total says.
    const isFull = () => {
      const last = answers.reduce((a, b) => (b.index > a.index ? b : a));
      return last.page.count >= size && !isOldPage(last, answers);
    };
    while (isFull() && next < count + pagesBeyondMax && goesOn) goesOn = yield* readTo(next + 1);
  }

  answers.sort((a, b) => a.index - b.index);
  const contradiction =
    wrong.length > 0
      ? (wrong[0]?.reason ?? 'the service answered with another page than it was asked for')
      : isPointless
        ? 'each page has the same records'
        : contradictionIn(answers);
  const whole = wrong.length === 0 ? wholeOf(answers) : null;
  const repeated = contradiction ?? repeatsIn(answers, run.list.identity);
  if (typeof repeated !== 'string') {
    const sum = new Sum();
    for (const answer of answers) if (isInside(answer)) sum.addSum(answer.page.sum);
    return { kind: 'complete', whole, count: sum.count, sum, repeated };
  }
  return {
    kind: 'contradicted',
    whole,
    reason: repeated,
    isAlike: isAlike(answers) || wrong.some(answer => answer.wrong === 'page'),
    isSizeRefused: wrong.some(answer => answer.wrong === 'size'),
  };
}

/** Whether two readings have the same records, on whatever pages. */
export function haveSame(before: PlainResult | undefined, now: PlainResult | undefined): boolean {
  if (before?.kind !== 'complete' || now?.kind !== 'complete') return false;
  return before.count === now.count && before.sum.equals(now.sum); // guard: two readings agree
}

/** Whether all pages with records were the same: the service might ignore the page number. */
function isAlike(answers: readonly Answer[]): boolean {
  const full = answers.filter(({ page }) => page.count > 0);
  const digests = new Set(full.map(({ page }) => page.digest));
  return digests.size === 1 && full.length > 1 && full.every(({ page, size }) => page.count >= size);
}

/** A list of identical records has equal pages, too. */
function hasOneRecord({ page }: Answer): boolean {
  const head = Buffer.from(page.contents.subarray(0, contentBytes));
  for (let at = 1; at < page.count; at++)
    if (!head.equals(page.contents.subarray(at * contentBytes, (at + 1) * contentBytes))) return false;
  return true;
}

const isInside = (answer: Answer): boolean => beginOf(answer) < answer.total;

function contradictionIn(answers: readonly Answer[]): string | null {
  const totals = answers.filter(answer => isInside(answer) || answer.index === 0).map(({ total }) => total);
  const [least, most] = [Math.min(...totals), Math.max(...totals)];
  return least < most ? `totalRecordCount was ${least} and ${most} in one reading` : oddityIn(answers);
}

/** Why pages do not fit their own totals, or the end that they state. */
function oddityIn(answers: readonly Answer[]): string | null {
  const odd = answers.find(answer => isInside(answer) && checkTotal(answer) !== 'agrees');
  if (odd !== undefined)
    return `page ${odd.index + 1} has ${odd.page.count} records, which does not fit totalRecordCount ${odd.total}`;
  const isMore = answers.some(
    answer => !isInside(answer) && answer.page.count > 0 && !isOldPage(answer, answers),
  );
  return isMore ? 'a page beyond totalRecordCount has records' : null;
}

/** The pages up to the end, if all of them fit their own totals and the last one says that the list ends with it; null if not. */
function wholeOf(answers: readonly Answer[]): Answer[] | null {
  const inside = answers.filter(isInside);
  const last = inside.at(-1);
  const isEnd = last !== undefined && last.total === endOf(last);
  const isTwice = answers.some(({ page }) => page.isIdTwice);
  return isEnd && !isTwice && oddityIn(answers) === null ? inside : null;
}

/** Beyond the end some services send the last page, or the first one, once more. */
function isOldPage({ index, page }: Answer, answers: readonly Answer[]): boolean {
  return answers.some(other => other.index < index && other.page.sum.equals(page.sum));
}

/** The records that are on more than one page; or why the list contradicts itself, if an id is in it twice. */
function repeatsIn(answers: readonly Answer[], identity: Identity): RepeatedRecord[] | string {
  const ids = new Set<number>();
  const numbers = new ContentNumbers();
  const firstPages: number[] = [];
  const repeated = new Map<number, { content: Uint8Array; count: number; isOnTwo: boolean }>();
  for (const { index, page } of answers.filter(isInside)) {
    for (const [at, key] of page.keys.entries()) {
      if (identity === 'id' && !Number.isNaN(key)) {
        if (ids.has(key)) return `id ${key} is in the list twice`;
        ids.add(key);
        continue;
      }
      const before = numbers.count;
      const number = numbers.numberOf(page.contents, at * contentBytes);
      if (number === before) {
        firstPages.push(index);
        continue;
      }
      const content = page.contents.subarray(at * contentBytes, (at + 1) * contentBytes);
      const known = repeated.get(number) ?? { content, count: 1, isOnTwo: false };
      known.count++;
      known.isOnTwo ||= firstPages[number] !== index;
      repeated.set(number, known);
    }
  }
  return [...repeated.values()].filter(({ isOnTwo }) => isOnTwo);
}
