import type { Command } from 'commander';
import { durationMs, resolveConfig } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import { count } from '../render/numbers.ts';
import { FileWriteError, writeWhole } from '../store/file/atomic-file.ts';
import { version } from '../version.ts';
import type { CommandContext, CommandRegistration } from './context.ts';
import { addSettingFlags, mirrorFlags } from './flags.ts';

interface ReportFlags {
  readonly out: string;
  readonly maxAge?: string;
}

const examples = `
Examples:
  $ docmirror report                                  docmirror-report.html
  $ docmirror report --out /srv/www/docmirror.html --max-age 26h

The file needs nothing else: no network, no scripts. It holds names and titles of the service's records, so share it with
those who may see these.`;

/** Registers `report`: one self-contained HTML file. */
export const registerReport: CommandRegistration = (program, context) => {
  const command = program
    .command('report')
    .description('Write one HTML file that shows it all: freshness, volumes, flows, runs, latest changes.')
    .option('--out <FILE>', 'the file to write; it is replaced in one step', 'docmirror-report.html')
    .option('--max-age <TIME>', 'point out lists that have had no completed run for longer, such as 26h')
    .addHelpText('after', examples);
  addSettingFlags(command, mirrorFlags).action(() => report(command, context));
};

async function report(command: Command, { environment, stdout }: CommandContext): Promise<void> {
  const flags = command.opts<ReportFlags>();
  const config = resolveConfig(command.opts(), environment);
  const maxAgeMs = flags.maxAge === undefined ? null : durationMs('--max-age', flags.maxAge);
  const data = await readData(config.database);
  const { reportPage } = await import('../render/report/page.ts');
  const { html } = await reportPage(data, { nowMs: Date.now(), maxAgeMs, version });
  replace(flags.out, html);
  stdout.write(`Wrote ${flags.out} (${count(Math.ceil(Buffer.byteLength(html) / 1024))} KiB).\n`);
}

async function readData(database: string) {
  const { ReportReader } = await import('../store/read/report-reader.ts');
  const reader = ReportReader.open(database);
  try {
    const reading = reader.report();
    for (;;) {
      const { done, value } = reading.next();
      if (done) return value;
    }
  } finally {
    reader.close();
  }
}

/** Nobody ever opens half a report. */
function replace(path: string, text: string): void {
  try {
    writeWhole(path, text);
  } catch (error) {
    if (!(error instanceof FileWriteError)) throw error;
    throw new UsageError(`--out: ${path} can't be written (${error.reason}).`, { cause: error });
  }
}
