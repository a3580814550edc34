import type { ListDefinition } from '../contract/lists.ts';
import type { RemovalGuard } from '../proof/removal-guard.ts';
import type { Clock, ListMirror, ListOutcome, Mirror, PageSource } from './ports.ts';

/** Told how a list's part of a run goes on; for progress bars and logs. */
export interface ListObserver {
  listStarted(list: ListDefinition): void;
  walkStarted(list: ListDefinition, walk: number, pageCount: number, pagesKnown: number): void;
  pageDone(list: ListDefinition, pageNo: number, pageCount: number): void;
  walkAgain(list: ListDefinition, reason: string): void;
  listEnded(list: ListDefinition, outcome: ListOutcome): void;
}

/** What a run works with: all of it is handed in, so that the run itself knows neither HTTP nor SQLite. */
export interface RunWorld {
  readonly source: PageSource;
  readonly mirror: Mirror;
  readonly clock: Clock;
  readonly observer: ListObserver;
  /** Aborted with a `CancelledError` to end the run early. */
  readonly signal: AbortSignal;
}

/** How each list is to be read, and how much of it may be removed. */
export interface ListOptions {
  /** What to ask for as `pageSize`; null finds the largest by itself. */
  readonly pageSize: number | null;
  /** Most pages of one list. */
  readonly pagesMax: number;
  readonly removals: RemovalGuard;
  /** Full sweeps are no further apart than this, in milliseconds; 0 makes every sweep full. */
  readonly fullEveryMs: number;
}

/** One list's part of a run, and the world it runs in. */
export interface ListTask extends RunWorld, ListOptions {
  readonly list: ListDefinition;
}

/** One list's part of a run, with the list's mirror open. */
export interface OpenList extends ListTask {
  readonly listMirror: ListMirror;
}
