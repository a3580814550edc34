import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { checkToken, type Environment } from '../config/resolve.ts';
import { codeOf, UsageError } from '../errors.ts';

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
