import * as parse from './parse.ts';

/** One setting: its environment variable, its flag, its default and its meaning. */
interface Setting<T, D extends string | null> {
  readonly variable: `DOCMIRROR_${string}`;
  readonly flag: `--${string}`;
  /** The name of its value in help texts; null for a flag without a value. */
  readonly valueName: string | null;
  readonly default: D;
  readonly help: string;
  /** @throws Error whose message completes "NAME: …". */
  readonly parse: (text: string) => T;
}

/** The flag is the variable in lower case, `--page-size` of `DOCMIRROR_PAGE_SIZE`, if it is left out. */
function setting<T, D extends string | null = null>(
  name: string,
  valueName: string | null,
  parser: (text: string) => T,
  more: { help: string; default?: D; flag?: `--${string}` },
): Setting<T, D> {
  return {
    variable: `DOCMIRROR_${name}`,
    flag: more.flag ?? `--${name.toLowerCase().replaceAll('_', '-')}`,
    valueName,
    default: (more.default ?? null) as D,
    help: more.help,
    parse: parser,
  };
}

/** All settings, in the order in which they are documented. Flags, help texts, checks and types are made from this table. */
export const settings = {
  baseUrl: setting('BASE_URL', 'URL', parse.baseUrl, {
    help: "the service's base address; https, or http for a loopback address only",
  }),
  allowHttp: setting('ALLOW_HTTP', null, parse.boolean, {
    default: 'false',
    help: 'allow http for any address; the token then crosses the network unencrypted',
  }),
  token: setting('TOKEN', 'TOKEN', parse.token, {
    help: 'the bearer token; better in the environment or in a file, because others can see flags',
  }),
  tokenFile: setting('TOKEN_FILE', 'FILE', parse.text, {
    help: 'a file that contains the bearer token, read again for each run; it overrides DOCMIRROR_TOKEN',
  }),
  tokenCommand: setting('TOKEN_COMMAND', 'COMMAND', parse.text, {
    help: 'a command that prints the bearer token, for tokens that expire; it runs for each run, and when the token has expired; it overrides the other two',
  }),
  database: setting('DATABASE', 'FILE', parse.text, {
    default: 'docmirror.sqlite',
    help: "the mirror's file",
  }),
  pageSize: setting('PAGE_SIZE', 'N', parse.pageSize, {
    default: 'auto',
    help: 'records a page: auto finds what the service allows, or a number',
  }),
  concurrency: setting('CONCURRENCY', 'N', text => parse.integer(text, 1, 64), {
    default: '4',
    help: 'most page requests at a time; fewer while the service says that it is too much',
  }),
  timeoutMs: setting('TIMEOUT_MS', 'MS', text => parse.integer(text, 1, 3_600_000), {
    default: '30000',
    help: 'one request, from start to last byte, in milliseconds',
  }),
  giveUpAfterMs: setting('GIVE_UP_AFTER', 'TIME', parse.timer, {
    default: '10m',
    help: 'how long to try again while the service answers nothing useful, all lists together; then each remaining list fails at once',
  }),
  maxRequestsPerSecond: setting('MAX_REQUESTS_PER_SECOND', 'N', text => parse.decimal(text, 0.001, 10_000), {
    help: 'requests are spaced out evenly, over all lists; a decimal number, for example 2.5',
  }),
  deadlineMs: setting('DEADLINE', 'TIME', parse.deadline, {
    help: 'a run that takes longer ends as a signal would end it, with exit code 1',
  }),
  waitMs: setting('WAIT', 'TIME', parse.timer, {
    default: '0',
    help: 'how long to wait for another run to end, before exit code 11',
  }),
  trigger: setting('TRIGGER', 'NAME', parse.name, {
    help: 'what started the run, for its record; a cron job or a timer sets it (default: manual, in watch schedule)',
  }),
  maxPages: setting('MAX_PAGES', 'N', text => parse.integer(text, 1, 1_000_000_000), {
    default: '1000000',
    help: 'most pages of one list; a service that states or sends more fails that list',
  }),
  fullEveryMs: setting('FULL_EVERY', 'TIME', parse.time, {
    default: '24h',
    help: 'the longest time between full syncs of a list; runs in between can be incremental; 0 makes every sync full',
  }),
  maxRemovals: setting('MAX_REMOVALS', 'SHARE', parse.share, {
    default: '50%',
    help: 'a run that would remove more than this share of a list (and more than 20 records) withholds the removals',
  }),
  keepHistoryMs: setting('KEEP_HISTORY', 'TIME', parse.keepHistory, {
    default: 'forever',
    help: 'each run deletes versions that ended longer than this before the last run began, for example 400d',
  }),
  actor: setting('ACTOR', 'NAME', parse.actor, {
    help: "who runs it, for the receipts; default: the operating system's user name",
  }),
  signingKeyFile: setting('SIGNING_KEY_FILE', 'FILE', parse.text, {
    help: 'the Ed25519 private key (PKCS #8, PEM) that signs checkpoints',
  }),
  share: setting('SHARE', 'FILE', parse.text, {
    help: 'a copy that everybody can read, made again after each run that changed something',
  }),
  shareSql: setting('SHARE_SQL', 'FILE', parse.text, {
    help: 'SQL statements that run on the share before it gets its place: views, indexes, tables, dropped columns',
  }),
  schedule: setting('SCHEDULE', 'CRON', parse.cron, {
    default: '0 * * * *',
    help: "watch's cron expression",
  }),
  timezone: setting('TIMEZONE', 'ZONE', parse.timezone, {
    default: 'UTC',
    help: "the time zone of watch's cron expression, and of the days of a report",
  }),
  pingUrl: setting('PING_URL', 'URL', parse.pingUrl, {
    help: "called at the start (/start), after success, and after failure (/fail), as healthchecks.io wants it; %c in it is the command's name",
  }),
  metricsFile: setting('METRICS_FILE', 'FILE', parse.text, {
    help: "after each run, the metrics, for node_exporter's textfile collector; backup writes NAME-backup.prom beside it, too",
  }),
  labels: setting('LABELS', 'LABELS', parse.labels, {
    default: '',
    help: 'for example tenant=acme,env=prod: part of every log line, metric and JSON object, and of the record of each run',
  }),
  logLevel: setting('LOG_LEVEL', 'LEVEL', parse.logLevel, {
    default: 'info',
    help: 'trace, debug, info, warn, error, fatal or silent',
  }),
  clickhouseUrl: setting('CLICKHOUSE_URL', 'URL', parse.baseUrl, {
    flag: '--url',
    help: "publish: the ClickHouse server's HTTP address; https, or http for a loopback address only",
  }),
  clickhouseUser: setting('CLICKHOUSE_USER', 'USER', parse.text, {
    default: 'default',
    flag: '--user',
    help: 'publish: the user of ClickHouse',
  }),
  clickhousePassword: setting('CLICKHOUSE_PASSWORD', 'PASSWORD', parse.text, {
    flag: '--password',
    help: 'publish: its password; better in the environment or in a file, because others can see flags',
  }),
  clickhousePasswordFile: setting('CLICKHOUSE_PASSWORD_FILE', 'FILE', parse.text, {
    flag: '--password-file',
    help: 'publish: a file that contains the password; it overrides DOCMIRROR_CLICKHOUSE_PASSWORD',
  }),
  clickhouseDatabase: setting('CLICKHOUSE_DATABASE', 'NAME', parse.text, {
    default: 'docmirror',
    flag: '--target-database',
    help: 'publish: the database in ClickHouse',
  }),
  tenant: setting('TENANT', 'NAME', parse.name, { help: 'publish: whose mirror this is' }),
};

/** The name of a setting in the code. */
export type SettingName = keyof typeof settings;

/** The value of a setting after it is read. It can be null only if the table has no default. */
type Value<S> = S extends Setting<infer T, infer D> ? (D extends string ? T : T | null) : never;

/** Every setting, read and checked. */
export type SettingValues = { readonly [Name in SettingName]: Value<(typeof settings)[Name]> };
