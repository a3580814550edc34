import * as parse from './parse.ts';
import meanings from './settings.json' with { type: 'json' };

/** How a text is taken: a `path` goes by its file's folder, and around a `word` spaces do not count. A file's name can end with one. */
type Kind = 'path' | 'command' | 'secret' | 'word';

const anyText = (kind: Kind) => Object.assign((text: string) => parse.filledText(text), { kind });
const [path, commandText, secret] = [anyText('path'), anyText('command'), anyText('secret')];

type Variable = keyof typeof meanings;

/**
 * One setting. `usage` is its variable without `DOCMIRROR_`, by which its flag is named, too, the name of its value, which a flag without
 * one lacks, and behind `=` its default. `parse` throws an Error whose message completes "NAME: …". `settings.json` says what it means.
 */
function setting<T, const Usage extends `${Variable}${'' | `${' ' | '='}${string}`}`>(
  usage: Usage,
  parse: ((text: string) => T) & { readonly kind?: Kind },
) {
  const [, name = '', valueName = null, given = null] = /^(\w+)(?: (\w+))?(?:=(.*))?$/.exec(usage) ?? [];
  const fallback = given as Usage extends `${string}=${infer Text}` ? Text : null;
  // `--database` is always the mirror.
  const words = name.replace('CLICKHOUSE_DATABASE', 'TARGET_DATABASE').replace('CLICKHOUSE_', '');
  const flag = `--${words.toLowerCase().replaceAll('_', '-')}` as const;
  const kind: Kind = parse.kind ?? 'word';
  const help = meanings[name as Variable];
  return { variable: `DOCMIRROR_${name}` as const, flag, valueName, default: fallback, help, parse, kind };
}

/** All settings, in the order in which they are documented. Flags, help texts, checks and types are made from this table. */
export const settings = {
  baseUrl: setting('BASE_URL URL', parse.baseUrl),
  query: setting('QUERY QUERY', parse.requestQuery),
  allowHttp: setting('ALLOW_HTTP=false', parse.boolean),
  token: setting('TOKEN TOKEN', parse.token),
  tokenFile: setting('TOKEN_FILE FILE', path),
  tokenCommand: setting('TOKEN_COMMAND COMMAND', commandText),
  headersFile: setting('HEADERS_FILE FILE', path),
  clientCertFile: setting('CLIENT_CERT_FILE FILE', path),
  clientKeyFile: setting('CLIENT_KEY_FILE FILE', path),
  database: setting('DATABASE FILE=docmirror.sqlite', path),
  pageSize: setting('PAGE_SIZE N=auto', parse.pageSize),
  concurrency: setting('CONCURRENCY N=4', text => parse.wholeNumber(text, 1, 64)),
  timeoutMs: setting('TIMEOUT_MS MS=30000', text => parse.wholeNumber(text, 1, 3_600_000)),
  giveUpAfterMs: setting('GIVE_UP_AFTER TIME=10m', parse.timer),
  maxRequestsPerSecond: setting('MAX_REQUESTS_PER_SECOND N', text => parse.decimal(text, 0.001, 10_000)),
  deadlineMs: setting('DEADLINE TIME', parse.deadline),
  waitMs: setting('WAIT TIME=0', parse.timer),
  trigger: setting('TRIGGER NAME', parse.name),
  maxPages: setting('MAX_PAGES N=1000000', text => parse.wholeNumber(text, 1, 1_000_000_000)),
  fullEveryMs: setting('FULL_EVERY TIME=24h', parse.lengthOfTime),
  saveEveryMs: setting('SAVE_EVERY TIME=10m', parse.timer),
  maxRemovals: setting('MAX_REMOVALS SHARE=50%', parse.percentage),
  keepHistoryMs: setting('KEEP_HISTORY TIME=forever', parse.keepHistory),
  ignoreFields: setting('IGNORE_FIELDS FIELDS=', parse.ignoreFields),
  actor: setting('ACTOR NAME', parse.actor),
  signingKeyFile: setting('SIGNING_KEY_FILE FILE', path),
  share: setting('SHARE FILE', path),
  shareSql: setting('SHARE_SQL FILE', path),
  shareWithout: setting('SHARE_WITHOUT FIELDS=', parse.names),
  schedule: setting('SCHEDULE CRON=0 * * * *', parse.schedule),
  timezone: setting('TIMEZONE ZONE', parse.timezone),
  pingUrl: setting('PING_URL URL', parse.pingUrl),
  pingSuccessUrl: setting('PING_SUCCESS_URL URL', parse.pingUrl),
  pingFailureUrl: setting('PING_FAILURE_URL URL', parse.pingUrl),
  metricsFile: setting('METRICS_FILE FILE', path),
  labels: setting('LABELS LABELS=', parse.labelPairs),
  logLevel: setting('LOG_LEVEL LEVEL=info', parse.logLevel),
  clickhouseUrl: setting('CLICKHOUSE_URL URL', parse.baseUrl),
  clickhouseUser: setting('CLICKHOUSE_USER USER=default', parse.filledText),
  clickhousePassword: setting('CLICKHOUSE_PASSWORD PASSWORD', secret),
  clickhousePasswordFile: setting('CLICKHOUSE_PASSWORD_FILE FILE', path),
  clickhouseDatabase: setting('CLICKHOUSE_DATABASE NAME=docmirror', parse.filledText),
  tenant: setting('TENANT NAME', parse.name),
};

/** The name of a setting in the code. */
export type SettingName = keyof typeof settings;

/** Every setting, read and checked. A value can be null only if the table has no default. */
export type SettingValues = {
  readonly [Name in SettingName]:
    | ReturnType<(typeof settings)[Name]['parse']>
    | Extract<(typeof settings)[Name]['default'], null>;
};
