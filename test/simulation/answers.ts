import { type Entry, hashOf, itemOf, tieOf } from './records.ts';
import type { ListName, ServiceScenario } from './scenario.ts';
import type { ServiceList } from './service-list.ts';

/** A request for a page; null leaves the parameter out. */
export interface Ask {
  readonly list: ListName;
  readonly pageNo: number | null;
  readonly pageSize: number | null;
}

/** An answer of the service to a request. */
export type Answer =
  | { readonly kind: 'page'; readonly body: string; readonly shown: Shown }
  | { readonly kind: 'missing' | 'refused' | 'down' | 'cut' };

/** The cut of a list that an answer shows, and its records. */
export interface Shown {
  readonly list: ListName;
  /** Records on a full page, as they were really cut. */
  readonly size: number;
  /** The place in the list at which the cut began. */
  readonly offset: number;
  readonly entries: readonly Entry[];
  /** True if it is the page that was asked for. */
  readonly isAsked: boolean;
  /** The version of the list that it shows. */
  readonly version: number;
}

/** How a service answers for one list. */
export interface Manner extends ServiceScenario {
  readonly ties: number;
  nameOf(connection: number): string | null;
  /** Another number for each answer. */
  readonly answerNo: number;
  /** The age of the list that the answer shows, in changes. */
  readonly lag: number;
}

/** The counts of a service that selects no rows and counts what it selects. */
const noCounts = { totalRecordCount: 0, pageCount: 0 };

/** After which page, from 0, no other is served. */
const lastServed = {
  heeded: Number.POSITIVE_INFINITY,
  ignored: 0,
  'ignored-lying': 0,
  clamped: 1,
  'clamped-lying': 1,
  capped: 2,
} satisfies Record<ServiceScenario['pageNo'], number>;

/** The answer to a request, as the list is now. */
export function answerTo(ask: Ask, list: ServiceList, manner: Manner): Answer {
  const cut = cutBy(ask.pageSize, manner);
  if (cut === null) return { kind: 'refused' };
  const { size } = cut;
  const { entries: all, version } = list.before(manner.lag);
  const { firstPageNo } = manner;
  const asked = ask.pageNo ?? firstPageNo;
  const last = firstPageNo + lastPage(all.length, size, manner);
  if (asked < firstPageNo) return { kind: 'missing' };
  const isBeyond = (manner.pageNo === 'heeded' || manner.pageNo === 'capped') && asked > last;
  if (isBeyond && manner.beyond === 'missing') return { kind: 'missing' };
  const served = isBeyond ? asked : Math.min(asked, firstPageNo + lastServed[manner.pageNo]);
  const pageNo = isBeyond && manner.beyond.startsWith('last') ? last : served;
  const offset = (pageNo - firstPageNo) * size;
  const isEmpty = isBeyond && !manner.beyond.startsWith('last');
  const entries = isEmpty ? [] : entriesAt(all, offset, size, manner.ties);
  const isLying = manner.pageNo.endsWith('-lying') || (isBeyond && manner.beyond === 'last-asked');
  const pagination = {
    ...(isBeyond && manner.beyond === 'zeroed' ? noCounts : countsOf(list, size, manner)),
    pageNo: isLying ? asked : pageNo,
    pageSize: cut.said,
  };
  const shown = { list: list.name, size, offset, entries, isAsked: pageNo === asked, version };
  return { kind: 'page', body: bodyOf(list.name, entries, pagination, manner), shown };
}

/** The number of the last page, from 0, beyond which there is none. */
function lastPage(count: number, size: number, { pageNo }: ServiceScenario): number {
  const last = Math.max(0, Math.ceil(count / size) - 1);
  return pageNo === 'capped' ? Math.min(last, lastServed.capped) : last;
}

/** The same answer without its records. */
export function hollow(answer: Answer): Answer {
  if (answer.kind !== 'page') return answer;
  const body = JSON.stringify({ ...JSON.parse(answer.body), items: [] });
  return { ...answer, body, shown: { ...answer.shown, entries: [] } };
}

/** The size by which the service cuts its pages, and the size that it states; null if it refuses the asked size. */
function cutBy(
  asked: number | null,
  { sizes, defaultSize, maxSize }: ServiceScenario,
): { size: number; said: number } | null {
  if (asked === null || sizes === 'ignored') return { size: defaultSize, said: defaultSize };
  if (sizes === 'ignored-silently') return { size: defaultSize, said: asked };
  if (sizes === 'stepped') {
    const steps = [maxSize, Math.ceil(maxSize / 2), Math.ceil(maxSize / 4)];
    const size = steps.find(step => step <= asked) ?? (steps.at(-1) as number);
    return { size, said: size };
  }
  if (asked <= maxSize || sizes === 'honoured') return { size: Math.max(1, asked), said: asked };
  if (sizes === 'refused') return null;
  return { size: maxSize, said: sizes === 'clamped' ? maxSize : asked };
}

function countsOf(list: ServiceList, size: number, { totals, pageCounts, pageNo, lag }: Manner) {
  const real = list.before(lag).entries.length;
  const late = list.before(lag + totals.by).entries.length;
  const stated = {
    right: real,
    capped: Math.min(real, totals.by),
    stale: late,
    off: Math.max(0, real + totals.by),
    served: Math.min(real, (lastServed[pageNo] + 1) * size),
  };
  const totalRecordCount = stated[totals.kind];
  const pageCount = Math.ceil((pageCounts === 'capped' ? totalRecordCount : real) / size);
  return { totalRecordCount, pageCount: pageCount + (pageCounts === 'too-high' ? 2 : 0) };
}

/**
 * One cut of the list. The order of neighbours that tie depends on the cut, as with LIMIT and OFFSET over an order that leaves ties
 * open. The same cut always shows the same, another one shows others.
 */
export function entriesAt(entries: readonly Entry[], offset: number, size: number, ties: number): Entry[] {
  if (ties <= 1) return entries.slice(offset, offset + size);
  const groupOf = ({ key }: Entry) => tieOf(key, ties);
  const ordered: Entry[] = [];
  for (let from = 0; from < entries.length; ) {
    const group = groupOf(entries[from] as Entry);
    let to = from;
    while (to < entries.length && groupOf(entries[to] as Entry) === group) to++;
    const rank = ({ uid }: Entry) => hashOf(offset, size, uid);
    ordered.push(...entries.slice(from, to).sort((a, b) => rank(a) - rank(b)));
    from = to;
  }
  return ordered.slice(offset, offset + size);
}

function bodyOf(list: ListName, entries: readonly Entry[], pagination: object, manner: Manner): string {
  const { restless, answerNo } = manner;
  const value = restless === 'nodes' ? hashOf(answerNo) % 2 : hashOf(answerNo);
  const further = restless === 'none' ? {} : { release: `r${value}` };
  const items = entries.map(entry => ({ ...itemOf(list, entry, manner.nameOf), ...further }));
  const noise = manner.noise ? { requestId: hashOf(manner.answerNo), took: manner.answerNo } : {};
  const body = manner.paginationFirst ? { pagination, ...noise, items } : { ...noise, items, pagination };
  return JSON.stringify(body);
}
