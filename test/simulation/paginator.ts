import { type Entry, hashOf, tieOf } from './records.ts';

/** What a paginator asks its database first; the rows alone are one statement. */
export const firstStatements = ['rows', 'count', 'ids'] as const;

/** How what the token may not see is left out: before pages are cut; or of each page, and the total is of all, or of what is seen. */
export const trimmings = ['none', 'all', 'seen'] as const;

/**
 * The habits of real paginators: how a service makes the pages of its lists. All are honest but a page that is trimmed and a copy that
 * lags.
 */
export interface Paginator {
  /**
   * `count`: it counts, and then reads the rows of a page up to that count, as Django does. `ids`: it chooses the ids of a page, and then
   * reads the rows that have them, as TypeORM does.
   */
  readonly first: (typeof firstStatements)[number];
  /** In each `splits`th answer of a run, what changes then comes between the two statements. */
  readonly splits: number;
  /** Whether the total of a page that is neither full nor empty is the place where it ends: nothing is counted. */
  readonly deduces: boolean;
  /** So many records that would be alone on a last page are on the page before. */
  readonly orphans: number;
  readonly trims: (typeof trimmings)[number];
  /** Half of the answers are of a copy that lacks so many of the newest records; 0: there is none. */
  readonly lacks: number;
  /** Whether events and connections of a webhook come in another order in each answer. */
  readonly shuffles: boolean;
  /** Whether an export's instant is written in another zone in each answer. */
  readonly zones: boolean;
}

/** One statement for rows and total. */
export const plainPaginator: Paginator = {
  first: 'rows',
  splits: 1,
  deduces: false,
  orphans: 0,
  trims: 'none',
  lacks: 0,
  shuffles: false,
  zones: false,
};

/** What came up in an answer, to be counted: a habit that no answer shows tries nothing. */
export const habitKinds = [
  'a total that was deduced',
  'a row lost on its way',
  'a page cut at a count of before',
  'orphans',
  'a page that was trimmed',
  'a copy that lags',
  'a list being filled',
  'sets in another order',
  'instants in another zone',
] as const;
export type HabitKind = (typeof habitKinds)[number];

/** A list without its newest records. */
export function withoutNewest(entries: readonly Entry[], count: number): readonly Entry[] {
  if (count === 0) return entries;
  const newest = new Set(entries.toSorted((a, b) => b.key - a.key || b.uid - a.uid).slice(0, count));
  return entries.filter(entry => !newest.has(entry));
}

/** A list at the moments of the two statements; the same if nothing came between them, or if there is one statement. */
export interface Moments {
  readonly first: readonly Entry[];
  readonly second: readonly Entry[];
}

/** The rows of a page, and what it says of the list. */
export interface Cut {
  readonly entries: readonly Entry[];
  /** Records that the service counts, before it lies about them. */
  readonly total: number;
  readonly pageCount: number;
  readonly habits: readonly HabitKind[];
  /** Whether a record that was counted was pushed out of the page by one that came in front of it. */
  readonly hasPushedOut: boolean;
}

/** Makes pages of one size. */
export class Cutter {
  readonly #manner: Paginator & { readonly ties: number };
  readonly #moments: Moments;
  readonly #size: number;
  readonly #orphans: number;

  constructor(manner: Paginator & { readonly ties: number }, moments: Moments, size: number) {
    const listed = (entries: readonly Entry[]) =>
      manner.trims === 'none' ? entries.filter(({ isHidden }) => !isHidden) : entries;
    this.#manner = manner;
    this.#moments = { first: listed(moments.first), second: listed(moments.second) };
    this.#size = size;
    this.#orphans = Math.min(manner.orphans, size - 1);
  }

  /** How many pages there are by the first statement; an empty list has one if the paginator knows orphans. */
  get pages(): number {
    return this.#pagesOf(this.#moments.first.length);
  }

  /** A page beyond the last one. */
  get empty(): Cut {
    const { total, pages } = this;
    return { entries: [], total, pageCount: pages, habits: [], hasPushedOut: false };
  }

  /** Records that the service counts; none that the token may not see, if it says so. */
  get total(): number {
    const { first, trims } = this.#manner;
    const counted = first === 'count' ? this.#moments.first : this.#moments.second;
    return trims === 'seen' ? counted.filter(({ isHidden }) => !isHidden).length : counted.length;
  }

  /** The page that begins at a place. */
  at(offset: number): Cut {
    const { first, deduces, trims, ties } = this.#manner;
    const [before, now] = [this.#moments.first, this.#moments.second];
    const counted = first === 'count' ? before : now;
    const end = offset + this.#size;
    const isLast = this.#orphans > 0 && end + this.#orphans >= counted.length;
    const top = isLast ? counted.length : first === 'count' ? Math.min(end, counted.length) : end;
    const ordered = orderedFor(now, offset, this.#size, ties);
    const ids = new Set(
      orderedFor(before, offset, this.#size, ties)
        .slice(offset, end)
        .map(({ uid }) => uid),
    );
    const rows = first === 'ids' ? ordered.filter(({ uid }) => ids.has(uid)) : ordered.slice(offset, top);
    const entries = rows.filter(({ isHidden }) => !isHidden);
    const isDeduced = deduces && entries.length > 0 && entries.length < this.#size;
    const total = isDeduced ? offset + entries.length : this.total;
    const habits: readonly (HabitKind | false)[] = [
      isDeduced && 'a total that was deduced',
      first === 'ids' && rows.length < ids.size && 'a row lost on its way',
      top < Math.min(end, now.length) && 'a page cut at a count of before',
      entries.length > this.#size && 'orphans',
      entries.length < rows.length && 'a page that was trimmed',
    ];
    return {
      entries,
      total,
      // A service that trims its pages has cut them already.
      pageCount: this.#pagesOf(trims === 'none' ? total : counted.length),
      habits: habits.filter(kind => kind !== false),
      hasPushedOut: ordered.slice(top, end).some(({ uid }) => before.some(entry => entry.uid === uid)),
    };
  }

  #pagesOf(count: number): number {
    return this.#orphans > 0
      ? Math.ceil(Math.max(1, count - this.#orphans) / this.#size)
      : Math.ceil(count / this.#size);
  }
}

/**
 * The list as one cut of it shows it. The order of neighbours that tie depends on the cut, as with LIMIT and OFFSET over an order that
 * leaves ties open. The same cut always shows the same, another one shows others.
 */
function orderedFor(entries: readonly Entry[], offset: number, size: number, ties: number): readonly Entry[] {
  if (ties <= 1) return entries;
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
  return ordered;
}
