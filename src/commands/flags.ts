import * as parse from '../config/parse.ts';
import { named } from '../config/resolve.ts';
import type { SettingName } from '../config/settings.ts';
import { keptResources, resourceNames } from '../contract/lists.ts';
import { instantMs } from '../contract/time.ts';
import { UsageError } from '../errors.ts';

/** What the help says of a flag or an argument. */
export interface FlagHelp {
  readonly help: string;
  /** The name of its value. A flag without a value has none. */
  readonly valueName?: string;
  readonly default?: string;
  /** The only texts that it takes. */
  readonly choices?: readonly string[];
  /** True if it can be repeated. */
  readonly isRepeatable?: boolean;
  readonly isRequired?: boolean;
  /** Flags that can't be used together with it. */
  readonly conflicts?: readonly `--${string}`[];
}

/** A flag or an argument, and how the texts that were typed for it become a value of type `T`. */
export interface Flag<T> extends FlagHelp {
  /** Throws a UsageError that begins with the name, which is as the user knows it. */
  read(texts: readonly string[], name: string): T;
}

/** Flags or arguments, by the keys that their values have in `given`. The key `maxAge` is the flag `--max-age`. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;

/** The values of flags. */
export type ValuesOf<F extends Flags> = {
  readonly [Key in keyof F]: F[Key] extends Flag<infer T> ? T : never;
};

/** A flag without a value. */
export function yes(help: string): Flag<boolean> {
  return { help, read: texts => texts.length > 0 };
}

/** A text as it was typed, for example the path of a file; null if it is left out. It can't be empty. */
export function text(valueName: string, help: string): Flag<string | null> {
  return parsed(valueName, help, (given, name) => {
    if (given === '') throw new UsageError(`${name}: it is empty.`);
    return given;
  });
}

/** A whole number between two bounds, both included; null if it is left out. */
export function number(
  valueName: string,
  help: string,
  [min, max]: readonly [number, number],
): Flag<number | null> {
  return parsed(valueName, help, (given, name) => named(name, () => parse.integer(given, min, max)));
}

/** A length of time in milliseconds; null if it is left out. */
export function duration(help: string): Flag<number | null> {
  return parsed('TIME', help, (given, name) => named(name, () => parse.time(given)));
}

/** A point in time as docmirror records it, or so long before now; null if it is left out. */
export function moment(help: string, valueName = 'TIME'): Flag<string | null> {
  return parsed(valueName, help, (given, name) => momentOf(name, given, Date.now()));
}

/** One of some words; null if it is left out. */
export function choice<const Word extends string>(
  choices: readonly Word[],
  valueName: string,
  help: string,
): Flag<Word | null> {
  const flag = parsed(valueName, help, (given, name) => {
    const word = choices.find(each => each === given);
    if (word !== undefined) return word;
    throw new UsageError(`${name} can't be ${JSON.stringify(given)}. Expected one of ${choices.join(', ')}.`);
  });
  return { ...flag, choices };
}

/** The same flag, which can be repeated. */
export function repeated<T>(flag: Flag<T>): Flag<readonly NonNullable<T>[]> {
  const read = (texts: readonly string[], name: string) =>
    texts.map(each => flag.read([each], name) as NonNullable<T>);
  return { ...flag, isRepeatable: true, read };
}

/** The same flag, which can't be left out. */
export function required<T>(flag: Flag<T>): Flag<NonNullable<T>> {
  const read = (texts: readonly string[], name: string) => {
    if (texts.length === 0) throw new UsageError(`${name} is missing: ${flag.help}.`);
    return flag.read(texts, name) as NonNullable<T>;
  };
  return { ...flag, isRequired: true, read };
}

/** The same flag, which has this text if it is left out. */
export function defaulting<T>(flag: Flag<T>, fallback: string): Flag<NonNullable<T>> {
  const read = (texts: readonly string[], name: string) =>
    flag.read(texts.length === 0 ? [fallback] : texts, name) as NonNullable<T>;
  return { ...flag, default: fallback, read };
}

/** The same flag, which can't be used together with some others. */
export function conflicting<T>(flag: Flag<T>, ...conflicts: readonly `--${string}`[]): Flag<T> {
  return { ...flag, conflicts };
}

function parsed<T>(
  valueName: string,
  help: string,
  parse: (given: string, name: string) => T,
): Flag<T | null> {
  return { valueName, help, read: ([given], name) => (given === undefined ? null : parse(given, name)) };
}

/** Some of these words, all of them if it is left out. */
function some<const Word extends string>(words: readonly Word[], help: string): Flag<readonly Word[]> {
  const flag = repeated(choice(words, 'NAME', `${help}; repeat it for more (${words.join(', ')})`));
  return { ...flag, read: (texts, name) => flag.read(texts.length === 0 ? words : texts, name) };
}

/** One or, repeated, several of the lists. */
export const listFlag = some(resourceNames, 'only this list');

/** One or, repeated, several of the lists and connections. */
export const resourceFlag = some(keptResources, 'only this');

/** The settings that almost every command has. */
export const mirrorSettings = ['database', 'labels', 'logLevel'] as const satisfies readonly SettingName[];

/** The settings of commands that read the service. */
export const serviceSettings = [
  'baseUrl',
  'allowHttp',
  'token',
  'tokenFile',
  'tokenCommand',
  'pageSize',
  'concurrency',
  'timeoutMs',
  'giveUpAfterMs',
  'maxRequestsPerSecond',
  'maxPages',
] as const satisfies readonly SettingName[];

/** The settings of commands that send pings and write metrics when they end. */
export const notifierSettings = ['pingUrl', 'metricsFile'] as const satisfies readonly SettingName[];

/** The settings of commands that bring the mirror up to date. */
export const runSettings = [
  ...serviceSettings,
  'fullEveryMs',
  'maxRemovals',
  'keepHistoryMs',
  'actor',
  'deadlineMs',
  'waitMs',
  'trigger',
  'share',
  'shareSql',
  ...notifierSettings,
] as const satisfies readonly SettingName[];

/** A point in time as docmirror records it; without a zone it is UTC. */
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
  return new Date(Math.max(0, nowMs - named(flag, () => parse.time(text)))).toISOString();
}
