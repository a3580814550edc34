import type { Writable } from 'node:stream';
import type { Environment } from '../config/resolve.ts';

/** A stream that docmirror writes to. On a terminal it has a width, in characters. */
export type Output = Writable & { readonly columns?: number; readonly isTTY?: boolean; readonly fd?: number };

/** All that docmirror uses of the process that it runs in. */
export interface Io {
  readonly environment: Environment;
  /** The folder that relative paths go by; empty for the working folder of the process. */
  readonly folder: string;
  /** The output for data. */
  readonly stdout: Output;
  /** The output for logs and progress. */
  readonly stderr: Output;
  /** Aborted with a `CancelledError` when docmirror is told to stop. */
  readonly signal: AbortSignal;
  readonly clock: () => Date;
}

/** The width of a terminal, in characters; infinite if there is none, or its width is unknown. */
export function widthOf({ columns }: Output): number {
  return columns || Number.POSITIVE_INFINITY;
}

const widthElsewhere = 120;

/** The width for changes. Without a terminal their lines are cut, too, because a record can be long. */
export function changesWidth(width: number): number {
  return Number.isFinite(width) ? width : widthElsewhere;
}

const summaryWidthMax = 76;

/** The width for summaries: on a terminal easy to read; elsewhere infinite, because broken lines are hard to search. */
export function summaryWidth(width: number): number {
  return Number.isFinite(width) ? Math.min(width, summaryWidthMax) : width;
}
