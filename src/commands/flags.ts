import * as parse from '../config/parse.ts';
import { keptResources, resourceNames } from '../contract/lists.ts';
import { instantMs } from '../contract/time.ts';

/** What the help says of a flag or an argument; its words are in `help.json`, unless several commands have it. */
export interface FlagHelp {
  readonly help: string;
  /** The name of its value. A flag without a value has none. */
  readonly valueName?: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  readonly isRepeatable?: boolean;
  readonly isRequired?: boolean;
  readonly conflicts?: readonly `--${string}`[];
}

/** A flag or an argument, and how the texts that were typed for it become a value of type `T`. */
export interface Flag<T> extends FlagHelp {
  /** Throws an Error whose message completes "NAME: …". */
  read(texts: readonly string[]): T;
}

/** Flags or arguments, by the keys that their values have in `given`. The key `maxAge` is the flag `--max-age`. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;

/** The values of flags. */
export type ValuesOf<F extends Flags> = {
  readonly [Key in keyof F]: F[Key] extends Flag<infer T> ? T : never;
};

/** A flag without a value. */
export const yes: Flag<boolean> = { help: '', read: texts => texts.length > 0 };

/** A text as it was typed, for example the path of a file; null if it is left out. It can't be empty. */
export function typed(valueName: string): Flag<string | null> {
  return parsed(valueName, parse.filledText);
}

/** A whole number between two bounds, both included; null if it is left out. */
export function numeral(valueName: string, [min, max]: readonly [number, number]) {
  return parsed(valueName, given => parse.wholeNumber(given, min, max));
}

/** The number of a run, from `min` on; null if it is left out. */
export function runNo(min = 1): Flag<number | null> {
  return numeral('N', [min, Number.MAX_SAFE_INTEGER]);
}

/** A length of time in milliseconds; null if it is left out. */
export const timeSpan = parsed('TIME', parse.lengthOfTime);

/** A point in time as docmirror records it, or so long before now; null if it is left out. */
export function moment(valueName = 'TIME'): Flag<string | null> {
  return parsed(valueName, given => momentOf(given, Date.now()));
}

/** One of some words; null if it is left out. */
export function option<const Word extends string>(choices: readonly Word[], valueName: string) {
  const flag = parsed(valueName, given => {
    const word = choices.find(each => each === given);
    if (word !== undefined) return word;
    throw new Error(`it can't be ${JSON.stringify(given)}. Expected one of ${choices.join(', ')}.`);
  });
  return { ...flag, choices };
}

/** A flag whose value is made from what was typed; null if it is left out. */
export function parsed<T>(valueName: string, parse: (given: string) => T): Flag<T | null> {
  return { valueName, help: '', read: ([given]) => (given === undefined ? null : parse(given)) };
}

/** The same flag, which can be repeated. */
export function repeated<T>(flag: Flag<T>): Flag<readonly NonNullable<T>[]> {
  const read = (texts: readonly string[]) => texts.map(each => flag.read([each]) as NonNullable<T>);
  return { ...flag, isRepeatable: true, read };
}

/** The same flag, which can't be left out. */
export function required<T>(flag: Flag<T>): Flag<NonNullable<T>> {
  return { ...flag, isRequired: true, read: texts => flag.read(texts) as NonNullable<T> };
}

/** The same flag, which has this text if it is left out. */
export function defaulting<T>(flag: Flag<T>, fallback: string): Flag<NonNullable<T>> {
  const read = ([text = fallback]: readonly string[]) => flag.read([text]) as NonNullable<T>;
  return { ...flag, default: fallback, read };
}

/** The same flag, which can't be used together with some others. */
export function conflicting<T>(flag: Flag<T>, ...conflicts: readonly `--${string}`[]): Flag<T> {
  return { ...flag, conflicts };
}

function some<const Word extends string>(words: readonly Word[], help: string): Flag<readonly Word[]> {
  const flag = repeated(option(words, 'NAME'));
  return {
    ...flag,
    help: `${help}; repeat it for more (${words.join(', ')})`,
    read: texts => (texts.length === 0 ? words : flag.read(texts)),
  };
}

/** One or, repeated, several of the lists. */
export const listFlag = some(resourceNames, 'only this list');

/** One or, repeated, several of the lists and connections. */
export const keptFlag = some(keptResources, 'only this');

/** The settings that almost every command has. */
export const mirrorSettings = ['database', 'labels', 'logLevel'] as const;

const ofAddress = ['baseUrl', 'query', 'allowHttp', 'token', 'tokenFile', 'tokenCommand'] as const;
const ofClient = ['headersFile', 'clientCertFile', 'clientKeyFile'] as const;
const ofRequests = ['pageSize', 'concurrency', 'timeoutMs', 'giveUpAfterMs', 'maxRequestsPerSecond'] as const;

/** The settings of commands that read the service. */
export const serviceSettings = [...ofAddress, ...ofClient, ...ofRequests, 'maxPages'] as const;

/** The settings of commands that send pings and write metrics when they end. */
export const notifierSettings = ['pingUrl', 'pingSuccessUrl', 'pingFailureUrl', 'metricsFile'] as const;

const ofLists = ['fullEveryMs', 'saveEveryMs', 'maxRemovals', 'keepHistoryMs', 'ignoreFields'] as const;
const ofRun = ['actor', 'deadlineMs', 'waitMs', 'trigger', 'share', 'shareSql', 'shareWithout'] as const;

/** The settings of commands that bring the mirror up to date. */
export const runSettings = [...serviceSettings, ...ofLists, ...ofRun, ...notifierSettings] as const;

/** True if a text is a length of time, for example `24h`, and no date. */
export function isLength(text: string): boolean {
  return /^\s*\d+(\.\d+)?\s*[a-z]/i.test(text);
}

/** A point in time as docmirror records it, in UTC if it has no zone, or so long before now. It throws an Error that completes "NAME: …". */
export function momentOf(text: string, nowMs: number): string {
  // Before the year 0 nothing was recorded.
  const ms = isLength(text) ? Math.max(0, nowMs - parse.lengthOfTime(text)) : instantMs(text.trim());
  if (ms !== null) return new Date(ms).toISOString();
  const expected = 'expected a date or time such as 2026-11-20 or 2026-11-20T18:00:00Z';
  throw new Error(`${expected}, got ${JSON.stringify(text)}`);
}
