import type { Command } from 'commander';
import { durationMs, resolveConfig } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { bytesText } from '../render/numbers.ts';
import { FileWriteError, writeWhole } from '../store/file/atomic-file.ts';
import type { CommandContext } from './context.ts';
import { makeReport } from './make-report.ts';

interface ReportFlags {
  readonly out: string;
  readonly maxAge?: string;
}

/** `docmirror report`; its flags stand in the table of commands. */
export async function report(command: Command, { environment, stdout }: CommandContext): Promise<void> {
  const flags = command.opts<ReportFlags>();
  const config = resolveConfig(command.opts(), environment);
  const maxAgeMs = flags.maxAge === undefined ? null : durationMs('--max-age', flags.maxAge);
  const { html } = await makeReport(config.database, maxAgeMs, null);
  replace(flags.out, html);
  stdout.write(`Wrote ${printable(flags.out)} (${bytesText(Buffer.byteLength(html))}).\n`);
}

/** Nobody ever opens half a report. */
function replace(path: string, text: string): void {
  try {
    writeWhole(path, text, { what: 'a report', beginning: /^<!doctype html>.*docmirror/is });
  } catch (error) {
    if (!(error instanceof FileWriteError && error.isOfPath)) throw error;
    throw new UsageError(`--out: ${path} can't be written (${error.reason}).`, { cause: error });
  }
}
