import { randomInt } from 'node:crypto';
import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type Environment, type Given, resolveOne } from '../config/resolve.ts';
import { DocmirrorError, exitCodes } from '../errors.ts';
import { explainSqliteError } from '../store/file/sqlite-errors.ts';

/** A stream that docmirror writes to. On a terminal it has a width, in characters. */
export type Output = Writable & { readonly columns?: number; readonly isTTY?: boolean; readonly fd?: number };

/** All that docmirror uses of the process that it runs in. */
export interface Io {
  readonly environment: Environment;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted with a `CancelledError` when docmirror is told to stop. A command that never asks for it is ended by the signal itself. */
  readonly signal: AbortSignal;
}

/** The settings of a command as they were typed, and the variables below them. */
export interface Settings {
  readonly environment: Environment;
  /** The variables that came from the file that `--env-file` names. */
  readonly inEnvFile: ReadonlySet<string>;
  readonly flags: Given;
}

/** The values of a mirror's labels, for the beginning of a line: `acme: `; empty if there are none, or they can't be read. */
export function whose({ flags, environment }: Settings): string {
  const values = Object.values(resolveOne('labels', flags, environment) ?? {});
  return values.length === 0 ? '' : `${values.join(', ')}: `;
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

/** The end of a command that failed; its message is for people. */
export type Failure = Pick<DocmirrorError, 'code' | 'message' | 'exitCode'>;

/** How an error ends a command. The code of a fault of docmirror itself is `internal`. */
export function failureOf(error: unknown): Failure {
  const explained = explainSqliteError(error, 'the mirror');
  if (explained instanceof DocmirrorError) return explained;
  const message = 'this is a fault of docmirror itself, please report it';
  return { code: 'internal', message, exitCode: exitCodes.failed };
}

/** The wait between two tries is random between these, in milliseconds, because many runs can wait for one. */
const againMs = { min: 200, max: 500 };

/** Opens something that needs the lock of the mirror. While another run has it, it tries again, for up to `waitMs`. */
export async function whenFree<T>(waitMs: number, signal: AbortSignal, take: () => T | Promise<T>) {
  for (const untilMs = performance.now() + waitMs; ; ) {
    try {
      return await take();
    } catch (error) {
      const leftMs = untilMs - performance.now();
      if (failureOf(error).code !== 'mirror_busy' || leftMs <= 0) throw error;
      const pauseMs = Math.min(leftMs, randomInt(againMs.min, againMs.max));
      await wait(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}
