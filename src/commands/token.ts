import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as parse from '../config/parse.ts';
import { type Environment, named, type ServiceConfig } from '../config/resolve.ts';
import { laterPerhaps, readSecretFile } from '../config/small-file.ts';
import { UsageError } from '../errors.ts';

/** Gets the service's token from the source that the settings name. A file is read, or a command run, again each time. */
export async function readToken(token: ServiceConfig['token'], signal: AbortSignal): Promise<string> {
  if ('text' in token) return token.text;
  try {
    if ('file' in token) return readTokenFile('DOCMIRROR_TOKEN_FILE', token.file);
    return await runTokenCommand(token, signal);
  } catch (error) {
    throw laterPerhaps(error);
  }
}

/** Reads a token from its file; an error names the flag or variable and never shows the token. */
export function readTokenFile(from: string, path: string): string {
  const text = readSecretFile(`${from}: `, path);
  return named(`${from}: ${path}`, () => parse.token(text));
}

/** The longest time for the command, in milliseconds. */
const commandMsMax = 30_000;
/** The longest output, of either stream, in bytes. */
const outputBytesMax = 1024 * 1024;

const name = 'DOCMIRROR_TOKEN_COMMAND';

/** Runs the command that prints the token, for at most `timeoutMs`. Its output is never shown. */
export async function runTokenCommand(
  { command, environment }: { readonly command: string; readonly environment: Environment },
  signal: AbortSignal,
  timeoutMs = commandMsMax,
): Promise<string> {
  const limits = { timeout: timeoutMs, maxBuffer: outputBytesMax, killSignal: 'SIGKILL' } as const;
  const running = promisify(execFile)('sh', ['-c', command], { ...limits, env: environment, signal });
  running.child.stdin?.end();
  const { stdout } = await running.catch(({ killed, code }) => {
    signal.throwIfAborted();
    const ended = killed ? `no end within ${timeoutMs / 1000} s` : 'ended by a signal';
    const how = typeof code === 'number' ? `exit code ${code}` : (code ?? ended);
    const advice = 'What it says is not shown here, so run it by hand.';
    throw new UsageError(`${name}: the command failed (${how}). ${advice}`);
  });
  if (stdout.trim() === '') throw new UsageError(`${name}: the command printed nothing.`);
  return named(name, () => parse.token(stdout));
}
