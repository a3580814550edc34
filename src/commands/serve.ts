import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Command } from 'commander';
import { checkToken, resolveConfig, wholeNumber } from '../config.ts';
import { lists } from '../contract/lists.ts';
import { CancelledError, UsageError } from '../errors.ts';
import { startServer } from '../serve/server.ts';
import { MirrorReader } from '../store/mirror-reader.ts';
import type { CommandContext, CommandRegistration } from './context.ts';
import { addSettingFlags, mirrorFlags } from './flags.ts';
import { createLogger } from './logging.ts';

interface ServeFlags {
  readonly host: string;
  readonly port: string;
  readonly token?: string;
}

const portMax = 65_535;
const tokenBytes = 24;

const examples = `
Examples:
  $ docmirror serve                          with a token made for this time
  $ docmirror serve --port 0 --token "$KEY"   on any free port

The first line on standard output ends with the address. It serves until SIGINT or SIGTERM.`;

export const registerServe: CommandRegistration = (program, context) => {
  const command = program
    .command('serve')
    .description("Serve the mirror over HTTP, read-only, in the service's own shape.")
    .option('--host <HOST>', 'the address to listen on', '127.0.0.1')
    .option('--port <PORT>', 'the port to listen on; 0 for any that is free', '8080')
    .option(
      '--token <TOKEN>',
      'what clients must send as bearer token (default: made anew and shown at each start)',
    )
    .addHelpText('after', examples);
  addSettingFlags(command, mirrorFlags).action(() => serve(command, context));
};

async function serve(command: Command, context: CommandContext): Promise<void> {
  const flags = command.opts<ServeFlags>();
  const config = resolveConfig(command.opts(), context.environment);
  const port = wholeNumber('--port', flags.port, 0, portMax);
  // Node takes an empty host for all addresses of the machine.
  if (flags.host.trim() === '') throw new UsageError('--host: it is empty');
  const token = flags.token === undefined ? newToken() : checkToken('--token', flags.token);
  const logger = await createLogger(config.logLevel, context.stderr.isTTY);
  const source = MirrorReader.open(config.database);
  try {
    const onFault = (error: unknown) => logger.error({ err: error }, 'A request failed.');
    const server = await startServer({ source, host: flags.host.trim(), port, token, onFault });
    context.stdout.write(`docmirror serves ${server.url}\n`);
    context.stderr.write(welcome(server.url, flags.token === undefined ? token : null));
    await aborted(context.signal).finally(() => server.close());
  } finally {
    source.close();
  }
  const reason: unknown = context.signal.reason;
  if (reason instanceof CancelledError) context.setExitCode(reason.exitCode);
}

function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

/** What a person needs to try it; a token that the user chose is never shown. */
function welcome(url: string, madeToken: string | null): string {
  const path = lists[0]?.path ?? '';
  const lines = [
    `Serving ${url}, read-only, until Ctrl+C.`,
    ...(isLoopback(url)
      ? []
      : ['Other machines can reach it, and the token crosses the network in the clear.']),
    ...(madeToken === null ? [] : [`Token, for this time only: ${madeToken}`]),
    `Try: curl -H "Authorization: Bearer ${madeToken ?? '$TOKEN'}" "${url}${path}?pageSize=3"`,
  ];
  return `${lines.join('\n')}\n`;
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname.startsWith('127.') || hostname === '[::1]';
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
