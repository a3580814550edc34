import { userInfo } from 'node:os';
import { UsageError } from '../errors.ts';
import { isLoopback, parseInteger, parseText, parseTime, parseToken } from './parse.ts';
import { type ProxySetting, safeProxyFor } from './proxy.ts';
import { type SettingName, type SettingValues, settings } from './settings.ts';

/** The flags that the command line gave, as text; a flag without a value is `true`. */
export type Flags = Readonly<Record<string, unknown>>;
/** The variables of the process, and of the file that `--env-file` names. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings from which a `ServiceConfig` is made. */
type ServiceSetting = 'baseUrl' | 'allowHttp' | 'token' | 'tokenFile' | 'tokenCommand';

/** What every command may ask for, complete and checked. */
export type Config = Readonly<Omit<SettingValues, ServiceSetting | 'actor'> & { actor: string }>;

/** Where the bearer token comes from; `from` says it in words that complete "the token came from". */
type TokenSetting = { readonly from: string } & (
  | { readonly text: string }
  | { readonly file: string }
  | { readonly command: string; readonly environment: Environment }
);

/** Where the service is and how to get in; asked for by the commands that need it. */
export interface ServiceConfig {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly token: TokenSetting;
  readonly proxy: ProxySetting | null;
  /** A file of certificate authorities that count besides Node's own; null where none is named. */
  readonly extraCaFile: string | null;
}

/**
 * Resolves the settings: flags over environment over defaults.
 *
 * @throws UsageError that names the setting.
 */
export function resolveConfig(flags: Flags, environment: Environment): Config {
  rejectUnknownVariables(environment);
  const { baseUrl, allowHttp, token, tokenFile, tokenCommand, ...values } = resolveAll(flags, environment);
  return Object.freeze({ ...values, actor: values.actor ?? userName() });
}

/**
 * Resolves where the service is.
 *
 * @param inEnvFile the variables that came from the file that `--env-file` names.
 * @throws UsageError that names the setting.
 */
export function resolveService(
  flags: Flags,
  environment: Environment,
  inEnvFile: ReadonlySet<string> = new Set(),
): ServiceConfig {
  const { baseUrl, allowHttp } = resolveAll(flags, environment);
  if (baseUrl === null) throw new UsageError('DOCMIRROR_BASE_URL is not set. Set it, or pass --base-url.');
  if (baseUrl.protocol === 'http:' && !allowHttp && !isLoopback(baseUrl.hostname)) {
    throw new UsageError(
      'DOCMIRROR_BASE_URL: http is for loopback addresses only, because it shows the token to the network. Use https, or set DOCMIRROR_ALLOW_HTTP=true.',
    );
  }
  const carried = 'the token for DOCMIRROR_BASE_URL';
  const proxy = safeProxyFor(baseUrl, environment, { allowHttp, carried });
  return Object.freeze({
    baseUrl: addressOf(baseUrl),
    token: tokenSetting(flags, environment, inEnvFile),
    proxy,
    extraCaFile: environment.NODE_EXTRA_CA_CERTS?.trim() || null,
  });
}

/** A base address as mirrors know it: without a slash at its end. */
export function addressOf(baseUrl: URL): string {
  return `${baseUrl.origin}${baseUrl.pathname.replace(/\/+$/, '')}`;
}

/** A flag goes before every variable; of several alike, the one that gives the freshest token counts. */
function tokenSetting(flags: Flags, environment: Environment, inEnvFile: ReadonlySet<string>): TokenSetting {
  for (const [given, variables] of [[flags, {}] as const, [{}, environment] as const]) {
    const fromOf = (name: SettingName): string => {
      const { flag, variable } = settings[name];
      if (given === flags) return `the flag ${flag}`;
      return `${variable} in ${inEnvFile.has(variable) ? flags.envFile : 'the environment'}`;
    };
    const command = resolve('tokenCommand', given, variables);
    if (command !== null) return { command, environment, from: fromOf('tokenCommand') };
    const file = resolve('tokenFile', given, variables);
    if (file !== null) return { file, from: fromOf('tokenFile') };
    const text = resolve('token', given, variables);
    if (text !== null) return { text, from: fromOf('token') };
  }
  throw new UsageError(
    'DOCMIRROR_TOKEN is not set. Set it, or DOCMIRROR_TOKEN_FILE, or DOCMIRROR_TOKEN_COMMAND.',
  );
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

/**
 * Reads a whole number from `min` to `max`.
 *
 * @throws UsageError that names the flag.
 */
export function wholeNumber(flag: string, text: string, min: number, max: number): number {
  return named(flag, () => parseInteger(text, min, max));
}

/** Reads and checks every setting: flags over environment over defaults. */
export function resolveAll(flags: Flags, environment: Environment): SettingValues {
  const names = Object.keys(settings) as SettingName[];
  return Object.fromEntries(names.map(name => [name, resolve(name, flags, environment)])) as SettingValues;
}

/** One setting, if it is set and can be used; null otherwise. */
export function resolveOne<Name extends SettingName>(
  name: Name,
  flags: Flags,
  environment: Environment,
): SettingValues[Name] | null {
  try {
    return resolve(name, flags, environment);
  } catch {
    return null;
  }
}

function resolve<Name extends SettingName>(
  name: Name,
  flags: Flags,
  environment: Environment,
): SettingValues[Name] {
  const { variable, flag, default: fallback, parse } = settings[name];
  const flagValue = flags[flagKey(flag)];
  const [from, text] =
    flagValue === undefined
      ? [variable, environment[variable]?.trim() || fallback]
      : // A path or a command is what the flag says, to the letter: a file's name may end with a space.
        [flag, parse === parseText ? String(flagValue) : String(flagValue).trim()];
  // What this parser makes is, by the table's types, what this setting's values are.
  return (text === null ? null : named(from, () => parse(text))) as SettingValues[Name];
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

/** The operating system's name of the user; in many containers it has none. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}

// Kubernetes sets such variables for a service that is named docmirror.
const setByKubernetes = /^DOCMIRROR_(SERVICE_(HOST|PORT)|PORT)(_|$)/;

/** @throws UsageError that names a variable of docmirror's which is no setting. */
export function rejectUnknownVariables(environment: Environment): void {
  const known = new Set<string>(Object.values(settings).map(({ variable }) => variable));
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('DOCMIRROR_') || known.has(name) || setByKubernetes.test(name)) continue;
    throw new UsageError(`${name} is not a setting of docmirror. "docmirror sync --help" lists them.`);
  }
}
