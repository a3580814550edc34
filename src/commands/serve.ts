import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { isLoopback } from '../config/parse.ts';
import { type Config, checkToken, durationMs, resolveConfig, wholeNumber } from '../config/resolve.ts';
import { lists } from '../contract/lists.ts';
import { CancelledError, UsageError } from '../errors.ts';
import type { Answered } from '../serve/app.ts';
import type { ServeMetrics } from '../serve/metrics.ts';
import { type ServerOptions, startServer } from '../serve/server.ts';
import { fileBehind } from '../store/file/mirror-path.ts';
import { Reopening } from '../store/file/reopening.ts';
import { MirrorReader } from '../store/read/mirror-reader.ts';
import { version } from '../version.ts';
import { aborted } from './aborted.ts';
import { Browsing } from './browsing.ts';
import { cachedForOneSecond } from './cached-for-one-second.ts';
import type { CommandContext } from './context.ts';
import { createLogger, loggedError } from './logging.ts';
import { servedChanges } from './served-changes.ts';
import { filteredRecords } from './served-lists.ts';
import { servedPages } from './served-pages.ts';
import { servedReport } from './served-report.ts';
import { readTokenFile } from './token.ts';

interface ServeFlags {
  readonly host: string;
  readonly port: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly maxAge?: string;
}

const portMax = 65_535;
const tokenBytes = 24;

/** `docmirror serve`; its flags are in the table of commands. */
export async function serve(command: Command, context: CommandContext): Promise<void> {
  const flags = command.opts<ServeFlags>();
  const config = resolveConfig(command.opts(), context.environment);
  fileBehind(config.database);
  const port = wholeNumber('--port', flags.port, 0, portMax);
  const maxAgeMs = flags.maxAge === undefined ? null : durationMs('--max-age', flags.maxAge);
  // Node treats an empty host as all addresses of the machine.
  if (flags.host.trim() === '') throw new UsageError('--host: it is empty');
  const chosen = await chosenToken(flags);
  const token = chosen ?? randomBytes(tokenBytes).toString('base64url');
  const logger = createLogger(config, context.stderr.isTTY, context.secrets);
  using records = new Reopening(config.database, () => new MirrorReader(config.database));
  const tokenFile = flags.token === undefined ? flags.tokenFile : undefined;
  const readToken = async () => {
    if (tokenFile === undefined) return null;
    return readTokenFile('--token-file', tokenFile).catch((error: unknown) => {
      logger.warn(loggedError(error), 'The token file can not be read; the token stays as it was.');
      return null;
    });
  };
  const onAnswer = (answer: Answered) => logger.info(answer, 'request answered');
  const onFault = (error: unknown) => logger.error(loggedError(error), 'A request failed.');
  using served = await whatIsServed(config, records, maxAgeMs);
  if (records.otherShape !== null)
    logger.warn(loggedError(records.otherShape), 'The mirror is not served until it is upgraded.');
  const onRefused = ({ method, ip }: { readonly method: string; readonly ip: string }) => {
    served.metrics.tokenRefused();
    logger.warn({ method, client: ip }, 'A request gave a wrong token.');
  };
  const hooks = { token, readToken, onRefused, onAnswer, onFault };
  const server = await startServer({ ...served, ...hooks, host: flags.host.trim(), port });
  context.stdout.write(`docmirror serves ${server.url}\n`);
  context.stderr.write(welcome(server.url, chosen === null ? token : null));
  await aborted(context.signal).finally(() => server.close());
  const reason: unknown = context.signal.reason;
  if (reason instanceof CancelledError) context.setExitCode(reason.exitCode);
}

type Served = Pick<ServerOptions, 'source' | 'filtered' | 'changes' | 'health' | 'pages'> & {
  readonly metrics: ServeMetrics;
} & Disposable;

/** Everything that is served. One connection to the mirror reads its numbers, another its records. */
async function whatIsServed(
  { database, labels }: Pick<Config, 'database' | 'labels'>,
  records: Reopening<MirrorReader>,
  maxAgeMs: number | null,
): Promise<Served> {
  const { ReportReader } = await import('../store/read/report-reader.ts');
  const { serveMetrics } = await import('../serve/metrics.ts');
  const reader = new Reopening(database, () => new ReportReader(database));
  const figures = cachedForOneSecond(() => reader.current().figures());
  const revision = () => reader.current().revision();
  const browsing = new Browsing(database);
  return {
    source: { page: (list, offset, limit) => records.current().page(list, offset, limit), revision },
    filtered: filteredRecords(browsing),
    changes: servedChanges(() => records.current(), browsing),
    health: { maxAgeMs, ages: () => figures().lists },
    metrics: serveMetrics({ version, labels }, figures),
    pages: await servedPages({
      browsing,
      report: servedReport(database, { revision, figures, maxAgeMs }),
      revision,
      reader: () => records.current(),
    }),
    [Symbol.dispose]: () => reader[Symbol.dispose](),
  };
}

/** The token that the user chose; null if docmirror has to make one. */
async function chosenToken({ token, tokenFile }: ServeFlags): Promise<string | null> {
  if (token !== undefined) return checkToken('--token', token);
  return tokenFile === undefined ? null : readTokenFile('--token-file', tokenFile);
}

/** Hints on how to try the server; a token that the user chose is never shown. */
function welcome(url: string, madeToken: string | null): string {
  const path = lists[0]?.path ?? '';
  const lines = [
    `Serving ${url}, read-only, until Ctrl+C.`,
    ...(isLoopback(new URL(url).hostname)
      ? []
      : ['Other machines can reach it, and the token crosses the network unencrypted.']),
    ...(madeToken === null ? [] : [`Token, for this time only: ${madeToken}`]),
    `Try: curl -H "Authorization: Bearer ${madeToken ?? '$TOKEN'}" "${url}${path}?pageSize=3"`,
    `Report, for a browser: ${url}/ (any user name, the token as password)`,
  ];
  return `${lines.join('\n')}\n`;
}
