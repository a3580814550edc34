import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import pRetry from 'p-retry';
import { type Addressee, ClickHouseFault, faultOf, OddAnswerError, timeoutWords } from './faults.ts';
import type { TargetTable } from './tables.ts';

/** The server to publish to, complete and checked. */
export interface ClickHouseOptions extends Addressee {
  readonly password: string;
  /** Its `url` has user name and password, too. It needs Node.js 24.5: an older one would go around the proxy. */
  readonly proxy: { readonly url: string; readonly shown: string } | null;
  /** One request, from start to last byte. */
  readonly timeoutMs: number;
  /** How long a request is tried again, in milliseconds. Every request can be sent twice. */
  readonly giveUpAfterMs: number;
  readonly signal: AbortSignal;
}

/** Values for the places `{name:Type}` in a query. */
export type Parameters = Readonly<Record<string, string | number>>;

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
  /** Undefined if the server is reached directly. */
  readonly #agent: Agent | undefined;

  constructor(options: ClickHouseOptions) {
    this.#options = options;
    const { origin, pathname } = new URL(options.url);
    this.#agent = agentFor(options);
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
      ...(this.#agent && { http_agent: this.#agent }),
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
    return this.#persistently(async signal => {
      const answer = await this.#client.query({
        query,
        query_params: parameters,
        // One document: in a format of lines, half an answer or a proxy's page would look like fewer rows.
        format: 'JSONCompact',
        abort_signal: signal,
      });
      const { data, rows } = await answer.json<unknown>();
      if (!Array.isArray(data) || data.length !== rows)
        throw new OddAnswerError('an answer without its rows');
      return data.map(textsOf);
    });
  }

  insert({ name, columns }: TargetTable, rows: readonly (readonly unknown[])[]): Promise<void> {
    const [first, ...others] = columns.map(column => column.name);
    if (first === undefined) throw new TypeError(`${name} has no columns.`);
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

  command(query: string, parameters: Parameters = {}): Promise<void> {
    return this.#persistently(async signal => {
      await this.#client.command({ query, query_params: parameters, abort_signal: signal });
    });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #persistently<T>(ask: (signal: AbortSignal) => Promise<T>, sentRows = false): Promise<T> {
    const { signal, giveUpAfterMs } = this.#options;
    const attempt = async (): Promise<T> => {
      try {
        return await ask(signal);
      } catch (error) {
        signal.throwIfAborted();
        const httpStatus = isPlain(error) ? await this.#httpStatus() : null;
        throw faultOf(error, this.#options, { httpStatus, sentRows });
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
    });
  }

  /** Asks for the status of an answer that is not ClickHouse's own, because the client does not return it. */
  async #httpStatus(): Promise<number | null> {
    const { url, user, password, timeoutMs, signal } = this.#options;
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const send = url.startsWith('https:') ? tlsRequest : request;
    const asked = send(`${url}/?query=SELECT%201`, {
      agent: this.#agent,
      headers: { authorization },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    try {
      const [answer] = await once(asked.end(), 'response');
      return answer.statusCode;
    } catch {
      // The server does not answer at all, and the first error says so.
      return null;
    } finally {
      asked.on('error', () => undefined).destroy();
    }
  }
}

/** An agent that always connects through the proxy; undefined if there is no proxy. */
function agentFor({ url, proxy, timeoutMs }: ClickHouseOptions): Agent | undefined {
  if (proxy === null) return undefined;
  const proxyEnv = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
  const options = { keepAlive: true, timeout: timeoutMs, proxyEnv };
  return url.startsWith('https:') ? new TlsAgent(options) : new Agent(options);
}

/** True for the errors that the client makes from an answer that it can't read. After a timeout there is no answer to ask for. */
function isPlain(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.constructor === Error &&
    !('code' in error) &&
    error.message !== timeoutWords
  );
}

function textsOf(row: unknown): string[] {
  if (!Array.isArray(row)) throw new OddAnswerError('an answer whose rows are no rows');
  return row.map((value: unknown) => {
    if (typeof value !== 'string') throw new OddAnswerError('an answer whose values are no texts');
    return value;
  });
}
