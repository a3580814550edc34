import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import pRetry from 'p-retry';
import { codeOf, DocmirrorError, UsageError } from '../errors.ts';
import type { TargetTable } from './tables.ts';

/** The server to publish to, complete and checked. */
export interface ClickHouseOptions {
  /** Without user and password. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Its `url` has user name and password, too. It needs Node.js 24.5: an older one would go around the proxy. */
  readonly proxy: { readonly url: string; readonly shown: string } | null;
  readonly timeoutMs: number;
  /** How long a request is tried again, in milliseconds. Every request can be sent twice. */
  readonly giveUpAfterMs: number;
  readonly signal: AbortSignal;
  readonly onWait?: (why: string) => void;
}

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
  readonly options: ClickHouseOptions;
  readonly #client: ClickHouseClient;

  constructor(options: ClickHouseOptions) {
    this.options = options;
    const { proxy, timeoutMs } = options;
    const { origin, pathname, protocol } = new URL(options.url);
    const proxyEnv = proxy && { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
    const AgentOf = protocol === 'https:' ? TlsAgent : Agent;
    this.#client = createClient({
      url: origin,
      // In `url`, the client would take the path for the name of a database.
      pathname,
      username: options.user,
      password: options.password,
      database: options.database,
      request_timeout: timeoutMs,
      application: 'docmirror',
      clickhouse_settings: safeSettings,
      // The fault already reports what the client would log to standard error.
      log: { level: ClickHouseLogLevel.OFF },
      ...(proxyEnv && { http_agent: new AgentOf({ keepAlive: true, timeout: timeoutMs, proxyEnv }) }),
    });
  }

  /** The rows of a query whose columns are all texts. Parameters are for the places `{name:Type}` in it. */
  ask(query: string, query_params: Readonly<Record<string, string | number>> = {}): Promise<string[][]> {
    return this.#persistently(async abort_signal => {
      // One document: in a format of lines, half an answer or a proxy's page would look like fewer rows.
      const format = 'JSONCompact';
      const answer = await this.#client.query({ query, query_params, format, abort_signal });
      const { data, rows } = await answer.json<string[]>();
      if (data.length !== rows) throw new Error('Rows are missing.');
      return data;
    });
  }

  insert({ name, columns }: TargetTable, rows: readonly (readonly unknown[])[]): Promise<void> {
    const insertion = {
      table: name,
      columns: Object.keys(columns) as [string, ...string[]],
      values: rows,
      format: 'JSONCompactEachRow',
      // A tenant that was deleted and is sent again has the same blocks as before. A server that drops repeated blocks would drop
      // them, so each block gets its own name. The settings that turn this off differ between versions.
      clickhouse_settings: { insert_deduplication_token: randomUUID() },
    } as const;
    return this.#persistently(async abort_signal => {
      await this.#client.insert({ ...insertion, abort_signal });
    }, true);
  }

  command(query: string, query_params: Readonly<Record<string, string>> = {}): Promise<void> {
    return this.#persistently(async abort_signal => {
      await this.#client.command({ query, query_params, abort_signal });
    });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #persistently<T>(ask: (signal: AbortSignal) => Promise<T>, sendsRows = false): Promise<T> {
    const { signal, giveUpAfterMs, onWait } = this.options;
    const attempt = () =>
      ask(signal).catch((error: Error) => {
        signal.throwIfAborted();
        throw faultOf(error, this.options, sendsRows);
      });
    return pRetry(attempt, {
      retries: giveUpAfterMs === 0 ? 0 : Number.POSITIVE_INFINITY,
      ...(giveUpAfterMs > 0 && { maxRetryTime: giveUpAfterMs }),
      minTimeout: retryAfterMsMin,
      maxTimeout: retryAfterMsMax,
      randomize: true,
      signal,
      shouldRetry: ({ error }) =>
        error instanceof DocmirrorError && ['network', 'overloaded'].includes(error.code),
      onFailedAttempt: ({ error }) => onWait?.(error.message),
    });
  }
}

// The numbers are ClickHouse's own error codes.
/** A wrong password, an unknown user, or one that has too few rights. */
const refusedUser = new Set(['192', '193', '194', '497', '516']);
const missingTables = new Set(['16', '60', '81']);
/** These can pass: a timeout, too many queries at once, a lost connection within the cluster, too many parts to be merged. */
const passing = new Set(['159', '202', '209', '210', '242', '252', '425', '439', '999']);
const certificateFault = /CERT|ISSUER|SIGNATURE|ALTNAME/;
const wordsMax = 300;

/** A failure in words for the user. They quote nothing that can have secrets: no answer of another program, and none about rows. */
function faultOf(error: Error, { url, proxy, user, database }: ClickHouseOptions, sentRows: boolean) {
  const where = `ClickHouse at ${url}${proxy === null ? '' : ` through the proxy ${proxy.shown}`}`;
  if (!(error instanceof ClickHouseError)) {
    const isLate = error.message === 'Timeout error.';
    const reason = codeOf(error) ?? (isLate ? 'no answer in time' : 'an answer that is not its own');
    const trust = `its certificate is not trusted (${reason}). If your company's own authority signed it, name its file in NODE_EXTRA_CA_CERTS.`;
    if (certificateFault.test(reason)) return new DocmirrorError('certificate', `${where}: ${trust}`);
    const lost = `did not answer, or not to the end (${reason}). Nothing is lost: publish again, and raise DOCMIRROR_TIMEOUT_MS if it is slow.`;
    return new DocmirrorError('network', `${where} ${lost}`);
  }
  const { code, type } = error;
  const words = error.message.replace(/\s+/g, ' ').slice(0, wordsMax);
  const refused = `${where} refused the user ${user}: ${words}. Set DOCMIRROR_CLICKHOUSE_USER and DOCMIRROR_CLICKHOUSE_PASSWORD or DOCMIRROR_CLICKHOUSE_PASSWORD_FILE, or give the user more rights.`;
  if (refusedUser.has(code)) return new UsageError(refused);
  const missing = `${where} has no tables of docmirror in the database ${database}; make them, or add what a later docmirror needs, with: docmirror publish clickhouse --print-ddl --target-database ${database} | clickhouse-client --multiquery (${words})`;
  if (missingTables.has(code)) return new UsageError(missing);
  const said = sentRows ? 'rows. Its own log says why, and might show them' : words;
  const kind = passing.has(code) ? 'overloaded' : 'refused';
  return new DocmirrorError(kind, `${where} refused (${code} ${type}): ${said}`);
}
