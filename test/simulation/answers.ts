import { type Cut, Cutter, type HabitKind, withoutNewest } from './paginator.ts';
import { type Entry, hashOf, itemOf } from './records.ts';
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
  readonly habits: readonly HabitKind[];
  /** Whether a record that was counted was pushed out of the page by one that came in front of it. */
  readonly hasPushedOut: boolean;
  /** The total that it states. */
  readonly total: number;
}

/** How a service answers for one list. */
export interface Manner extends ServiceScenario {
  readonly ties: number;
  nameOf(connection: number): string | null;
  /** Another number for each answer. */
  readonly answerNo: number;
  /** The age of the list that the answer shows, in changes. */
  readonly lag: number;
  /** How many changes came between the two statements of the answer. */
  readonly between: number;
  /** Whether the answer is of the copy that lacks records. */
  readonly isOfCopy: boolean;
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
  const { entries: now, version } = list.before(manner.lag);
  const { entries: before } = list.before(manner.lag + manner.between);
  const lacks = manner.isOfCopy ? manner.lacks : 0;
  const moments = { first: withoutNewest(before, lacks), second: withoutNewest(now, lacks) };
  const cutter = new Cutter(manner, moments, size);
  const { firstPageNo } = manner;
  const asked = ask.pageNo ?? firstPageNo;
  const last = firstPageNo + lastPage(cutter.pages, manner);
  if (asked < firstPageNo) return { kind: 'missing' };
  const isBeyond = (manner.pageNo === 'heeded' || manner.pageNo === 'capped') && asked > last;
  if (isBeyond && manner.beyond === 'missing') return { kind: 'missing' };
  const served = isBeyond ? asked : Math.min(asked, firstPageNo + lastServed[manner.pageNo]);
  const pageNo = isBeyond && manner.beyond.startsWith('last') ? last : served;
  const offset = (pageNo - firstPageNo) * size;
  const isEmpty = isBeyond && !manner.beyond.startsWith('last');
  const page = isEmpty ? cutter.empty : cutter.at(offset);
  const isLying = manner.pageNo.endsWith('-lying') || (isBeyond && manner.beyond === 'last-asked');
  const pagination = {
    ...(isBeyond && manner.beyond === 'zeroed' ? noCounts : countsOf(list, page, size, manner)),
    pageNo: isLying ? asked : pageNo,
    pageSize: cut.said,
  };
  const { entries, hasPushedOut } = page;
  const { items, habits: forms } = itemsOf(list.name, entries, manner);
  const lagging: readonly HabitKind[] = lacks > 0 ? ['a copy that lags'] : [];
  const habits = [...page.habits, ...forms, ...lagging];
  const shown = {
    list: list.name,
    size,
    offset,
    entries,
    isAsked: pageNo === asked,
    version,
    habits,
    hasPushedOut,
    total: pagination.totalRecordCount,
  };
  return { kind: 'page', body: bodyOf(items, pagination, manner), shown };
}

/** The number of the last page, from 0, beyond which there is none. */
function lastPage(pages: number, { pageNo }: ServiceScenario): number {
  const last = Math.max(0, pages - 1);
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

function countsOf(
  list: ServiceList,
  { total: real, pageCount: pages }: Cut,
  size: number,
  { totals, pageCounts, pageNo, lag }: Manner,
) {
  const late = list.before(lag + totals.by).entries.length;
  const stated = {
    right: real,
    capped: Math.min(real, totals.by),
    stale: late,
    off: Math.max(0, real + totals.by),
    served: Math.min(real, (lastServed[pageNo] + 1) * size),
  };
  const totalRecordCount = stated[totals.kind];
  const pageCount = pageCounts === 'capped' ? Math.ceil(totalRecordCount / size) : pages;
  return { totalRecordCount, pageCount: pageCount + (pageCounts === 'too-high' ? 2 : 0) };
}

/** The records of a page as the service sends them now. */
function itemsOf(list: ListName, entries: readonly Entry[], manner: Manner) {
  const { shuffles, zones, answerNo } = manner;
  const form = { shuffle: shuffles ? answerNo : null, zone: zones ? answerNo : null };
  const items = entries.map(entry => itemOf(list, entry, manner.nameOf, form));
  const habits: HabitKind[] = [];
  if (list === 'webhooks' && shuffles && items.length > 0) habits.push('sets in another order');
  if (list === 'document-exports' && zones && items.length > 0) habits.push('instants in another zone');
  return { items, habits };
}

function bodyOf(records: readonly object[], pagination: object, manner: Manner): string {
  const { restless, answerNo } = manner;
  const value = restless === 'nodes' ? hashOf(answerNo) % 2 : hashOf(answerNo);
  const further = restless === 'none' ? {} : { release: `r${value}` };
  const items = records.map(record => ({ ...record, ...further }));
  const noise = manner.noise ? { requestId: hashOf(manner.answerNo), took: manner.answerNo } : {};
  const body = manner.paginationFirst ? { pagination, ...noise, items } : { ...noise, items, pagination };
  return JSON.stringify(body);
}
