import { ClickHouseError } from '@clickhouse/client';
import { codeOf, DocmirrorError, UsageError } from '../errors.ts';

/** ClickHouse did not do what it was asked. `isRetryable` says whether another try may help. */
export class ClickHouseFault extends DocmirrorError {
  readonly isRetryable: boolean;

  constructor(code: 'network' | 'refused' | 'overloaded', message: string, isRetryable: boolean) {
    super(code, message);
    this.isRetryable = isRetryable;
  }
}

/** What arrived in ClickHouse is not what the mirror holds. */
export class PublicationDiffersError extends DocmirrorError {
  constructor(message: string) {
    super('publication_differs', message);
  }
}

// The numbers are ClickHouse's own error codes.
const wrongPassword = new Set(['192', '193', '194', '516']);
const lacksRights = '497';
const missingTables = new Set(['60', '81']);
/** Time is up, too much at once, a connection within the cluster is lost, too many parts wait to be merged. */
const passing = new Set(['159', '202', '209', '210', '242', '252', '425', '439', '999']);
const certificateFault = /CERT|ISSUER|SIGNATURE|ALTNAME/;
const wordsMax = 300;

/** How to make the tables, as the end of a sentence. */
export const howToMake = (database: string) =>
  `make them with: docmirror publish clickhouse --print-ddl --target-database ${database} | clickhouse-client --multiquery`;

/** What the server is called in messages, and as whom it is asked. */
export interface Addressee {
  /** Without user and password. */
  readonly url: string;
  readonly user: string;
  readonly database: string;
  /** The proxy on the way to it; null where there is none. */
  readonly proxy: { readonly shown: string } | null;
}

/** Says in the user's words why a request failed. Errors of docmirror itself stay as they are. */
export function faultOf(error: unknown, addressee: Addressee, httpStatus: number | null): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (error instanceof DocmirrorError) return error;
  if (error instanceof ClickHouseError) return serverFault(error, addressee);
  if (httpStatus === 401 || httpStatus === 403) return refusedPassword(addressee);
  const where = placeOf(addressee);
  const code = codeOf(error);
  // Of a proxy that opens no way, the message says why.
  const reason = code === undefined || code === 'ERR_PROXY_TUNNEL' ? words(error.message) : code;
  if (certificateFault.test(reason))
    return new ClickHouseFault(
      'network',
      `${where}: its certificate is not trusted (${reason}). Where a company's own authority signed it, name that by NODE_EXTRA_CA_CERTS.`,
      false,
    );
  if (httpStatus !== null && httpStatus >= 300)
    return new ClickHouseFault(
      'network',
      `${where}: something before it answered with HTTP ${httpStatus} (${reason}).`,
      true,
    );
  return new ClickHouseFault(
    'network',
    `${where} did not answer, or not to the end (${reason}). Nothing is lost: publish again, and raise DOCMIRROR_TIMEOUT_MS where it is slow.`,
    true,
  );
}

function serverFault({ code, type, message }: ClickHouseError, addressee: Addressee): Error {
  const { url, user, database } = addressee;
  if (wrongPassword.has(code)) return refusedPassword(addressee);
  if (missingTables.has(code))
    return new UsageError(
      `ClickHouse at ${url} has no tables of docmirror in the database ${database}; ${howToMake(database)}`,
    );
  if (code === lacksRights)
    return new UsageError(`ClickHouse at ${url} gives the user ${user} too few rights: ${words(message)}`);
  const isPassing = passing.has(code);
  return new ClickHouseFault(
    isPassing ? 'overloaded' : 'refused',
    `ClickHouse at ${url} refused: ${words(message)} (${code}${type === undefined ? '' : ` ${type}`})`,
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
