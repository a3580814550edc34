import {
  parseActor,
  parseBaseUrl,
  parseBoolean,
  parseDeadline,
  parseDecimal,
  parseInteger,
  parseKeepHistory,
  parseLabels,
  parseLogLevel,
  parseName,
  parsePingUrl,
  parseSchedule,
  parseShare,
  parseText,
  parseTime,
  parseTimer,
  parseTimezone,
  parseToken,
} from './parse.ts';

/** One setting: its environment variable, its flag, its default and its meaning. */
interface Setting<T, D extends string | null> {
  readonly variable: `DOCMIRROR_${string}`;
  readonly flag: `--${string}`;
  /** The name of its value in help texts; null for a flag without a value. */
  readonly valueName: string | null;
  readonly default: D;
  readonly help: string;
  /** True if a second use of its flag is an error, because the flag names the object of the command. For other flags the last one counts. */
  readonly isOnce?: true;
  /** @throws Error whose message completes "NAME: …". */
  readonly parse: (text: string) => T;
}

const setting = <T, D extends string | null>(definition: Setting<T, D>): Setting<T, D> => definition;

/** All settings, in the order in which they are documented. Flags, help texts, checks and types are made from this table. */
export const settings = {
  baseUrl: setting({
    variable: 'DOCMIRROR_BASE_URL',
    flag: '--base-url',
    valueName: 'URL',
    default: null,
    help: "the service's base address; https, or http for a loopback address only",
    isOnce: true,
    parse: parseBaseUrl,
  }),
  allowHttp: setting({
    variable: 'DOCMIRROR_ALLOW_HTTP',
    flag: '--allow-http',
    valueName: null,
    default: 'false',
    help: 'allow http for any address; the token then crosses the network unencrypted',
    parse: parseBoolean,
  }),
  token: setting({
    variable: 'DOCMIRROR_TOKEN',
    flag: '--token',
    valueName: 'TOKEN',
    default: null,
    help: 'the bearer token; better in the environment or in a file, because others can see flags',
    parse: parseToken,
  }),
  tokenFile: setting({
    variable: 'DOCMIRROR_TOKEN_FILE',
    flag: '--token-file',
    valueName: 'FILE',
    default: null,
    help: 'a file that contains the bearer token, read again for each run; it overrides DOCMIRROR_TOKEN',
    parse: parseText,
  }),
  tokenCommand: setting({
    variable: 'DOCMIRROR_TOKEN_COMMAND',
    flag: '--token-command',
    valueName: 'COMMAND',
    default: null,
    help: 'a command that prints the bearer token, for tokens that expire; it runs for each run, and when the token has expired; it overrides the other two',
    parse: parseText,
  }),
  database: setting({
    variable: 'DOCMIRROR_DATABASE',
    flag: '--database',
    valueName: 'FILE',
    default: 'docmirror.sqlite',
    help: "the mirror's file",
    isOnce: true,
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
    help: 'most page requests at a time; fewer while the service says that it is too much',
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
  giveUpAfterMs: setting({
    variable: 'DOCMIRROR_GIVE_UP_AFTER',
    flag: '--give-up-after',
    valueName: 'TIME',
    default: '10m',
    help: 'how long to try again while the service answers nothing useful, all lists together; then each remaining list fails at once',
    parse: parseTimer,
  }),
  maxRequestsPerSecond: setting({
    variable: 'DOCMIRROR_MAX_REQUESTS_PER_SECOND',
    flag: '--max-requests-per-second',
    valueName: 'N',
    default: null,
    help: 'requests are spaced out evenly, over all lists; a decimal number, for example 2.5',
    parse: text => parseDecimal(text, 0.001, 10_000),
  }),
  deadlineMs: setting({
    variable: 'DOCMIRROR_DEADLINE',
    flag: '--deadline',
    valueName: 'TIME',
    default: null,
    help: 'a run that takes longer ends as a signal would end it, with exit code 1',
    parse: parseDeadline,
  }),
  waitMs: setting({
    variable: 'DOCMIRROR_WAIT',
    flag: '--wait',
    valueName: 'TIME',
    default: '0',
    help: 'how long to wait for another run to end, before exit code 11',
    parse: parseTimer,
  }),
  trigger: setting({
    variable: 'DOCMIRROR_TRIGGER',
    flag: '--trigger',
    valueName: 'NAME',
    default: null,
    help: 'what started the run, for its record; a cron job or a timer sets it (default: manual, in watch schedule)',
    parse: parseName,
  }),
  maxPages: setting({
    variable: 'DOCMIRROR_MAX_PAGES',
    flag: '--max-pages',
    valueName: 'N',
    default: '1000000',
    help: 'most pages of one list; a service that states or sends more fails that list',
    parse: text => parseInteger(text, 1, 1_000_000_000),
  }),
  fullEveryMs: setting({
    variable: 'DOCMIRROR_FULL_EVERY',
    flag: '--full-every',
    valueName: 'TIME',
    default: '24h',
    help: 'the longest time between full syncs of a list; runs in between can be incremental; 0 makes every sync full',
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
  keepHistoryMs: setting({
    variable: 'DOCMIRROR_KEEP_HISTORY',
    flag: '--keep-history',
    valueName: 'TIME',
    default: 'forever',
    help: 'each run deletes versions that ended longer than this before the last run began, for example 400d',
    parse: parseKeepHistory,
  }),
  actor: setting({
    variable: 'DOCMIRROR_ACTOR',
    flag: '--actor',
    valueName: 'NAME',
    default: null,
    help: "who runs it, for the receipts; default: the operating system's user name",
    parse: parseActor,
  }),
  signingKeyFile: setting({
    variable: 'DOCMIRROR_SIGNING_KEY_FILE',
    flag: '--signing-key-file',
    valueName: 'FILE',
    default: null,
    help: 'the Ed25519 private key (PKCS #8, PEM) that signs checkpoints',
    parse: parseText,
  }),
  share: setting({
    variable: 'DOCMIRROR_SHARE',
    flag: '--share',
    valueName: 'FILE',
    default: null,
    help: 'a copy that everybody can read, made again after each run that changed something',
    parse: parseText,
  }),
  shareSql: setting({
    variable: 'DOCMIRROR_SHARE_SQL',
    flag: '--share-sql',
    valueName: 'FILE',
    default: null,
    help: 'SQL statements that run on the share before it gets its place: views, indexes, tables, dropped columns',
    parse: parseText,
  }),
  schedule: setting({
    variable: 'DOCMIRROR_SCHEDULE',
    flag: '--schedule',
    valueName: 'CRON',
    default: '0 * * * *',
    help: "watch's cron expression",
    parse: parseSchedule,
  }),
  timezone: setting({
    variable: 'DOCMIRROR_TIMEZONE',
    flag: '--timezone',
    valueName: 'ZONE',
    default: 'UTC',
    help: "the time zone of watch's cron expression, and of the days of a report",
    parse: parseTimezone,
  }),
  pingUrl: setting({
    variable: 'DOCMIRROR_PING_URL',
    flag: '--ping-url',
    valueName: 'URL',
    default: null,
    help: "called at the start (/start), after success, and after failure (/fail), as healthchecks.io wants it; %c in it is the command's name",
    parse: parsePingUrl,
  }),
  metricsFile: setting({
    variable: 'DOCMIRROR_METRICS_FILE',
    flag: '--metrics-file',
    valueName: 'FILE',
    default: null,
    help: "after each run, the metrics, for node_exporter's textfile collector; backup writes NAME-backup.prom beside it, too",
    parse: parseText,
  }),
  labels: setting({
    variable: 'DOCMIRROR_LABELS',
    flag: '--labels',
    valueName: 'LABELS',
    default: '',
    help: 'for example tenant=acme,env=prod: part of every log line, metric and JSON object, and of the record of each run',
    parse: parseLabels,
  }),
  logLevel: setting({
    variable: 'DOCMIRROR_LOG_LEVEL',
    flag: '--log-level',
    valueName: 'LEVEL',
    default: 'info',
    help: 'trace, debug, info, warn, error, fatal or silent',
    parse: parseLogLevel,
  }),
  clickhouseUrl: setting({
    variable: 'DOCMIRROR_CLICKHOUSE_URL',
    flag: '--url',
    valueName: 'URL',
    default: null,
    help: "publish: the ClickHouse server's HTTP address; https, or http for a loopback address only",
    isOnce: true,
    parse: parseBaseUrl,
  }),
  clickhouseUser: setting({
    variable: 'DOCMIRROR_CLICKHOUSE_USER',
    flag: '--user',
    valueName: 'USER',
    default: 'default',
    help: 'publish: the user of ClickHouse',
    parse: parseText,
  }),
  clickhousePassword: setting({
    variable: 'DOCMIRROR_CLICKHOUSE_PASSWORD',
    flag: '--password',
    valueName: 'PASSWORD',
    default: null,
    help: 'publish: its password; better in the environment or in a file, because others can see flags',
    parse: parseText,
  }),
  clickhousePasswordFile: setting({
    variable: 'DOCMIRROR_CLICKHOUSE_PASSWORD_FILE',
    flag: '--password-file',
    valueName: 'FILE',
    default: null,
    help: 'publish: a file that contains the password; it overrides DOCMIRROR_CLICKHOUSE_PASSWORD',
    parse: parseText,
  }),
  clickhouseDatabase: setting({
    variable: 'DOCMIRROR_CLICKHOUSE_DATABASE',
    flag: '--target-database',
    valueName: 'NAME',
    default: 'docmirror',
    help: 'publish: the database in ClickHouse',
    parse: parseText,
  }),
  tenant: setting({
    variable: 'DOCMIRROR_TENANT',
    flag: '--tenant',
    valueName: 'NAME',
    default: null,
    help: 'publish: whose mirror this is',
    isOnce: true,
    parse: parseName,
  }),
};

/** The name of a setting in the code. */
export type SettingName = keyof typeof settings;

/** The value of a setting after it is read. It can be null only if the table has no default. */
type Value<S> = S extends Setting<infer T, infer D> ? (D extends string ? T : T | null) : never;

/** Every setting, read and checked. */
export type SettingValues = { readonly [Name in SettingName]: Value<(typeof settings)[Name]> };
