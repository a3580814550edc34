import { isAbsolute } from 'node:path';
import { checkToken, durationMs, wholeNumber } from '../config/resolve.ts';
import { instantMs } from '../contract/time.ts';
import { UsageError } from '../errors.ts';
import type { Io } from './io.ts';

/** How a flag or an argument is typed on the command line, and how its text becomes a value of type `T`. */
export interface Flag<T> {
  readonly help: string;
  /** The name of its value in the help. A flag without a value has none. */
  readonly valueName?: string;
  readonly default?: string;
  /** The only texts that it takes. */
  readonly choices?: readonly string[];
  /** True if it can be repeated. Then its values are collected. */
  readonly isRepeatable?: boolean;
  /** True if a second use is an error. For other flags the last one counts. */
  readonly isOnce?: boolean;
  readonly isRequired?: boolean;
  /** Flags that can't be used together with it. */
  readonly conflicts?: readonly `--${string}`[];
  /**
   * @param name the flag or argument as the user knows it, for messages.
   * @throws UsageError that names it.
   */
  read(given: unknown, name: string, io: Pick<Io, 'folder' | 'clock'>): T;
}

/** Flags or arguments, by the keys that their values have in `given`. The key `maxAge` is the flag `--max-age`. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;

/** The values of flags. */
export type ValuesOf<F extends Flags> = {
  readonly [Key in keyof F]: F[Key] extends Flag<infer T> ? T : never;
};

/** A flag without a value. */
export function yes(help: string, more: Partial<Flag<boolean>> = {}): Flag<boolean> {
  return { help, ...more, read: given => given === true };
}

/** A text as it was typed; null if it is left out. */
export function text(valueName: string, help: string, more: Partial<Flag<string>> = {}): Flag<string | null> {
  return { valueName, help, ...more, read: valued((given: string) => given) };
}

/** Texts, one for each time that the flag was given. */
export function texts(
  valueName: string,
  help: string,
  more: Partial<Flag<string>> = {},
): Flag<readonly string[]> {
  return { valueName, help, ...more, isRepeatable: true, read: listOf(given => given) };
}

/** A whole number between two bounds, both included; null if it is left out. */
export function number(
  valueName: string,
  help: string,
  [min, max]: readonly [number, number],
): Flag<number | null> {
  return { valueName, help, read: valued((given, name) => wholeNumber(name, given, min, max)) };
}

/** A length of time in milliseconds; null if it is left out. */
export function duration(help: string): Flag<number | null> {
  return { valueName: 'TIME', help, read: valued((given, name) => durationMs(name, given)) };
}

/** A point in time as docmirror records it, or so long before now; null if it is left out. */
export function moment(help: string, more: Partial<Flag<string>> = {}): Flag<string | null> {
  const read = valued((given, name, { clock }) => momentOf(name, given, clock().getTime()));
  return { valueName: 'TIME', help, ...more, read };
}

/** One of some words; null if it is left out. */
export function choice<const Word extends string>(
  choices: readonly Word[],
  valueName: string,
  help: string,
): Flag<Word | null> {
  // The parser has refused all others.
  return { valueName, help, choices, read: valued(given => given as Word) };
}

/** Some of some words; null if it is left out. */
export function choicesOf<const Word extends string>(
  choices: readonly Word[],
  valueName: string,
  help: string,
): Flag<readonly Word[] | null> {
  const read = (given: unknown) => (given === undefined ? null : (given as readonly Word[]));
  return { valueName, help, choices, isRepeatable: true, read };
}

/** A path; null if it is left out. */
export function file(help: string, more: Partial<Flag<string>> = {}): Flag<string | null> {
  return { valueName: 'FILE', help, ...more, read: valued(pathOf) };
}

/** Paths, one for each time that the flag was given. */
export function files(help: string): Flag<readonly string[]> {
  return { valueName: 'FILE', help, isRepeatable: true, read: listOf(pathOf) };
}

/** A token; null if it is left out. Messages never show it. */
export function token(help: string): Flag<string | null> {
  return { valueName: 'TOKEN', help, read: valued((given, name) => checkToken(name, given)) };
}

/** The same flag, which can't be left out. */
export function required<T>(flag: Flag<T>): Flag<NonNullable<T>> {
  return { ...(flag as Flag<NonNullable<T>>), isRequired: true };
}

/** The same flag, which has this text if it is left out. */
export function defaulting<T>(flag: Flag<T>, fallback: string): Flag<NonNullable<T>> {
  return { ...(flag as Flag<NonNullable<T>>), default: fallback };
}

/** A path, which goes by the folder. The process's own folder is left out, so that messages show the path as it was typed. */
export function pathIn(folder: string, path: string): string {
  // Joined and not resolved: where a folder on the way does not exist, the path leads nowhere.
  return folder === '' || path === '' || isAbsolute(path) ? path : `${folder}/${path}`;
}

/**
 * A point in time as docmirror records it; without a zone it is UTC.
 *
 * @throws UsageError that names the flag.
 */
export function instantOf(flag: string, text: string): string {
  const ms = instantMs(text.trim());
  if (ms !== null) return new Date(ms).toISOString();
  throw new UsageError(
    `${flag}: expected a date or time such as 2026-11-20 or 2026-11-20T18:00:00Z, got ${JSON.stringify(text)}`,
  );
}

/** True if a text is a length of time, for example `24h`, and no date. */
export function isLength(text: string): boolean {
  return /^\s*\d+(\.\d+)?\s*[a-z]/i.test(text);
}

/** A point in time as docmirror records it: one that is named, or so long before now. */
export function momentOf(flag: string, text: string, nowMs: number): string {
  if (!isLength(text)) return instantOf(flag, text);
  // Before the year 0 nothing was recorded.
  return new Date(Math.max(0, nowMs - durationMs(flag, text))).toISOString();
}

type Read<T> = (given: string, name: string, io: Pick<Io, 'folder' | 'clock'>) => T;

function valued<T>(read: Read<T>): Flag<T | null>['read'] {
  return (given, name, io) => (given === undefined ? null : read(String(given), name, io));
}

function listOf<T>(read: Read<T>): Flag<readonly T[]>['read'] {
  return (given, name, io) => [given ?? []].flat().map(each => read(String(each), name, io));
}

function pathOf(given: string, name: string, { folder }: Pick<Io, 'folder'>): string {
  if (given === '') throw new UsageError(`${name}: it is empty. Name a file.`);
  return pathIn(folder, given);
}
