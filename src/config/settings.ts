import { isIP } from 'node:net';
import parseDuration from 'parse-duration';
import { UsageError } from '../errors.ts';

/** One setting: its environment variable, its flag, what it is when nothing is said, and what it is for. */
interface Setting<T> {
  readonly variable: `DOCMIRROR_${string}`;
  readonly flag: `--${string}`;
  /** How its value is called in help texts; null for a flag that stands alone. */
  readonly valueName: string | null;
  readonly default: string | null;
  readonly help: string;
  /** @throws Error whose message completes "NAME: …". */
  readonly parse: (text: string) => T;
}

const setting = <T>(definition: Setting<T>): Setting<T> => definition;

/** All settings, in the order in which they are documented. */
export const settings = {
  baseUrl: setting({
    variable: 'DOCMIRROR_BASE_URL',
    flag: '--base-url',
    valueName: 'URL',
    default: null,
    help: "the service's base address; https, or http for a loopback address only",
    parse: parseBaseUrl,
  }),
  allowHttp: setting({
    variable: 'DOCMIRROR_ALLOW_HTTP',
    flag: '--allow-http',
    valueName: null,
    default: 'false',
    help: 'allow http for any address; the token then crosses the network in the clear',
    parse: parseBoolean,
  }),
  token: setting({
    variable: 'DOCMIRROR_TOKEN',
    flag: '--token',
    valueName: 'TOKEN',
    default: null,
    help: 'the bearer token; better in the environment or in a file, for flags can be seen by others',
    parse: parseToken,
  }),
  tokenFile: setting({
    variable: 'DOCMIRROR_TOKEN_FILE',
    flag: '--token-file',
    valueName: 'FILE',
    default: null,
    help: 'a file that holds the bearer token, read anew for each run; it goes before DOCMIRROR_TOKEN',
    parse: parseText,
  }),
  database: setting({
    variable: 'DOCMIRROR_DATABASE',
    flag: '--database',
    valueName: 'FILE',
    default: 'docmirror.sqlite',
    help: "the mirror's file",
    parse: parseText,
  }),
  pageSize: setting({
    variable: 'DOCMIRROR_PAGE_SIZE',
    flag: '--page-size',
    valueName: 'N',
    default: 'auto',
    help: 'records a page: auto finds what the service allows, or a number',
    parse: text => (text === 'auto' ? null : parseInteger(text, 1, 100_000, 'auto or ')),
  }),
  concurrency: setting({
    variable: 'DOCMIRROR_CONCURRENCY',
    flag: '--concurrency',
    valueName: 'N',
    default: '4',
    help: 'most page requests in flight; fewer while the service says that it is too much',
    parse: text => parseInteger(text, 1, 64),
  }),
  timeoutMs: setting({
    variable: 'DOCMIRROR_TIMEOUT_MS',
    flag: '--timeout-ms',
    valueName: 'MS',
    default: '30000',
    help: 'one request, from start to last byte, in milliseconds',
    parse: text => parseInteger(text, 1, 3_600_000),
  }),
  retries: setting({
    variable: 'DOCMIRROR_RETRIES',
    flag: '--retries',
    valueName: 'N',
    default: '5',
    help: 'tries after the first, per page',
    parse: text => parseInteger(text, 0, 100),
  }),
  fullEveryMs: setting({
    variable: 'DOCMIRROR_FULL_EVERY',
    flag: '--full-every',
    valueName: 'TIME',
    default: '24h',
    help: 'a list may be synced incrementally between full sweeps no further apart than this; 0 makes every sweep full',
    parse: parseTime,
  }),
  maxRemovals: setting({
    variable: 'DOCMIRROR_MAX_REMOVALS',
    flag: '--max-removals',
    valueName: 'SHARE',
    default: '50%',
    help: 'a run that would remove more than this share of a list (and more than 20 records) withholds the removals',
    parse: parseShare,
  }),
  schedule: setting({
    variable: 'DOCMIRROR_SCHEDULE',
    flag: '--schedule',
    valueName: 'CRON',
    default: '0 * * * *',
    help: "watch's cron expression",
    parse: parseText,
  }),
  timezone: setting({
    variable: 'DOCMIRROR_TIMEZONE',
    flag: '--timezone',
    valueName: 'ZONE',
    default: 'UTC',
    help: "the time zone of watch's cron expression",
    parse: parseTimezone,
  }),
  logLevel: setting({
    variable: 'DOCMIRROR_LOG_LEVEL',
    flag: '--log-level',
    valueName: 'LEVEL',
    default: 'info',
    help: 'trace, debug, info, warn, error, fatal or silent',
    parse: parseLogLevel,
  }),
};

export type SettingName = keyof typeof settings;

type Parsed<T> = T extends Setting<infer Value> ? Value : never;
type Values = { readonly [Name in SettingName]: Parsed<(typeof settings)[Name]> | null };

/** The flags that the command line gave, as text; a flag without a value is `true`. */
export type Flags = Readonly<Record<string, unknown>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** What every command may ask for, complete and checked. */
export interface Config {
  readonly database: string;
  readonly pageSize: number | null;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly fullEveryMs: number;
  /** From 0 to 1. */
  readonly maxRemovals: number;
  readonly schedule: string;
  readonly timezone: string;
  readonly logLevel: string;
}

/** Where the service is and how to get in; asked for by the commands that need it. */
export interface ServiceConfig {
  readonly baseUrl: string;
  readonly token: { readonly text: string } | { readonly file: string };
}

/**
 * Resolves the settings: flags over environment over defaults.
 *
 * @throws UsageError that names the setting.
 */
export function resolveConfig(flags: Flags, environment: Environment): Config {
  rejectUnknownVariables(environment);
  const values = resolveAll(flags, environment);
  return Object.freeze({
    database: values.database as string,
    pageSize: values.pageSize,
    concurrency: values.concurrency as number,
    timeoutMs: values.timeoutMs as number,
    retries: values.retries as number,
    fullEveryMs: values.fullEveryMs as number,
    maxRemovals: values.maxRemovals as number,
    schedule: values.schedule as string,
    timezone: values.timezone as string,
    logLevel: values.logLevel as string,
  });
}

/**
 * Resolves where the service is.
 *
 * @throws UsageError that names the setting.
 */
export function resolveService(flags: Flags, environment: Environment): ServiceConfig {
  const { baseUrl, allowHttp, token, tokenFile } = resolveAll(flags, environment);
  if (baseUrl === null) throw new UsageError('DOCMIRROR_BASE_URL is not set. Set it, or pass --base-url.');
  if (baseUrl.protocol === 'http:' && !allowHttp && !isLoopback(baseUrl.hostname)) {
    throw new UsageError(
      'DOCMIRROR_BASE_URL: http is for loopback addresses only, for it shows the token to the network. Use https, or set DOCMIRROR_ALLOW_HTTP=true.',
    );
  }
  const address = `${baseUrl.origin}${baseUrl.pathname.replace(/\/+$/, '')}`;
  const isTokenFlag = flags.token !== undefined && flags.tokenFile === undefined;
  if (tokenFile !== null && !isTokenFlag)
    return Object.freeze({ baseUrl: address, token: { file: tokenFile } });
  if (token !== null) return Object.freeze({ baseUrl: address, token: { text: token } });
  throw new UsageError('DOCMIRROR_TOKEN is not set. Set it, or DOCMIRROR_TOKEN_FILE.');
}

/**
 * Checks a token that came from elsewhere than the settings, such as a file, and trims it.
 *
 * @throws UsageError that names where it came from and never shows the token.
 */
export function checkToken(from: string, text: string): string {
  return named(from, () => parseToken(text));
}

/**
 * Reads a length of time such as `26h`, in milliseconds.
 *
 * @throws UsageError that names the flag.
 */
export function durationMs(flag: string, text: string): number {
  return named(flag, () => parseTime(text));
}

/** @throws UsageError that names the flag. */
export function wholeNumber(flag: string, text: string, min: number, max: number): number {
  return named(flag, () => parseInteger(text, min, max));
}

function resolveAll(flags: Flags, environment: Environment): Values {
  const names = Object.keys(settings) as SettingName[];
  return Object.fromEntries(names.map(name => [name, resolve(name, flags, environment)])) as Values;
}

function resolve(name: SettingName, flags: Flags, environment: Environment): unknown {
  const { variable, flag, default: fallback, parse } = settings[name];
  const flagValue = flags[flagKey(flag)];
  if (flagValue !== undefined) return named(flag, () => parse(String(flagValue)));
  const text = environment[variable]?.trim() || fallback;
  return text === null ? null : named(variable, () => parse(text));
}

/** The name under which the argument parser hands a flag over: `--page-size` is `pageSize`. */
function flagKey(flag: string): string {
  return flag.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function named<T>(name: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message}`);
  }
}

// Kubernetes sets such variables for a service that is named docmirror.
const setByKubernetes = /^DOCMIRROR_(SERVICE_(HOST|PORT)|PORT)(_|$)/;

function rejectUnknownVariables(environment: Environment): void {
  const known = new Set<string>(Object.values(settings).map(({ variable }) => variable));
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('DOCMIRROR_') || known.has(name) || setByKubernetes.test(name)) continue;
    throw new UsageError(`${name} is no setting of docmirror. "docmirror sync --help" lists them.`);
  }
}

function parseBaseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new Error('not an address; expected something like https://service.example');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Error('the address must begin with https://');
  if (url.username !== '' || url.password !== '')
    throw new Error('the address must hold no user name or password');
  if (url.search !== '' || url.hash !== '') throw new Error('the address must end before any ? or #');
  return url;
}

function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || address === 'localhost' || address.endsWith('.localhost');
}

function parseBoolean(text: string): boolean {
  if (/^(true|1|yes|on)$/i.test(text)) return true;
  if (/^(false|0|no|off)$/i.test(text)) return false;
  throw new Error('expected true or false');
}

function parseToken(text: string): string {
  const token = text.trim();
  if (token === '') throw new Error('the token is empty');
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Error('the token holds characters that no HTTP header can carry');
  return token;
}

function parseText(text: string): string {
  if (text === '' || text.includes('\0')) throw new Error('it is empty or not a text');
  return text;
}

function parseInteger(text: string, min: number, max: number, alternative = ''): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new Error(
      `expected ${alternative}a whole number from ${min} to ${max}, got ${JSON.stringify(text)}`,
    );
  }
  return value;
}

function parseTime(text: string): number {
  const ms = /^\d+(\.\d+)?\s*(ms|s|m|h|d|w)$/.test(text) ? parseDuration(text) : text === '0' ? 0 : null;
  if (ms === null)
    throw new Error(`expected a time such as 90s, 30m, 24h or 7d, or 0, got ${JSON.stringify(text)}`);
  return ms;
}

function parseShare(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*%$/.exec(text);
  const share = match === null ? Number.NaN : Number(match[1]) / 100;
  if (!(share >= 0 && share <= 1))
    throw new Error(`expected a share from 0% to 100%, got ${JSON.stringify(text)}`);
  return share;
}

function parseTimezone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone && text;
  } catch {
    throw new Error(
      `there is no time zone ${JSON.stringify(text)}; expected a name such as Europe/Berlin or UTC`,
    );
  }
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

function parseLogLevel(text: string): string {
  if (!logLevels.includes(text))
    throw new Error(`expected one of ${logLevels.join(', ')}, got ${JSON.stringify(text)}`);
  return text;
}
