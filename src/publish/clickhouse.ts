import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import pRetry from 'p-retry';
import { codeOf, DocmirrorError, UsageError } from '../errors.ts';
import { howToMake, type TargetTable } from './tables.ts';

/** The server to publish to, complete and checked. */
export interface ClickHouseOptions {
  /** Without user and password. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Its `url` has user name and password, too. It needs Node.js 24.5: an older one would go around the proxy. */
  readonly proxy: { readonly url: string; readonly shown: string } | null;
  /** One request, from start to last byte. */
  readonly timeoutMs: number;
  /** How long a request is tried again, in milliseconds. Every request can be sent twice. */
  readonly giveUpAfterMs: number;
  readonly signal: AbortSignal;
  /** Called with the reason before a request is tried again. */
  readonly onWait?: (why: string) => void;
}

/** Values for the places `{name:Type}` in a query. */
type Parameters = Readonly<Record<string, string | number>>;

const retryAfterMsMin = 200;
const retryAfterMsMax = 5_000;

/** Some version or user profile has another default for each of these, and that would lose or change rows. */
const safeSettings = {
  async_insert: 0,
  input_format_skip_unknown_fields: 0,
  input_format_null_as_default: 0,
  date_time_input_format: 'best_effort',
  // The older name, which newer versions also accept. Without it a Distributed table answers before its rows have arrived.
  insert_distributed_sync: 1,
  // Wait until a deletion is done on all replicas.
  mutations_sync: '2',
} as const;

/** A ClickHouse server, asked over HTTP. Its errors have messages for the user. If one is temporary, the request is tried again. */
export class ClickHouse {
  readonly #options: ClickHouseOptions;
  readonly #client: ClickHouseClient;

  constructor(options: ClickHouseOptions) {
    this.#options = options;
    const { origin, pathname } = new URL(options.url);
    const agent = agentFor(options);
    this.#client = createClient({
      url: origin,
      // In `url`, the client would take the path for the name of a database.
      pathname,
      username: options.user,
      password: options.password,
      database: options.database,
      request_timeout: options.timeoutMs,
      application: 'docmirror',
      clickhouse_settings: safeSettings,
      // The fault already reports what the client would log to standard error.
      log: { level: ClickHouseLogLevel.OFF },
      ...(agent && { http_agent: agent }),
    });
  }

  get database(): string {
    return this.#options.database;
  }

  get url(): string {
    return this.#options.url;
  }

  /** The rows of a query whose columns are all texts. */
  ask(query: string, parameters: Parameters = {}): Promise<string[][]> {
    return this.#persistently(async abort_signal => {
      // One document: in a format of lines, half an answer or a proxy's page would look like fewer rows.
      const format = 'JSONCompact';
      const answer = await this.#client.query({ query, query_params: parameters, format, abort_signal });
      const { data, rows } = await answer.json<unknown>();
      const isRow = (row: unknown) => Array.isArray(row) && row.every(value => typeof value === 'string');
      if (!Array.isArray(data) || data.length !== rows || !data.every(isRow))
        throw new OddAnswerError('an answer without its rows');
      return data as string[][];
    });
  }

  /** Inserts rows, one array of values each. */
  insert({ name, columns }: TargetTable, rows: readonly (readonly unknown[])[]): Promise<void> {
    const [first = '', ...others] = columns.map(column => column.name);
    // A tenant that was deleted and is sent again has the same blocks as before. A server that drops repeated blocks would drop
    // them, so each block gets its own name. The settings that turn this off differ between versions.
    const settings = { insert_deduplication_token: randomUUID() };
    return this.#persistently(async signal => {
      await this.#client.insert({
        table: name,
        columns: [first, ...others],
        values: rows,
        format: 'JSONCompactEachRow',
        clickhouse_settings: settings,
        abort_signal: signal,
      });
    }, true);
  }

  /** Runs a statement that returns nothing. */
  command(query: string, parameters: Parameters = {}): Promise<void> {
    return this.#persistently(async signal => {
      await this.#client.command({ query, query_params: parameters, abort_signal: signal });
    });
  }

  /** Ends all connections. */
  close(): Promise<void> {
    return this.#client.close();
  }

  #persistently<T>(ask: (signal: AbortSignal) => Promise<T>, sentRows = false): Promise<T> {
    const { signal, giveUpAfterMs, onWait } = this.#options;
    const attempt = async (): Promise<T> => {
      try {
        return await ask(signal);
      } catch (error) {
        signal.throwIfAborted();
        throw faultOf(error, this.#options, sentRows);
      }
    };
    return pRetry(attempt, {
      retries: giveUpAfterMs === 0 ? 0 : Number.POSITIVE_INFINITY,
      ...(giveUpAfterMs > 0 && { maxRetryTime: giveUpAfterMs }),
      minTimeout: retryAfterMsMin,
      maxTimeout: retryAfterMsMax,
      randomize: true,
      signal,
      shouldRetry: ({ error }) => error instanceof ClickHouseFault && error.isRetryable,
      onFailedAttempt: ({ error }) => onWait?.(error.message),
    });
  }
}

/** An agent that always connects through the proxy; undefined if there is no proxy. */
function agentFor({ url, proxy, timeoutMs }: ClickHouseOptions): Agent | undefined {
  if (proxy === null) return undefined;
  const proxyEnv = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
  const options = { keepAlive: true, timeout: timeoutMs, proxyEnv };
  return url.startsWith('https:') ? new TlsAgent(options) : new Agent(options);
}

/** ClickHouse did not do what it was asked. `isRetryable` says if another try can help. */
class ClickHouseFault extends DocmirrorError {
  readonly isRetryable: boolean;

  constructor(code: 'network' | 'refused' | 'overloaded', message: string, isRetryable: boolean) {
    super(code, message);
    this.isRetryable = isRetryable;
  }
}

/** An answer that is not what was asked for; its message is docmirror's own. */
class OddAnswerError extends Error {}

// The numbers are ClickHouse's own error codes.
const wrongPassword = new Set(['192', '193', '194', '516']);
const lacksRights = '497';
const missingTables = new Set(['60', '81']);
/** These can pass: a timeout, too many queries at once, a lost connection within the cluster, too many parts to be merged. */
const passing = new Set(['159', '202', '209', '210', '242', '252', '425', '439', '999']);
const certificateFault = /CERT|ISSUER|SIGNATURE|ALTNAME/;
const wordsMax = 300;

/**
 * Makes an error with a message for the user of the failure of a request. The message quotes nothing of an answer that is not
 * ClickHouse's, because it can contain what was sent, including the password.
 */
function faultOf(error: unknown, options: ClickHouseOptions, sentRows: boolean): Error {
  const { url, proxy } = options;
  const where = `ClickHouse at ${url}${proxy === null ? '' : ` through the proxy ${proxy.shown}`}`;
  if (!(error instanceof Error)) return new Error(String(error));
  if (error instanceof ClickHouseError) return serverFault(error, where, options, sentRows);
  const reason = reasonOf(error);
  if (!certificateFault.test(reason))
    return new ClickHouseFault(
      'network',
      `${where} did not answer, or not to the end (${reason}). Nothing is lost: publish again, and raise DOCMIRROR_TIMEOUT_MS if it is slow.`,
      true,
    );
  return new ClickHouseFault(
    'network',
    `${where}: its certificate is not trusted (${reason}). If your company's own authority signed it, name its file in NODE_EXTRA_CA_CERTS.`,
    false,
  );
}

/** The reason of a network failure, in a few words. */
function reasonOf(error: Error): string {
  const code = codeOf(error);
  // If a proxy opens no connection, the message says why.
  if (code === 'ERR_PROXY_TUNNEL' || error instanceof OddAnswerError) return words(error.message);
  if (code !== undefined) return code;
  return error.message === 'Timeout error.' ? 'no answer in time' : 'an answer that is not its own';
}

/** @param sentRows true if the server's message might contain rows, and the secret part of a webhook's address with them. */
function serverFault(
  { code, type, message }: ClickHouseError,
  where: string,
  { user, database }: ClickHouseOptions,
  sentRows: boolean,
): Error {
  if (wrongPassword.has(code))
    return new UsageError(
      `${where} refused the user ${user} or the password. Set DOCMIRROR_CLICKHOUSE_USER and DOCMIRROR_CLICKHOUSE_PASSWORD or DOCMIRROR_CLICKHOUSE_PASSWORD_FILE.`,
    );
  if (missingTables.has(code))
    return new UsageError(
      `${where} has no tables of docmirror in the database ${database}; ${howToMake(database)}`,
    );
  if (code === lacksRights)
    return new UsageError(`${where} gives the user ${user} too few rights: ${words(message)}`);
  const isPassing = passing.has(code);
  const name = type === undefined ? code : `${code} ${type}`;
  const text = sentRows
    ? `${where} refused rows (${name}). Its own log says why, and might show them.`
    : `${where} refused: ${words(message)} (${name})`;
  return new ClickHouseFault(isPassing ? 'overloaded' : 'refused', text, isPassing);
}

function words(text: string): string {
  const line = text
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > wordsMax ? `${line.slice(0, wordsMax)}…` : line || 'no reason given';
}
