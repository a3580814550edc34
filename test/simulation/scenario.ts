import { type Paginator, plainPaginator } from './paginator.ts';

// A scenario is a plain record of JSON values, so that it can be written down, replayed and made smaller. Positions are taken
// modulo what there is, -1 being the last, so that each smaller scenario is one, too.

/** The three lists, by the service's own words. */
export const listNames = ['document-exports', 'collections', 'webhooks'] as const;
export type ListName = (typeof listNames)[number];

/** How a service deals with page sizes that it does not serve. */
export const sizeManners = [
  'honoured',
  'clamped',
  'clamped-silently',
  'refused',
  'ignored',
  'ignored-silently',
  'stepped',
] as const;

/** How it answers beyond the end. */
export const beyondManners = ['empty', 'zeroed', 'missing', 'last-own', 'last-asked'] as const;

export const pageNoManners = [
  'heeded',
  'ignored',
  'ignored-lying',
  'clamped',
  'clamped-lying',
  'capped',
] as const;

export const totalKinds = ['right', 'capped', 'stale', 'off', 'served'] as const;

export const orders = ['free', 'up', 'down'] as const;

/**
 * A field beside the contract that is not the same in each answer: `nodes` is one of two values, as if two releases of the service answered
 * by turns; `each` is another one each time, as a signed address is.
 */
export const restlessKinds = ['none', 'nodes', 'each'] as const;

/** How the service answers, in all its lists. */
export interface ServiceScenario extends Paginator {
  readonly firstPageNo: 0 | 1;
  /** The size of a page if the request names none. */
  readonly defaultSize: number;
  readonly maxSize: number;
  /**
   * How a page size above the largest is served. `ignored` means that any size is, and the default is always served. In silence, an
   * answer says that it has the size that was asked for. A `stepped` size is the largest, its half or its quarter.
   */
  readonly sizes: (typeof sizeManners)[number];
  /**
   * The answer to a page beyond the end; `zeroed` is an empty one that counts no records, `last-asked` the last page again, under the
   * number that was asked for.
   */
  readonly beyond: (typeof beyondManners)[number];
  /**
   * An ignored `pageNo` always serves the first page, a clamped one no page after the second; the answer says so, or claims to be
   * the page that was asked for. If it is capped, the list ends with the third page.
   */
  readonly pageNo: (typeof pageNoManners)[number];
  /** `by` is the cap, the lateness of the total in changes, or its error. `served` is the number of records on pages that are served. */
  readonly totals: { readonly kind: (typeof totalKinds)[number]; readonly by: number };
  /** `capped` follows the stated total, `right` the real one. */
  readonly pageCounts: 'right' | 'capped' | 'too-high';
  readonly restless: (typeof restlessKinds)[number];
  /** Something around `items` that changes in each answer. */
  readonly noise: boolean;
  readonly paginationFirst: boolean;
  /** A cache keeps the answers of each `nth` address for this many hours; one hour is between two runs. Null: there is none. */
  readonly cache: { readonly nth: number; readonly hours: number } | null;
  /** Half of the addresses are answered by a replica that is so many changes late; 0: there is none. */
  readonly replicaLag: number;
}

/** How a list changes by itself while it is read. */
export const trafficKinds = [
  'grow-front',
  'grow-back',
  'insert',
  'remove',
  'edit',
  'touch',
  'queue',
  'slide',
] as const;

/**
 * A change before each `every`th answer of a list: a record is
 *
 * - `grow-front`, `grow-back`: appended at that end
 * - `insert`, `remove`, `edit`: inserted, removed or edited at a drawn place
 * - `touch`: edited, and goes to the end, as in a list in the order of the last change
 * - `queue`: appended, and one of the older half is removed
 * - `slide`: appended, and the oldest is removed
 */
export interface Traffic {
  readonly kind: (typeof trafficKinds)[number];
  readonly every: number;
}

/** The state of one list when the first run begins, and how it goes on by itself. */
export interface ListScenario {
  readonly size: number;
  /** The record at `at` has the key of the one at `of`, and its text, too, if `text` is 0: a real duplicate. */
  readonly doubles: readonly { readonly at: number; readonly of: number; readonly text: number }[];
  /** Null if it does not change by itself. */
  readonly traffic: Traffic | null;
  /** Whether the list is always in the order of its ids or times, upwards or downwards. */
  readonly order: (typeof orders)[number];
  /**
   * How many neighbours tie in the service's order; 1: none do. In an ordered list they have the same time. The order in which they are
   * shown depends on the page's cut.
   */
  readonly ties: number;
  /** One of so many records the token may not see; 0: it sees all. */
  readonly hidden: number;
}

/**
 * The changes of a list. `at` is the record that changes, and `to`:
 *
 * - `insert`, `twin`, `return`, `move`: the place of a new record, a copy of it, a removed record or it itself. A list in order has its
 *   own place for each of them, and moves nothing
 * - `equalize`, `rekey`: the record whose content, or whose key alone, it gets
 * - `update`, `relink`: draws another text, or other connections
 * - `rename`: the name of the connection `at`
 * - `reword`: the name that the list gives the connection `at`: its own, none, or one of the list, in turn by `to`
 * - `reorder`: the whole list gets another order: turned round if `to` is even, otherwise one drawn by `to`
 * - `remove`, `break`: of no meaning; a broken record can't be kept by anyone
 */
export const changeKinds = [
  'insert',
  'remove',
  'update',
  'move',
  'twin',
  'return',
  'equalize',
  'rekey',
  'relink',
  'rename',
  'reword',
  'break',
  'reorder',
] as const;

/** What can become of one record, one after the other: `revert` takes an edit back, `renew` gives a removed record's identity to another text. */
export const recordChangeKinds = ['update', 'revert', 'remove', 'return', 'renew'] as const;

/** One change of a list. */
export interface Change {
  readonly list: ListName;
  readonly kind: (typeof changeKinds)[number] | (typeof recordChangeKinds)[number];
  readonly at: number;
  readonly to: number;
}

export const faultKinds = ['down', 'cut', 'gone', 'hollow'] as const;

/** A fault of one answer: an error, a body that is no page, a page that is denied, or a page without its records. */
export interface Fault {
  readonly request: number;
  readonly kind: (typeof faultKinds)[number];
}

/**
 * The early end of a run: at the nth request, reading of the clock, or event of the observer.
 *
 * - `kill`: the files stay as they are at that moment, as when the process dies; the next run finds them so.
 * - `throw`: the source of pages throws something that nobody foresaw.
 * - `signal`: the run is stopped.
 */
export interface Crash {
  readonly at: 'request' | 'clock' | 'event';
  readonly nth: number;
  readonly way: 'kill' | 'throw' | 'signal';
}

/** From the nth request of a run to its end, the service answers in another manner: it was set up again, or another one replaced it. */
export interface Shift {
  readonly request: number;
  readonly service: ServiceScenario;
}

export const tamperKinds = ['change', 'copy', 'delete', 'swap'] as const;

/** An alteration of a table of shortcuts before a run. Numbers are taken modulo what there is. */
export interface Tamper {
  readonly kind: (typeof tamperKinds)[number];
  readonly table: number;
  readonly row: number;
  readonly column: number;
}

export const meddleKinds = [
  'reword',
  'relink',
  'delete',
  'copy',
  'forge',
  'rename',
  'orphan',
  'curtail',
] as const;

/**
 * A change by another program to the records of a list, or to connections, before a run or during it. Numbers are taken modulo what
 * there is.
 *
 * - `reword`, `relink`: changed a text, or a connection's id
 * - `copy`: put the row there once more, under another id
 * - `forge`: put the content of the row `to` beside it, which does not match its columns
 * - `rename`, `orphan`: renamed the connection `row`, or took it away while records refer to it
 * - `curtail`: took the last of its events away, if it has any
 */
export interface Meddle {
  readonly list: ListName;
  readonly kind: (typeof meddleKinds)[number];
  readonly row: number;
  readonly to: number;
  /** At which request of the run it is done, counted from 1; 0: before the run. */
  readonly request: number;
}

/** One run, what happened before it, and what happens during it. */
export interface RunScenario {
  /** Lists that this run leaves out. If that is all of them, it leaves out none. */
  readonly skips: readonly ListName[];
  /** The `pageSize` that the run asks for; null leaves it to the run. */
  readonly pageSize: number | null;
  readonly concurrency: number;
  /** Draws the order in which requests are served and answers delivered; 0: one after the other, as they were asked. */
  readonly schedule: number;
  /** False if only full syncs are wanted. */
  readonly incremental: boolean;
  /** True if more than half of a list must not be removed. */
  readonly guarded: boolean;
  /** How much of the history is kept, in hours; one hour is between two runs. Null: all of it. */
  readonly keepHours: number | null;
  /**
   * How many tenths of its records a list has when the run begins, if it is being filled again meanwhile: one record is back before each
   * answer of it, the oldest first. Null: none is.
   */
  readonly refill: { readonly list: ListName; readonly tenths: number } | null;
  /** False if the service is truthful during this run, and no list grows by itself: pages, totals and orders are as they should be. */
  readonly lies: boolean;
  /** How many runs old the copy is that replaced the mirror before this run, as from a backup; 0: none did. */
  readonly rollback: number;
  readonly meddles: readonly Meddle[];
  readonly before: readonly Change[];
  readonly during: readonly { readonly request: number; readonly change: Change }[];
  readonly faults: readonly Fault[];
  readonly shift: Shift | null;
  readonly crash: Crash | null;
  readonly tampers: readonly Tamper[];
}

export interface Scenario {
  /** How many connections there are: each record refers to some of them. */
  readonly connections: number;
  /** The lists that the runs sync; the others are empty, and stay so. */
  readonly synced: readonly ListName[];
  readonly service: ServiceScenario;
  readonly lists: { readonly [name in ListName]: ListScenario };
  readonly runs: readonly RunScenario[];
}

/** A service that does nothing odd. */
export const plainService: ServiceScenario = {
  ...plainPaginator,
  firstPageNo: 1,
  defaultSize: 50,
  maxSize: 100,
  sizes: 'clamped',
  beyond: 'empty',
  pageNo: 'heeded',
  totals: { kind: 'right', by: 0 },
  pageCounts: 'right',
  restless: 'none',
  noise: false,
  paginationFirst: false,
  cache: null,
  replicaLag: 0,
};

/** A list without records. */
export const plainList: ListScenario = {
  size: 0,
  doubles: [],
  traffic: null,
  order: 'free',
  ties: 1,
  hidden: 0,
};

/** A full run during which nothing happens. */
export const plainRun: RunScenario = {
  skips: [],
  pageSize: null,
  concurrency: 1,
  schedule: 0,
  incremental: false,
  guarded: false,
  keepHours: null,
  refill: null,
  lies: true,
  rollback: 0,
  meddles: [],
  before: [],
  during: [],
  faults: [],
  shift: null,
  crash: null,
  tampers: [],
};
