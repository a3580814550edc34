import type { ListDefinition } from '../contract/lists.ts';
import type { RemovalGuard } from '../proof/removal.ts';
import type { SqliteMirror } from '../store/write/mirror.ts';
import type { Clock, ListOutcome, PageSource } from './ports.ts';

/** Called with the progress of a list in a run; for progress bars and logs. */
export interface ListObserver {
  listStarted(list: ListDefinition): void;
  walkStarted(list: ListDefinition, walk: number, pageCount: number): void;
  pageDone(list: ListDefinition, pageNo: number, pageCount: number): void;
  walkAgain(list: ListDefinition, reason: string): void;
  listEnded(list: ListDefinition, outcome: ListOutcome): void;
}

/** The ports of a run: they are passed in, so that the run itself knows neither HTTP nor SQLite. */
export interface RunWorld {
  readonly source: PageSource;
  readonly mirror: SqliteMirror;
  readonly clock: Clock;
  readonly observer: ListObserver;
  /** Aborted with a `CancelledError` to end the run early. */
  readonly signal: AbortSignal;
}

/** How to read each list, and how much of it can be removed. */
export interface ListOptions {
  /** The `pageSize` to ask for; null finds the largest that works. */
  readonly pageSize: number | null;
  /** Most pages of one list. */
  readonly pagesMax: number;
  readonly removals: RemovalGuard;
  /** The most time between full syncs, in milliseconds; 0 makes every sync full. */
  readonly fullEveryMs: number;
}

/** One list's part of a run, with the run's ports. */
export interface ListTask extends RunWorld, ListOptions {
  readonly list: ListDefinition;
}
