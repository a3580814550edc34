// What a run and each of its lists are given, what a try at a list has found, and how a part of the work ends.

import type { ListDefinition, ResourceName } from '../contract/lists.ts';
import type { PageSource } from '../contract/page.ts';
import type { ListOutcome } from '../store/tables/run.ts';
import type { DeleteLimit } from '../store/write/apply.ts';
import type { ListContext, SqliteMirror } from '../store/write/mirror.ts';
import type { Stage } from '../store/write/stage.ts';
import type { Paging } from './pages.ts';

/** Called with the progress of a list in a run; for progress bars and logs. */
export interface ListObserver {
  listStarted(list: ListDefinition): void;
  readingStarted(list: ListDefinition, reading: number, pageCount: number): void;
  /** `done` are the records of this reading so far. They can be more than the total, because pages overlap. */
  pageDone(list: ListDefinition, page: Record<'pageNo' | 'pageCount' | 'done' | 'total', number>): void;
  readAgain(list: ListDefinition, reason: string): void;
  listEnded(list: ListDefinition, outcome: ListOutcome): void;
}

/** How to read each list, and how much of it can be removed. */
export interface ListOptions {
  /** The `pageSize` to ask for; null finds the largest that works. */
  readonly pageSize: number | null;
  readonly pagesMax: number;
  readonly deleteLimit: DeleteLimit;
  /** The most time between full syncs, in milliseconds; 0 makes every sync full. */
  readonly fullEveryMs: number;
  /** Whether a reading that ended early is not gone on with. */
  readonly isAfresh: boolean;
  /** A full reading by key pauses after so many milliseconds, so that what it has read is written; 0: never. */
  readonly saveEveryMs: number;
  /** For each list the names of fields beside the contract whose changes do not count, in order; none if it is left out. */
  readonly ignoreFields?: Readonly<Partial<Record<ResourceName, readonly string[]>>>;
}

/** What the lists of a run have in common. */
export interface RunWorld {
  readonly source: PageSource;
  readonly mirror: SqliteMirror;
  readonly clock: () => Date;
  readonly observer: ListObserver;
  /** Aborted with a `CancelledError` to end the run early. */
  readonly signal: AbortSignal;
}

/** One list's part of a run. */
export interface ListTask extends RunWorld, ListOptions {
  readonly list: ListDefinition;
}

/** A list that is read and written. */
export interface ListRun extends ListTask {
  readonly context: ListContext;
  /** When it was begun, in milliseconds since 1970, and the time now by a clock that nobody sets. */
  readonly begunAtMs: number;
  readonly nowMs: () => number;
}

/** What a try at a list has found by now. */
export interface ReadSoFar {
  readonly mode: 'full' | 'incremental';
  readonly paging: Paging;
  /** The newest total; null until a page came. */
  readonly total: number | null;
  /** How many readings were begun. */
  readonly readings: number;
  /** Takes the records that come. */
  readonly stage: Stage;
}

/** A part of the work on a list was done; `endedBy` is what ended its reading early, or null. */
export interface Done<Result> {
  readonly kind: 'done';
  readonly found: ReadSoFar;
  readonly result: Result;
  readonly endedBy: Error | null;
}

/** A list fails. What was found is null if no page came. */
export interface Failed {
  readonly kind: 'failed';
  readonly found: ReadSoFar | null;
  readonly error: unknown;
}

/** A reading ends itself, so that what it has read is written. */
export class Pause extends Error {}
