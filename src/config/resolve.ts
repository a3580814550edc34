import { createPrivateKey, X509Certificate } from 'node:crypto';
import { userInfo } from 'node:os';
import { attempt, UsageError } from '../errors.ts';
import { safeProxyFor } from './proxy.ts';
import { type SettingName, type SettingValues, settings } from './settings.ts';
import { readSecretFile, readSmallFile } from './small-file.ts';

/** The settings that flags gave, as text, and the file that `--env-file` names. */
export type Given = Readonly<Partial<Record<SettingName | 'envFile', string>>>;
/** The variables of the process and of the file that `--env-file` names. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings that every command can use, complete and checked. */
export type Config = ReturnType<typeof resolveConfig>;

/** The address of the service and the login, for the commands that need them. */
export type ServiceConfig = ReturnType<typeof resolveService>;

/** The origin of the bearer token. `from` completes "the token came from". */
type TokenSetting = { readonly from: string } & (
  | { readonly text: string }
  | { readonly file: string }
  | { readonly command: string; readonly environment: Environment }
);

/** Resolves the settings: flags override the environment, which overrides the defaults. A UsageError names one that can't be used. */
export function resolveConfig(flags: Given, environment: Environment) {
  rejectUnknownVariables(environment);
  const values = resolveAll(flags, environment);
  // Many containers have no name of the user.
  return { ...values, actor: values.actor ?? attempt(() => userInfo().username) ?? 'unknown' };
}

/** Resolves the address of the service and the login; `inEnvFile` has the variables that came from the file of `--env-file`. */
export function resolveService(flags: Given, environment: Environment, inEnvFile?: ReadonlySet<string>) {
  const values = resolveAll(flags, environment);
  const { baseUrl, query, allowHttp, headersFile } = values;
  if (baseUrl === null) throw new UsageError('DOCMIRROR_BASE_URL is not set. Set it, or pass --base-url.');
  // The certificates are read here, because Node itself would go on without them.
  const caFile = environment.NODE_EXTRA_CA_CERTS?.trim();
  const extraCa = caFile ? readSmallFile('NODE_EXTRA_CA_CERTS: ', caFile) : null;
  if (extraCa?.includes('-----BEGIN CERTIFICATE-----') === false)
    throw new UsageError(`NODE_EXTRA_CA_CERTS: ${caFile} contains no certificate in PEM.`);
  return {
    baseUrl: addressOf(baseUrl),
    query,
    headersFile,
    clientCertificate: readClientCertificate(values.clientCertFile, values.clientKeyFile),
    proxy: safeProxyFor('DOCMIRROR_BASE_URL', baseUrl, environment, allowHttp),
    token: tokenSetting(flags, environment, inEnvFile),
    extraCa,
  };
}

/** A base address as mirrors record it: without a slash at its end. */
export function addressOf(baseUrl: URL): string {
  return `${baseUrl.origin}${baseUrl.pathname.replace(/\/+$/, '')}`;
}

const [certName, keyName] = ['DOCMIRROR_CLIENT_CERT_FILE', 'DOCMIRROR_CLIENT_KEY_FILE'];

/**
 * Reads the certificate by which docmirror shows the service who it is, and its key, in PEM; null if neither is set. `expiresAtMs` is in
 * milliseconds since 1970. Throws a UsageError if one is missing, can't be read, or does not fit the other.
 */
function readClientCertificate(certFile: string | null, keyFile: string | null) {
  if (certFile === null && keyFile === null) return null;
  if (certFile === null || keyFile === null)
    throw new UsageError(`${certName} and ${keyName} belong together. Set both, or neither.`);
  const [cert, key] = [readSmallFile(`${certName}: `, certFile), readSmallFile(`${keyName}: `, keyFile)];
  const first = attempt(() => new X509Certificate(cert));
  if (first === null) throw new UsageError(`${certName}: ${certFile} contains no certificate in PEM.`);
  const own = attempt(() => createPrivateKey(key));
  if (own === null)
    throw new UsageError(`${keyName}: ${keyFile} contains no private key in PEM without a passphrase.`);
  if (!first.checkPrivateKey(own))
    throw new UsageError(`${keyName}: ${keyFile} is not the key of ${certFile}.`);
  return { cert, key, expiresAtMs: Date.parse(first.validTo) };
}

/** A flag overrides every variable. If several are set, the one that gives the freshest token counts. */
function tokenSetting(flags: Given, environment: Environment, inEnvFile?: ReadonlySet<string>): TokenSetting {
  for (const [given, variables] of [[flags, {}] as const, [{}, environment] as const])
    for (const name of ['tokenCommand', 'tokenFile', 'token'] as const) {
      const value = resolve(name, given, variables);
      if (value === null) continue;
      const { flag, variable } = settings[name];
      const place = inEnvFile?.has(variable) ? flags.envFile : 'the environment';
      const from = given === flags ? `the flag ${flag}` : `${variable} in ${place}`;
      if (name === 'tokenCommand') return { command: value, environment, from };
      return name === 'tokenFile' ? { file: value, from } : { text: value, from };
    }
  throw new UsageError(
    'DOCMIRROR_TOKEN is not set. Set it, or DOCMIRROR_TOKEN_FILE, or DOCMIRROR_TOKEN_COMMAND.',
  );
}

/** Resolves the settings of `publish`: the target, its login, and the tenant. */
export function resolvePublish(flags: Given, environment: Environment) {
  const values = resolveAll(flags, environment);
  const { clickhouseUrl: url, clickhousePassword: password, tenant } = values;
  if (url === null) throw new UsageError('DOCMIRROR_CLICKHOUSE_URL is not set. Set it, or pass --url.');
  if (tenant === null) throw new UsageError('DOCMIRROR_TENANT is not set. Set it, or pass --tenant.');
  const from = 'DOCMIRROR_CLICKHOUSE_PASSWORD_FILE: ';
  const isTyped = flags.clickhousePassword !== undefined && flags.clickhousePasswordFile === undefined;
  const file = isTyped ? null : values.clickhousePasswordFile;
  const read = file && readSecretFile(from, file);
  return {
    url: addressOf(url),
    user: values.clickhouseUser,
    password: read?.replace(/\r?\n$/, '') ?? password ?? '',
    database: values.clickhouseDatabase,
    tenant,
    proxy: safeProxyFor('DOCMIRROR_CLICKHOUSE_URL', url, environment, values.allowHttp),
  };
}

/** Reads a text that did not come from the settings; if `parse` throws, a UsageError names where it came from. */
export function named<T>(from: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(`${from}: ${(error as Error).message}`);
  }
}

function resolveAll(flags: Given, environment: Environment): SettingValues {
  const names = Object.keys(settings) as SettingName[];
  return Object.fromEntries(names.map(name => [name, resolve(name, flags, environment)])) as SettingValues;
}

/** One setting, if it is set and can be used; null otherwise. */
export function resolveOne<Name extends SettingName>(name: Name, flags: Given, environment: Environment) {
  return attempt(() => resolve(name, flags, environment));
}

function resolve<Name extends SettingName>(name: Name, flags: Given, environment: Environment) {
  const { variable, flag, default: fallback, parse, kind } = settings[name];
  const typed = kind === 'word' ? flags[name]?.trim() : flags[name];
  // A password can end with a space, wherever it comes from.
  const given = kind === 'secret' ? environment[variable] : environment[variable]?.trim();
  const text = typed ?? (given || fallback);
  const from = typed === undefined ? variable : flag;
  // The compiler can't see that this parser returns the type of this setting.
  return (text === null ? null : named(from, () => parse(text))) as SettingValues[Name];
}

// Kubernetes sets variables like these for a service that is named docmirror.
const setByKubernetes = /^DOCMIRROR_(SERVICE_(HOST|PORT)|PORT)(_|$)/;

/** @throws UsageError that names a variable that begins with `DOCMIRROR_` and is no setting. */
export function rejectUnknownVariables(environment: Environment): void {
  const known = new Set<string>(Object.values(settings).map(({ variable }) => variable));
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('DOCMIRROR_') || known.has(name) || setByKubernetes.test(name)) continue;
    throw new UsageError(`${name} is not a setting of docmirror. "docmirror sync --help" lists them.`);
  }
}
