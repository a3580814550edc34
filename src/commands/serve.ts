import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { isLoopback, token } from '../config/parse.ts';
import { named } from '../config/resolve.ts';
import { lists } from '../contract/lists.ts';
import { CancelledError, OtherShapeError } from '../errors.ts';
import { startServer } from '../serve/server.ts';
import { readMirror } from '../store/read/sqlite.ts';
import { command } from './command.ts';
import { defaulting, numeral, timeSpan, typed } from './flags.ts';
import { createLogger, loggedError } from './logging.ts';
import { readTokenFile } from './token.ts';

export default command({
  flags: {
    host: defaulting(typed('HOST'), '127.0.0.1'),
    port: defaulting(numeral('PORT', [0, 65_535]), '8080'),
    token: typed('TOKEN'),
    tokenFile: typed('FILE'),
    maxAge: timeSpan,
  },
  async run({ host, port, maxAge, ...given }, context) {
    const { signal } = context;
    const { database, labels } = context.config;
    const tokenFile = given.token === null ? given.tokenFile : null;
    const fromFile = () => (tokenFile === null ? null : readTokenFile('--token-file', tokenFile));
    const typed = given.token;
    const chosen = typed === null ? fromFile() : named('--token', () => token(typed));
    const bearer = chosen ?? randomBytes(tokenBytes).toString('base64url');
    const logger = createLogger(context.config, context, 'info');
    try {
      readMirror(database, () => undefined);
    } catch (error) {
      // No run brings one up to date that is too old.
      if (!(error instanceof OtherShapeError) || error.code === 'mirror_too_old') throw error;
      logger.warn(loggedError(error), 'The mirror is not served until it is upgraded.');
    }
    const about = { database, labels, maxAgeMs: maxAge, host, port, token: bearer };
    const server = await startServer({
      ...about,
      readToken() {
        try {
          return fromFile();
        } catch (error) {
          logger.warn(loggedError(error), 'The token file can not be read; the token stays as it was.');
          return null;
        }
      },
      onRefused: ({ method, ip }) => logger.warn({ method, client: ip }, 'A request gave a wrong token.'),
      onAnswer: answer => logger.info(answer, 'request answered'),
      onFault: error => logger.error(loggedError(error), 'A request failed.'),
    });
    context.stdout.write(`docmirror serves ${server.url}\n`);
    context.stderr.write(welcome(server.url, isLoopback(host.trim()), chosen === null ? bearer : null));
    if (!signal.aborted) await once(signal, 'abort');
    await server.close();
    if (signal.reason instanceof CancelledError) context.exitCode = signal.reason.exitCode;
  },
});

const tokenBytes = 24;

/** Hints on how to try the server; a token that the user chose is never shown. */
function welcome(url: string, isLocal: boolean, madeToken: string | null): string {
  return `Serving ${url}, read-only, until Ctrl+C.
${isLocal ? '' : 'Other machines can reach it, and the token crosses the network unencrypted.\n'}${madeToken === null ? '' : `Token, for this time only: ${madeToken}\n`}Try: curl -H "Authorization: Bearer ${madeToken ?? '$TOKEN'}" "${url}${lists[0]?.path}?pageSize=3"
Report, for a browser: ${url}/ (any user name, the token as password)
`;
}
