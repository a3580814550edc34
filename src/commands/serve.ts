import { randomBytes } from 'node:crypto';
import { isLoopback } from '../config/parse.ts';
import type { Config } from '../config/resolve.ts';
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
import { command } from './command.ts';
import { defaulting, duration, file, number, text, token } from './flags.ts';
import { createLogger, loggedError } from './logging.ts';
import { servedChanges } from './served-changes.ts';
import { filteredRecords } from './served-lists.ts';
import { servedPages } from './served-pages.ts';
import { servedReport } from './served-report.ts';
import { mirrorSettings } from './shared-flags.ts';
import { readTokenFile } from './token.ts';

/** `docmirror serve` */
export const serve = command({
  flags: {
    host: defaulting(text('HOST', 'the address to listen on'), '127.0.0.1'),
    port: defaulting(number('PORT', 'the port to listen on; 0 for any that is free', [0, 65_535]), '8080'),
    token: token(
      'the bearer token that clients must send (default: a new one at each start, which is shown)',
    ),
    tokenFile: file(
      'a file that contains the token that clients must send; it is read again when a token is refused',
    ),
    maxAge: duration('/healthz answers 503 if a list has had no completed run for longer'),
  },
  settings: mirrorSettings,
  examples: [
    { line: 'docmirror serve', meaning: 'with a token made for this time' },
    { line: 'docmirror serve --port 0 --token "$KEY"', meaning: 'on any free port' },
    {
      line: 'docmirror serve --host 0.0.0.0 --max-age 26h --token-file serve-token',
      meaning: 'for other machines',
    },
  ],
  notes: [
    'The first line on standard output ends with the address. It serves until SIGINT or SIGTERM. The lists need the token as bearer token; the pages from / on take it as a password, too, under any user name. /healthz, /livez, /metrics and /openapi.json contain no record and need no token.',
  ],
  exitCodes: '129, 130 and 143 ended by SIGHUP, SIGINT and SIGTERM.',
  async run({ host, port, maxAge, ...given }, context) {
    const { config, signal } = context;
    fileBehind(config.database);
    // Node treats an empty host as all addresses of the machine.
    if (host.trim() === '') throw new UsageError('--host: it is empty');
    const tokenFile = given.token === null ? given.tokenFile : null;
    const chosen = tokenFile === null ? given.token : await readTokenFile('--token-file', tokenFile);
    const bearer = chosen ?? randomBytes(tokenBytes).toString('base64url');
    const logger = createLogger(config, context);
    using records = new Reopening(config.database, () => new MirrorReader(config.database));
    const readToken = async () => {
      if (tokenFile === null) return null;
      return readTokenFile('--token-file', tokenFile).catch((error: unknown) => {
        logger.warn(loggedError(error), 'The token file can not be read; the token stays as it was.');
        return null;
      });
    };
    const onAnswer = (answer: Answered) => logger.info(answer, 'request answered');
    const onFault = (error: unknown) => logger.error(loggedError(error), 'A request failed.');
    using served = await whatIsServed(config, records, maxAge);
    if (records.otherShape !== null)
      logger.warn(loggedError(records.otherShape), 'The mirror is not served until it is upgraded.');
    const onRefused = ({ method, ip }: { readonly method: string; readonly ip: string }) => {
      served.metrics.tokenRefused();
      logger.warn({ method, client: ip }, 'A request gave a wrong token.');
    };
    const hooks = { token: bearer, readToken, onRefused, onAnswer, onFault };
    const server = await startServer({ ...served, ...hooks, host: host.trim(), port });
    context.stdout.write(`docmirror serves ${server.url}\n`);
    context.stderr.write(welcome(server.url, chosen === null ? bearer : null));
    await aborted(signal).finally(() => server.close());
    if (signal.reason instanceof CancelledError) context.exitCode = signal.reason.exitCode;
  },
});

const tokenBytes = 24;

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
