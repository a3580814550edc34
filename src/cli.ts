#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import type { CommandContext } from './commands/context.ts';
import { registerCommands } from './commands/index.ts';
import { withEnvFile } from './config/env-file.ts';
import type { Environment } from './config/resolve.ts';
import { CancelledError, DocmirrorError, exitCodes } from './errors.ts';
import { printable } from './printable.ts';
import { keepSmall, quickStart } from './quick-start.ts';
import { Secrets } from './service/secrets.ts';
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

let environment: Environment = process.env;

const context: CommandContext = {
  get environment() {
    return environment;
  },
  secrets: new Secrets(),
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
  .configureOutput({
    outputError: (text, write) => write(withoutValues(text.replace(/^error: /, 'docmirror: '))),
  })
  .exitOverride()
  .hook('preAction', async (_program, command) => {
    const { envFile } = command.opts<{ envFile?: string }>();
    if (envFile !== undefined) environment = await withEnvFile(envFile, process.env);
  });

try {
  await registerCommands(program, context, process.argv[2]);
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

/** What the argument parser says of a flag that it does not know, without its value: `--tokn=…` may hold a token. */
function withoutValues(text: string): string {
  return text.replace(/(--[\w-]+)=[^'\n]*/g, '$1=…');
}

/** Says what went wrong, where commander has not said it already, and returns the exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (error instanceof DocmirrorError) {
    process.stderr.write(`docmirror: ${printable(context.secrets.redact(error.message))}\n`);
    return error.exitCode;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const shown = context.secrets.redact(detail).split('\n').map(printable).join('\n');
  process.stderr.write(`docmirror: this is a fault of docmirror itself, please report it: ${shown}\n`);
  return exitCodes.failed;
}
