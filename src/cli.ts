#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import type { CommandContext } from './commands/context.ts';
import { registerCommands } from './commands/index.ts';
import { CancelledError, DocmirrorError, exitCodes } from './errors.ts';
import { keepSmall, quickStart } from './quick-start.ts';
import { version } from './version.ts';

quickStart();
keepSmall();

const stopping = new AbortController();

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    const error = new CancelledError(signal);
    if (stopping.signal.aborted) process.exit(error.exitCode);
    stopping.abort(error);
  });
}

// A reader that has seen enough, such as `head`, is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(process.exitCode ?? exitCodes.done);
});

const context: CommandContext = {
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stopping.signal,
  setExitCode: code => {
    process.exitCode = code;
  },
};

const program = new Command('docmirror')
  .description('Keeps a complete, provable copy of a Document Export Service in one SQLite file.')
  .version(version)
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'docmirror: ')) })
  .exitOverride();

try {
  await registerCommands(program, context, process.argv[2]);
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

/** Says what went wrong, where commander has not said it already, and returns the exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (error instanceof DocmirrorError) {
    process.stderr.write(`docmirror: ${error.message}\n`);
    return error.exitCode;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`docmirror: this is a fault of docmirror itself, please report it: ${detail}\n`);
  return exitCodes.failed;
}
