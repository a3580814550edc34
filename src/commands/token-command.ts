import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { checkToken, type Environment } from '../config/resolve.ts';
import { codeOf, UsageError } from '../errors.ts';

/** The longest time for the command, in milliseconds. */
const commandMsMax = 30_000;
/** How long a process that the command left running can keep its output open, in milliseconds. */
const lingerMsMax = 1_000;
/** The longest output, in bytes. */
const outputBytesMax = 16 * 1024;

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
  // The command gets its own process group, so that its processes can be ended with it. The call execFile ends only the shell, and waits for
  // each process that has the command's output open.
  const child = spawn('sh', ['-c', command], {
    env: environment,
    ...(folder !== '' && { cwd: folder }),
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const deadline = AbortSignal.timeout(timeoutMs);
  const stop = AbortSignal.any([signal, deadline]);
  const end = () => endGroup(child);
  stop.addEventListener('abort', end);
  try {
    const output = await outputOf(child);
    signal.throwIfAborted();
    if (deadline.aborted)
      throw new UsageError(`${name}: the command did not end within ${timeoutMs / 1000} s.`);
    return tokenIn(output);
  } finally {
    stop.removeEventListener('abort', end);
  }
}

/** The output of the command, up to one byte more than is allowed. */
async function outputOf(child: ChildProcess): Promise<{ text: string; code: number | null }> {
  const { stdout } = child;
  let text = '';
  stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(0, outputBytesMax + 1);
    if (text.length > outputBytesMax) endGroup(child);
  });
  child.once('exit', () => setTimeout(() => stdout?.destroy(), lingerMsMax).unref());
  try {
    const [code] = await once(child, 'close');
    return { text, code };
  } catch (error) {
    throw new UsageError(`${name}: "sh" can't be started (${codeOf(error) ?? 'no reason given'}).`);
  }
}

function tokenIn({ text, code }: { text: string; code: number | null }): string {
  if (text.length > outputBytesMax) {
    throw new UsageError(`${name}: the command printed more than ${outputBytesMax / 1024} KiB.`);
  }
  if (code !== 0) {
    const how = code === null ? 'ended by a signal' : `exit code ${code}`;
    throw new UsageError(
      `${name}: the command failed (${how}). What it says is not shown here, so run it by hand.`,
    );
  }
  const lines = text.trim().split('\n');
  if (lines.length > 1) {
    throw new UsageError(
      `${name}: the command printed ${lines.length} lines; only the token must be printed.`,
    );
  }
  if (lines[0] === '') throw new UsageError(`${name}: the command printed nothing.`);
  return checkToken(name, text);
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
