import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { checkToken, type Environment, type ServiceConfig } from '../config/resolve.ts';
import { nameOfSecretFile, readSmallFile } from '../config/small-file.ts';
import { codeOf, TokenUnavailableError, UsageError } from '../errors.ts';

/** The longest token, with spaces around it, in bytes. */
const tokenBytesMax = 16 * 1024;

/**
 * Gets the service's token from the source that the settings name. A file is read, or a command run, again each time.
 *
 * @throws TokenUnavailableError that names the setting; the token is never shown.
 */
export async function readToken(token: ServiceConfig['token'], signal: AbortSignal): Promise<string> {
  if ('text' in token) return token.text;
  try {
    if ('file' in token) return await readTokenFile('DOCMIRROR_TOKEN_FILE', token.file);
    return await runTokenCommand(token, signal);
  } catch (error) {
    // The settings are right: the file or command can work again at the next run.
    if (error instanceof UsageError) throw new TokenUnavailableError(error.message, { cause: error });
    throw error;
  }
}

/**
 * Reads a token from its file.
 *
 * @throws UsageError that names the flag or variable; the token is never shown.
 */
export async function readTokenFile(from: string, path: string): Promise<string> {
  const text = readSmallFile(`${from}: `, path, tokenBytesMax, nameOfSecretFile(path));
  return checkToken(`${from}: ${path}`, text);
}

/** The longest time for the command, in milliseconds. */
const commandMsMax = 30_000;
/** The longest output, in characters. */
const outputMax = 16 * 1024;

const name = 'DOCMIRROR_TOKEN_COMMAND';

/** A command for the shell, its variables, and the folder that it runs in; an empty one is that of the process. */
interface TokenCommand {
  readonly command: string;
  readonly environment: Environment;
  readonly folder: string;
}

/**
 * Runs the command that prints the token. The command and all processes that it started end within `timeoutMs`.
 *
 * @throws UsageError if it fails, hangs, or does not print exactly one line; its output is never shown.
 */
export async function runTokenCommand(
  { command, environment, folder }: TokenCommand,
  signal: AbortSignal,
  timeoutMs = commandMsMax,
): Promise<string> {
  signal.throwIfAborted();
  // In a group of its own, all its processes can be ended with it: one that has its output open would keep the run waiting.
  const child = spawn('sh', ['-c', command], {
    env: environment,
    ...(folder !== '' && { cwd: folder }),
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const endAll = () => {
    try {
      process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
    } catch {
      // All of them have ended already.
    }
  };
  const deadline = AbortSignal.timeout(timeoutMs);
  AbortSignal.any([signal, deadline]).addEventListener('abort', endAll);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(0, outputMax + 1);
    if (text.length > outputMax) endAll();
  });
  child.once('exit', endAll);
  const [code] = await once(child, 'close').catch((error: unknown) => {
    throw new UsageError(`${name}: "sh" can't be started (${codeOf(error) ?? 'no reason given'}).`);
  });
  signal.throwIfAborted();
  const fault = faultOf(text, code, deadline.aborted ? timeoutMs : null);
  if (fault !== null) throw new UsageError(`${name}: the command ${fault}`);
  return checkToken(name, text);
}

function faultOf(text: string, code: number | null, timeoutMs: number | null): string | null {
  if (timeoutMs !== null) return `did not end within ${timeoutMs / 1000} s.`;
  if (text.length > outputMax) return `printed more than ${outputMax / 1024} KiB.`;
  const how = code === null ? 'ended by a signal' : `exit code ${code}`;
  if (code !== 0) return `failed (${how}). What it says is not shown here, so run it by hand.`;
  const lines = text.trim().split('\n');
  if (lines.length > 1) return `printed ${lines.length} lines; only the token must be printed.`;
  return lines[0] === '' ? 'printed nothing.' : null;
}
