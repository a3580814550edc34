import type { Scalar } from '../contract/lists.ts';

/** A run that has ended, however it ended. */
export interface EndedRun {
  readonly runId: number;
  /** ISO 8601, UTC, with milliseconds. */
  readonly startedAt: string;
}

/** One version of a record or a connection, as a row of the mirror has it. */
export interface SourceRow {
  readonly id: number;
  /** A value for each of the list's own columns, in the order of `PublishedTable.fields`. */
  readonly values: readonly (Scalar | readonly Scalar[])[];
  readonly firstSeenRunId: number;
  readonly changedRunId: number;
  readonly extra: string | null;
  /** The hash of the record's content, as 32 hexadecimal digits. */
  readonly content: string;
  /** True if the run removed the record: the row is then its last content. */
  readonly isRemoved: boolean;
}

/** One change, as the mirror's view `changes` has it. */
export interface SourceChange {
  readonly runId: number;
  readonly changedAt: string | null;
  readonly resource: string;
  readonly recordId: number;
  readonly operation: string;
  /** Null if it was erased. */
  readonly record: string | null;
}

/** How many rows a list has after a run, and the sum of their contents modulo 2^128, as 32 hexadecimal digits. */
export interface RowSum {
  readonly recordCount: number;
  readonly contentSum: string;
}

/**
 * A mirror as `publish` reads it: one state of it, even if a run writes meanwhile. `resource` is the service's own word for a list,
 * or `connections`. Later runs do not change the rows and changes of a run, so they can be sent again.
 */
export interface PublishSource extends Disposable {
  readonly mirrorId: string;
  /** The last run before the mirror was rebuilt, which dropped rows without a trace; 0 if it never was. */
  readonly lastRunBeforeRebuild: number;
  /** The oldest first. */
  runs(): readonly EndedRun[];
  /** About how many rows the later runs wrote and removed; for a progress bar. */
  rowCountSince(runId: number): number;
  /** The versions that a run wrote, and those that it removed, in any order. */
  rows(resource: string, runId: number): Iterable<SourceRow>;
  changes(runId: number): Iterable<SourceChange>;
  sumAfter(resource: string, runId: number): RowSum;
}
