import { ClickHouseError } from '@clickhouse/client';
import { codeOf, DocmirrorError, UsageError } from '../errors.ts';

/** ClickHouse did not do what it was asked. `isRetryable` says if another try can help. */
export class ClickHouseFault extends DocmirrorError {
  readonly isRetryable: boolean;

  constructor(code: 'network' | 'refused' | 'overloaded', message: string, isRetryable: boolean) {
    super(code, message);
    this.isRetryable = isRetryable;
  }
}

// The numbers are ClickHouse's own error codes.
const wrongPassword = new Set(['192', '193', '194', '516']);
const lacksRights = '497';
const missingTables = new Set(['60', '81']);
/** These can pass: a timeout, too many queries at once, a lost connection within the cluster, too many parts to be merged. */
const passing = new Set(['159', '202', '209', '210', '242', '252', '425', '439', '999']);
const certificateFault = /CERT|ISSUER|SIGNATURE|ALTNAME/;
const wordsMax = 300;
/** The client's message for a timeout. */
export const timeoutWords = 'Timeout error.';

/** How to make the tables, as the end of a sentence. */
export const howToMake = (database: string) =>
  `make them with: docmirror publish clickhouse --print-ddl --target-database ${database} | clickhouse-client --multiquery`;

/** The name of the server in messages, and the user that asks it. */
export interface Addressee {
  /** Without user and password. */
  readonly url: string;
  readonly user: string;
  readonly database: string;
  /** The proxy on the way to it; null if there is none. */
  readonly proxy: { readonly shown: string } | null;
}

/** An answer that is not what was asked for; its message is docmirror's own. */
export class OddAnswerError extends Error {}

/** Facts about a request that failed, besides its error. */
export interface FailedRequest {
  /** The status of an answer that is not ClickHouse's own; null if there is none. */
  readonly httpStatus: number | null;
  /** True if rows were sent: the server's message might contain them, and the secret part of a webhook's address with them. */
  readonly sentRows: boolean;
}

/**
 * Makes an error with a message for the user of the failure of a request. Errors of docmirror itself stay as they are. The message
 * quotes nothing of an answer that is not ClickHouse's, because it can contain what was sent, including the password.
 */
export function faultOf(
  error: unknown,
  addressee: Addressee,
  { httpStatus, sentRows }: FailedRequest,
): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (error instanceof DocmirrorError) return error;
  if (error instanceof ClickHouseError) return serverFault(error, addressee, sentRows);
  if (httpStatus === 401 || httpStatus === 403) return refusedPassword(addressee);
  const where = placeOf(addressee);
  const reason = reasonOf(error);
  if (certificateFault.test(reason))
    return new ClickHouseFault(
      'network',
      `${where}: its certificate is not trusted (${reason}). If your company's own authority signed it, name its file in NODE_EXTRA_CA_CERTS.`,
      false,
    );
  if (httpStatus !== null && httpStatus >= 300)
    return new ClickHouseFault(
      'network',
      `${where}: something before it answered with HTTP ${httpStatus}.`,
      true,
    );
  return new ClickHouseFault(
    'network',
    `${where} did not answer, or not to the end (${reason}). Nothing is lost: publish again, and raise DOCMIRROR_TIMEOUT_MS if it is slow.`,
    true,
  );
}

/** The reason of a network failure, in a few words. */
function reasonOf(error: Error): string {
  const code = codeOf(error);
  // If a proxy opens no connection, the message says why.
  if (code === 'ERR_PROXY_TUNNEL' || error instanceof OddAnswerError) return words(error.message);
  if (code !== undefined) return code;
  return error.message === timeoutWords ? 'no answer in time' : 'an answer that is not its own';
}

function serverFault(
  { code, type, message }: ClickHouseError,
  addressee: Addressee,
  sentRows: boolean,
): Error {
  const { url, user, database } = addressee;
  if (wrongPassword.has(code)) return refusedPassword(addressee);
  if (missingTables.has(code))
    return new UsageError(
      `ClickHouse at ${url} has no tables of docmirror in the database ${database}; ${howToMake(database)}`,
    );
  if (code === lacksRights)
    return new UsageError(`ClickHouse at ${url} gives the user ${user} too few rights: ${words(message)}`);
  const isPassing = passing.has(code);
  const name = `${code}${type === undefined ? '' : ` ${type}`}`;
  return new ClickHouseFault(
    isPassing ? 'overloaded' : 'refused',
    sentRows
      ? `ClickHouse at ${url} refused rows (${name}). Its own log says why, and might show them.`
      : `ClickHouse at ${url} refused: ${words(message)} (${name})`,
    isPassing,
  );
}

function placeOf({ url, proxy }: Addressee): string {
  return `ClickHouse at ${url}${proxy === null ? '' : ` through the proxy ${proxy.shown}`}`;
}

function refusedPassword(addressee: Addressee): Error {
  return new UsageError(
    `${placeOf(addressee)} refused the user ${addressee.user} or the password. Set DOCMIRROR_CLICKHOUSE_USER and DOCMIRROR_CLICKHOUSE_PASSWORD or DOCMIRROR_CLICKHOUSE_PASSWORD_FILE.`,
  );
}

function words(text: string): string {
  const line = text
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > wordsMax ? `${line.slice(0, wordsMax)}…` : line || 'no reason given';
}
