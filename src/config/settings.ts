import * as parse from './parse.ts';

/** How a text is taken: a `path` goes by its file's folder, and around a `word` spaces do not count. A file's name can end with one. */
type Kind = 'path' | 'command' | 'secret' | 'word';

const anyText = (kind: Kind) => Object.assign((text: string) => parse.filledText(text), { kind });
const [path, commandText, secret] = [anyText('path'), anyText('command'), anyText('secret')];

/**
 * One setting. `usage` is its variable without `DOCMIRROR_`, by which its flag is named, too, the name of its value, which a flag without
 * one lacks, and behind `=` its default. `parse` throws an Error whose message completes "NAME: …".
 */
function setting<T, const Usage extends string>(
  usage: Usage,
  parse: ((text: string) => T) & { readonly kind?: Kind },
  [help]: readonly [help: string],
) {
  const [, name = '', valueName = null, given = null] = /^(\w+)(?: (\w+))?(?:=(.*))?$/.exec(usage) ?? [];
  const fallback = given as Usage extends `${string}=${infer Text}` ? Text : null;
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
  query: setting('QUERY QUERY', parse.requestQuery, [
    'parameters that are added to each request, for example includeArchived=true; they are no secrets, and belong to the mirror as its address does',
  ]),
  allowHttp: setting('ALLOW_HTTP=false', parse.boolean, [
    'allow http for any address; the token then crosses the network unencrypted',
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
  headersFile: setting('HEADERS_FILE FILE', path, [
    'a file of lines Name: value: headers that each request to the service gets; values are secrets',
  ]),
  clientCertFile: setting('CLIENT_CERT_FILE FILE', path, [
    'the certificate (PEM) by which the service knows docmirror',
  ]),
  clientKeyFile: setting('CLIENT_KEY_FILE FILE', path, ['its private key (PEM, no passphrase)']),
  database: setting('DATABASE FILE=docmirror.sqlite', path, ["the mirror's file"]),
  pageSize: setting('PAGE_SIZE N=auto', parse.pageSize, [
    'records a page: auto finds what the service allows, or a number',
  ]),
  concurrency: setting('CONCURRENCY N=4', text => parse.wholeNumber(text, 1, 64), [
    'most page requests at a time; fewer while the service says that it is too much',
  ]),
  timeoutMs: setting('TIMEOUT_MS MS=30000', text => parse.wholeNumber(text, 1, 3_600_000), [
    'one request, from start to last byte, in milliseconds',
  ]),
  giveUpAfterMs: setting('GIVE_UP_AFTER TIME=10m', parse.timer, [
    'how long to try again while the service answers nothing useful, all lists together; then each remaining list gets one short try',
  ]),
  maxRequestsPerSecond: setting('MAX_REQUESTS_PER_SECOND N', text => parse.decimal(text, 0.001, 10_000), [
    'requests are spaced out evenly, over all lists; a decimal number, for example 2.5',
  ]),
  deadlineMs: setting('DEADLINE TIME', parse.deadline, [
    'a run that takes longer ends as a signal would end it, with exit code 1',
  ]),
  waitMs: setting('WAIT TIME=0', parse.timer, [
    'how long to wait for another run to end, before exit code 11',
  ]),
  trigger: setting('TRIGGER NAME', parse.name, [
    'what started the run, for its record (default: manual, in watch schedule)',
  ]),
  maxPages: setting('MAX_PAGES N=1000000', text => parse.wholeNumber(text, 1, 1_000_000_000), [
    'most pages of one list; a service that states or sends more fails that list',
  ]),
  fullEveryMs: setting('FULL_EVERY TIME=24h', parse.lengthOfTime, [
    'the longest time between full syncs of a list; 0 makes every sync full',
  ]),
  saveEveryMs: setting('SAVE_EVERY TIME=10m', parse.timer, [
    'a full reading in key order that takes longer writes what it has read, and goes on in a further run; 0: never',
  ]),
  maxRemovals: setting('MAX_REMOVALS SHARE=50%', parse.percentage, [
    'a run that would remove more than this share of a list (and more than 20 records) withholds the removals',
  ]),
  keepHistoryMs: setting('KEEP_HISTORY TIME=forever', parse.keepHistory, [
    'each run deletes versions that ended, and rejected records that were settled, longer than this before the last run began, for example 400d',
  ]),
  ignoreFields: setting('IGNORE_FIELDS FIELDS=', parse.ignoreFields, [
    'fields beside the contract whose changes do not count, for example webhooks.etag,webhooks.url; a version keeps the value that it came with',
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
  shareWithout: setting('SHARE_WITHOUT FIELDS=', parse.names, [
    'fields that the share lacks, for example sourceDocumentTitle, webhooks.description; history: the versions that ended',
  ]),
  schedule: setting('SCHEDULE CRON=0 * * * *', parse.schedule, ["watch's cron expression"]),
  timezone: setting('TIMEZONE ZONE', parse.timezone, [
    "the time zone of watch's cron expression, and of the days of a report (default: in watch TZ, if it names a zone; else UTC)",
  ]),
  pingUrl: setting('PING_URL URL', parse.pingUrl, [
    "called at the start (/start), after success, and after failure (/fail), as healthchecks.io wants it; %c in it is the command's name",
  ]),
  pingSuccessUrl: setting('PING_SUCCESS_URL URL', parse.pingUrl, [
    'asked by GET as it is after success, for monitors without /start and /fail',
  ]),
  pingFailureUrl: setting('PING_FAILURE_URL URL', parse.pingUrl, ['the same after failure']),
  metricsFile: setting('METRICS_FILE FILE', path, [
    "after each run, the metrics, for node_exporter's textfile collector; backup writes NAME-backup.prom beside it, too",
  ]),
  labels: setting('LABELS LABELS=', parse.labelPairs, [
    'for example tenant=acme,env=prod: part of every log line, metric and JSON object, and of the record of each run',
  ]),
  logLevel: setting('LOG_LEVEL LEVEL=info', parse.logLevel, [
    'trace, debug, info, warn, error, fatal or silent',
  ]),
  clickhouseUrl: setting('CLICKHOUSE_URL URL', parse.baseUrl, [
    "publish: the ClickHouse server's HTTP address; https, or http for a loopback address only",
  ]),
  clickhouseUser: setting('CLICKHOUSE_USER USER=default', parse.filledText, [
    'publish: the user of ClickHouse',
  ]),
  clickhousePassword: setting('CLICKHOUSE_PASSWORD PASSWORD', secret, [
    'publish: its password; others can see flags, so use the environment or a file',
  ]),
  clickhousePasswordFile: setting('CLICKHOUSE_PASSWORD_FILE FILE', path, [
    'publish: a file that contains the password; it overrides DOCMIRROR_CLICKHOUSE_PASSWORD',
  ]),
  clickhouseDatabase: setting('CLICKHOUSE_DATABASE NAME=docmirror', parse.filledText, [
    'publish: the database in ClickHouse',
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
