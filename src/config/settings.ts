import * as parse from './parse.ts';

/** How a text is taken: a `path` goes by its file's folder, and around a `word` spaces do not count. A file's name can end with one. */
type Kind = 'path' | 'command' | 'secret' | 'word';

/** The parser of a kind that any text fits. */
const anyText = (kind: Kind) => Object.assign((text: string) => parse.text(text), { kind });
const [path, commandText, secret] = [anyText('path'), anyText('command'), anyText('secret')];

/**
 * One setting. `usage` is its variable without `DOCMIRROR_`, by which its flag is named, too, and the name of its value, which a flag
 * without one lacks. `parse` throws an Error whose message completes "NAME: …".
 */
function setting<T, D extends string | null = null>(
  usage: string,
  parse: ((text: string) => T) & { readonly kind?: Kind },
  [help, fallback = null as D]: readonly [help: string, fallback?: D],
) {
  const [name = '', valueName = null] = usage.split(' ');
  // `--database` is always the mirror.
  const words = name.replace('CLICKHOUSE_DATABASE', 'TARGET_DATABASE').replace('CLICKHOUSE_', '');
  const flag = `--${words.toLowerCase().replaceAll('_', '-')}` as const;
  const kind: Kind = parse.kind ?? 'word';
  return { variable: `DOCMIRROR_${name}` as const, flag, valueName, default: fallback, help, parse, kind };
}

/** All settings, in the order in which they are documented. Flags, help texts, checks and types are made from this table. */
export const settings = {
  baseUrl: setting('BASE_URL URL', parse.baseUrl, [
    "the service's base address; https, or http for a loopback address only",
  ]),
  allowHttp: setting('ALLOW_HTTP', parse.boolean, [
    'allow http for any address; the token then crosses the network unencrypted',
    'false',
  ]),
  token: setting('TOKEN TOKEN', parse.token, [
    'the bearer token; others can see flags, so use the environment or a file',
  ]),
  tokenFile: setting('TOKEN_FILE FILE', path, [
    'a file that contains the bearer token, read again for each run; it overrides DOCMIRROR_TOKEN',
  ]),
  tokenCommand: setting('TOKEN_COMMAND COMMAND', commandText, [
    'a command that prints the bearer token; it runs for each run, and when the token has expired; it overrides the other two',
  ]),
  database: setting('DATABASE FILE', path, ["the mirror's file", 'docmirror.sqlite']),
  pageSize: setting('PAGE_SIZE N', parse.pageSize, [
    'records a page: auto finds what the service allows, or a number',
    'auto',
  ]),
  concurrency: setting('CONCURRENCY N', text => parse.integer(text, 1, 64), [
    'most page requests at a time; fewer while the service says that it is too much',
    '4',
  ]),
  timeoutMs: setting('TIMEOUT_MS MS', text => parse.integer(text, 1, 3_600_000), [
    'one request, from start to last byte, in milliseconds',
    '30000',
  ]),
  giveUpAfterMs: setting('GIVE_UP_AFTER TIME', parse.timer, [
    'how long to try again while the service answers nothing useful, all lists together; then each remaining list gets one short try',
    '10m',
  ]),
  maxRequestsPerSecond: setting('MAX_REQUESTS_PER_SECOND N', text => parse.decimal(text, 0.001, 10_000), [
    'requests are spaced out evenly, over all lists; a decimal number, for example 2.5',
  ]),
  deadlineMs: setting('DEADLINE TIME', parse.deadline, [
    'a run that takes longer ends as a signal would end it, with exit code 1',
  ]),
  waitMs: setting('WAIT TIME', parse.timer, [
    'how long to wait for another run to end, before exit code 11',
    '0',
  ]),
  trigger: setting('TRIGGER NAME', parse.name, [
    'what started the run, for its record (default: manual, in watch schedule)',
  ]),
  maxPages: setting('MAX_PAGES N', text => parse.integer(text, 1, 1_000_000_000), [
    'most pages of one list; a service that states or sends more fails that list',
    '1000000',
  ]),
  fullEveryMs: setting('FULL_EVERY TIME', parse.time, [
    'the longest time between full syncs of a list; 0 makes every sync full',
    '24h',
  ]),
  saveEveryMs: setting('SAVE_EVERY TIME', parse.timer, [
    'a full reading in key order that takes longer writes what it has read, and goes on in a further run; 0: never',
    '10m',
  ]),
  maxRemovals: setting('MAX_REMOVALS SHARE', parse.share, [
    'a run that would remove more than this share of a list (and more than 20 records) withholds the removals',
    '50%',
  ]),
  keepHistoryMs: setting('KEEP_HISTORY TIME', parse.keepHistory, [
    'each run deletes versions that ended longer than this before the last run began, for example 400d',
    'forever',
  ]),
  ignoreFields: setting('IGNORE_FIELDS FIELDS', parse.ignoreFields, [
    'fields beside the contract whose changes do not count, for example webhooks.etag,webhooks.url; a version keeps the value that it came with',
    '',
  ]),
  actor: setting('ACTOR NAME', parse.actor, [
    "who runs it, for the receipts (default: the operating system's user)",
  ]),
  signingKeyFile: setting('SIGNING_KEY_FILE FILE', path, [
    'the Ed25519 private key (PKCS #8, PEM) that signs checkpoints',
  ]),
  share: setting('SHARE FILE', path, [
    'a copy that everybody can read, made again after each run that changed something',
  ]),
  shareSql: setting('SHARE_SQL FILE', path, [
    'SQL statements that run on the share before it gets its place: views, indexes, tables, dropped columns',
  ]),
  schedule: setting('SCHEDULE CRON', parse.schedule, ["watch's cron expression", '0 * * * *']),
  timezone: setting('TIMEZONE ZONE', parse.timezone, [
    "the time zone of watch's cron expression, and of the days of a report",
    'UTC',
  ]),
  pingUrl: setting('PING_URL URL', parse.pingUrl, [
    "called at the start (/start), after success, and after failure (/fail), as healthchecks.io wants it; %c in it is the command's name",
  ]),
  metricsFile: setting('METRICS_FILE FILE', path, [
    "after each run, the metrics, for node_exporter's textfile collector; backup writes NAME-backup.prom beside it, too",
  ]),
  labels: setting('LABELS LABELS', parse.labels, [
    'for example tenant=acme,env=prod: part of every log line, metric and JSON object, and of the record of each run',
    '',
  ]),
  logLevel: setting('LOG_LEVEL LEVEL', parse.logLevel, [
    'trace, debug, info, warn, error, fatal or silent',
    'info',
  ]),
  clickhouseUrl: setting('CLICKHOUSE_URL URL', parse.baseUrl, [
    "publish: the ClickHouse server's HTTP address; https, or http for a loopback address only",
  ]),
  clickhouseUser: setting('CLICKHOUSE_USER USER', parse.text, ['publish: the user of ClickHouse', 'default']),
  clickhousePassword: setting('CLICKHOUSE_PASSWORD PASSWORD', secret, [
    'publish: its password; others can see flags, so use the environment or a file',
  ]),
  clickhousePasswordFile: setting('CLICKHOUSE_PASSWORD_FILE FILE', path, [
    'publish: a file that contains the password; it overrides DOCMIRROR_CLICKHOUSE_PASSWORD',
  ]),
  clickhouseDatabase: setting('CLICKHOUSE_DATABASE NAME', parse.text, [
    'publish: the database in ClickHouse',
    'docmirror',
  ]),
  tenant: setting('TENANT NAME', parse.name, ['publish: whose mirror this is']),
};

/** The name of a setting in the code. */
export type SettingName = keyof typeof settings;

/** Every setting, read and checked. A value can be null only if the table has no default. */
export type SettingValues = {
  readonly [Name in SettingName]:
    | ReturnType<(typeof settings)[Name]['parse']>
    | Extract<(typeof settings)[Name]['default'], null>;
};
