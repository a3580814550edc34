import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import type { Command } from 'commander';
import { resolveConfig } from '../config/resolve.ts';
import { readSmallFile } from '../config/small-file.ts';
import { DocmirrorError, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { bytesText, counted } from '../render/numbers.ts';
import type { QueryFormat } from '../render/query-result.ts';
import { AtomicFile } from '../store/file/atomic-file.ts';
import { type Place, Query, type Statement, StatementError } from '../store/read/query.ts';
import type { CommandContext } from './context.ts';
import { assertNamed, naming } from './named-file.ts';
import type { QueryEnd, QueryTask } from './query-process.ts';
import { passOn } from './stream-out.ts';
import { terminalWidth } from './terminal-width.ts';

interface QueryFlags {
  readonly format: QueryFormat;
  readonly file?: string;
  readonly param?: readonly string[];
  readonly out?: string;
}

/** `docmirror query`; its flags are in the table of commands. */
export async function query(command: Command, context: CommandContext): Promise<void> {
  const { environment, stdout, stderr } = context;
  const flags = command.opts<QueryFlags>();
  const { database } = resolveConfig(command.opts(), environment);
  const { format, out } = flags;
  if (out !== undefined) assertNamed('--out', out);
  if (format === 'parquet' && out === undefined && stdout.isTTY)
    throw new UsageError('--format parquet is not for a terminal. Name a file with --out.');
  const statement = { sql: await sqlOf(command.args, flags.file), params: paramsOf(flags.param ?? []) };
  try {
    assertCanRun(database, statement, format);
  } catch (error) {
    if (error instanceof StatementError && error.place !== null) stderr.write(excerpt(error.place));
    throw error;
  }
  const width = out === undefined && stdout.columns ? terminalWidth(stdout) : null;
  const task: QueryTask = { database, statement, format, width };
  if (out === undefined) await passOn(stdout, resultOf(task, context.signal), context.signal);
  else stdout.write(await writtenTo(out, task, context.signal));
}

const sqlBytesMax = 1024 * 1024;

async function sqlOf([argument]: readonly string[], file: string | undefined): Promise<string> {
  if (argument !== undefined && file !== undefined)
    throw new UsageError('Give the statement as an argument or with --file, not both.');
  if (file !== undefined) return (await readSmallFile('--file: ', file, sqlBytesMax)).replace(/^\ufeff/, '');
  if (argument !== undefined) return argument;
  throw new UsageError('Give a statement, as in: docmirror query "SELECT * FROM sync_status"');
}

function paramsOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map(text => {
      const [, name, value] = /^[:@$]?(\w+)=(.*)$/s.exec(text) ?? [];
      if (name === undefined || value === undefined)
        throw new UsageError(`--param: expected NAME=VALUE, got ${JSON.stringify(text)}`);
      return [name, value];
    }),
  );
}

function assertCanRun(database: string, statement: Statement, format: QueryFormat): void {
  using prepared = new Query(database, statement);
  if (format === 'table' || format === 'csv') return;
  const twice = prepared.columns.find((name, at) => prepared.columns.indexOf(name) !== at);
  if (twice !== undefined)
    throw new StatementError(
      `Two columns are named ${JSON.stringify(twice)}, which --format ${format} can't keep apart. Name one of them with AS.`,
    );
}

/** How much of a long line is shown before the error and after it, in characters. */
const excerptLength = 60;

function excerpt({ text, column }: Place): string {
  const from = Math.max(0, column - 1 - excerptLength);
  const shown = printable(text.slice(from, column - 1));
  return `  ${shown}${printable(text.slice(column - 1, column - 1 + excerptLength))}\n  ${' '.repeat(shown.length)}^\n`;
}

async function writtenTo(path: string, task: QueryTask, signal: AbortSignal): Promise<string> {
  const file = naming('--out', path, () => new AtomicFile(path));
  try {
    const result = resultOf(task, signal);
    let next = await result.next();
    for (; !next.done; next = await result.next()) file.write(next.value);
    file.finish();
    file.putInPlace();
    return `${printable(path)}: ${counted(next.value, 'row')}, ${bytesText(file.bytes)}.\n`;
  } finally {
    file.discard();
  }
}

/** Yields the result of a statement, as bytes. Another process runs it, and ends if nobody wants the result. Returns the number of rows. */
async function* resultOf(task: QueryTask, signal: AbortSignal): AsyncGenerator<Buffer, number> {
  const child = fork(new URL(`query-process${extname(import.meta.filename)}`, import.meta.url), {
    execArgv: ['--disable-sigusr1'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  const closed = once(child, 'close');
  try {
    let end: QueryEnd | undefined;
    child.once('message', message => {
      end = message as QueryEnd;
    });
    child.send(task);
    for await (const chunk of child.stdout ?? []) yield chunk;
    const [code, killedBy] = await closed;
    signal.throwIfAborted();
    if (end === undefined)
      throw new DocmirrorError('internal', `The statement's process ended too soon (${killedBy ?? code}).`);
    if ('code' in end) throw new DocmirrorError(end.code, end.message);
    return end.rowCount;
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}
