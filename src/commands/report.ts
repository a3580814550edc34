import type { Command } from 'commander';
import { durationMs, resolveConfig } from '../config/resolve.ts';
import { printable } from '../printable.ts';
import { bytesText } from '../render/numbers.ts';
import type { CommandContext } from './context.ts';
import { makeReport } from './make-report.ts';
import { writeNamed } from './named-file.ts';

interface ReportFlags {
  readonly out: string;
  readonly maxAge?: string;
  readonly since?: string;
  readonly until?: string;
  readonly title?: string;
}

/** `docmirror report`; its flags are in the table of commands. */
export async function report(command: Command, { environment, stdout }: CommandContext): Promise<void> {
  const flags = command.opts<ReportFlags>();
  const config = resolveConfig(command.opts(), environment);
  const maxAgeMs = flags.maxAge === undefined ? null : durationMs('--max-age', flags.maxAge);
  const { since, until, title } = flags;
  const { html } = await makeReport(config.database, maxAgeMs, null, {
    since,
    until,
    title,
    timezone: config.timezone,
  });
  writeNamed('--out', flags.out, html);
  stdout.write(`Wrote ${printable(flags.out)} (${bytesText(Buffer.byteLength(html))}).\n`);
}
