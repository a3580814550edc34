import type { Command } from 'commander';
import { durationMs, resolveConfig } from '../config/resolve.ts';
import { DocmirrorError, exitCodes, UsageError } from '../errors.ts';
import { isFresh } from '../freshness.ts';
import {
  isFault,
  labelsOf,
  type MirrorFacts,
  mirrorSummaryOf,
  type OverviewRow,
  overviewJson,
  overviewText,
  runJson,
} from '../render/overview.ts';
import { statusJson, statusText } from '../render/status.ts';
import { explainSqliteError } from '../store/file/sqlite-errors.ts';
import { RunReader } from '../store/read/run-reader.ts';
import type { CommandContext } from './context.ts';
import { jsonOutput } from './json-output.ts';
import { terminalWidth } from './terminal-width.ts';
import { readWatchNote } from './watch-note.ts';

interface StatusFlags {
  readonly json?: boolean;
  readonly maxAge?: string;
  readonly strict?: boolean;
  readonly format: 'table' | 'prometheus';
}

/** `docmirror status`; its flags are in the table of commands. */
export async function status(command: Command, context: CommandContext): Promise<void> {
  const flags = command.opts<StatusFlags>();
  if (flags.json && flags.format === 'prometheus')
    throw new UsageError('--json and --format prometheus exclude each other.');
  if (command.args.length > 0) return overview(command, context);
  const { environment, stdout, setExitCode } = context;
  const config = resolveConfig(command.opts(), environment);
  const maxAge =
    flags.maxAge === undefined ? null : { text: flags.maxAge, ms: durationMs('--max-age', flags.maxAge) };
  const facts = readFacts(config.database);
  const { lists, run } = facts;
  const nowMs = Date.now();
  const watch = readWatchNote(config.database);
  const standing = mirrorSummaryOf(facts, nowMs, maxAge?.ms ?? null);
  if (flags.format === 'prometheus') {
    const { metricsText } = await import('./metrics-text.ts');
    stdout.write(await metricsText([{ database: config.database, labels: config.labels }]));
  } else {
    stdout.write(
      flags.json
        ? jsonOutput(statusJson(lists, nowMs, { watch, run: runJson(run), standing }), config.labels)
        : statusText(lists, nowMs, { watch, maxAge, run, width: terminalWidth(stdout) }),
    );
  }
  const isTooOld =
    maxAge !== null && !lists.every(({ lastCompletedAt }) => isFresh(lastCompletedAt, nowMs, maxAge.ms));
  if (isTooOld || (flags.strict && isFault(standing))) setExitCode(exitCodes.difference);
}

/** Many mirrors. A mirror that can't be read has a line, too. */
async function overview(
  command: Command,
  { environment, stdout, setExitCode }: CommandContext,
): Promise<void> {
  const flags = command.opts<StatusFlags>();
  const { labels } = resolveConfig(command.opts(), environment);
  const maxAgeMs = flags.maxAge === undefined ? null : durationMs('--max-age', flags.maxAge);
  const nowMs = Date.now();
  const rows = command.args.map(database => rowOf(database, nowMs, maxAgeMs));
  if (flags.format === 'prometheus') {
    const { metricsText } = await import('./metrics-text.ts');
    const mirrors = rows.map(({ database, facts }) => ({
      database,
      labels: { ...labels, ...labelsOf(facts), mirror: database },
    }));
    stdout.write(await metricsText(mirrors));
  } else if (flags.json) stdout.write(jsonOutput(overviewJson(rows, nowMs), labels));
  else stdout.write(overviewText(rows, nowMs, terminalWidth(stdout)));
  const isOld = (at: string | null) => maxAgeMs !== null && !isFresh(at, nowMs, maxAgeMs);
  const isTooOld = rows.some(({ facts }) => facts?.lists.some(list => isOld(list.lastCompletedAt)));
  if (isTooOld || (flags.strict && rows.some(isFault))) setExitCode(exitCodes.difference);
  else if (rows.some(({ state }) => state === 'unreadable')) setExitCode(exitCodes.failed);
}

function rowOf(database: string, nowMs: number, maxAgeMs: number | null): OverviewRow {
  try {
    const facts = readFacts(database);
    return { database, facts, ...mirrorSummaryOf(facts, nowMs, maxAgeMs) };
  } catch (error) {
    const explained = explainSqliteError(error, database);
    if (!(explained instanceof DocmirrorError)) throw error;
    return { database, facts: null, state: 'unreadable', why: explained.code };
  }
}

function readFacts(database: string): MirrorFacts {
  using reader = new RunReader(database);
  const lists = reader.status();
  return { lists, run: reader.newestRun() };
}
