import type { ListDefinition } from '../contract/lists.ts';
import type { RemovalGuard } from '../proof/removal-guard.ts';
import type { Clock, ListMirror, ListOutcome, Mirror, PageSource } from './ports.ts';

/** Told how a list's part of a run goes on; for progress bars and logs. */
export interface ListObserver {
  listStarted(list: ListDefinition): void;
  /** The mirror's rows are not what docmirror wrote: they are put right, and believed in nothing until then. */
  mirrorDoubted(list: ListDefinition, doubt: string): void;
  walkStarted(list: ListDefinition, walk: number, pageCount: number, pagesKnown: number): void;
  pageDone(list: ListDefinition, pageNo: number, pageCount: number): void;
  walkAgain(list: ListDefinition, reason: string): void;
  listEnded(list: ListDefinition, outcome: ListOutcome): void;
}

/** One list's part of a run, and the world it runs in. */
export interface ListTask {
  readonly list: ListDefinition;
  readonly source: PageSource;
  readonly mirror: Mirror;
  readonly clock: Clock;
  readonly observer: ListObserver;
  readonly signal: AbortSignal;
  /** What to ask for as `pageSize`; null finds the largest by itself. */
  readonly pageSize: number | null;
  /** Most pages of the list. */
  readonly pagesMax: number;
  readonly removals: RemovalGuard;
  /** Full sweeps are no further apart than this, in milliseconds; 0 makes every sweep full. */
  readonly fullEveryMs: number;
}

/** One list's part of a run, with the list's mirror open. */
export interface OpenList extends ListTask {
  readonly listMirror: ListMirror;
}
