import { Option } from 'commander';
import { UsageError } from '../errors.ts';

/** The flag of the commands that write CSV. */
export function spreadsheetOption(): Option {
  return new Option(
    '--spreadsheet',
    'with --format csv: an apostrophe before texts that a spreadsheet would run as formulas; not for programs, which read it as part of the text',
  );
}

/** @throws UsageError where it stands beside another format. */
export function isForSpreadsheet(flags: {
  readonly format: string;
  readonly spreadsheet?: boolean;
}): boolean {
  if (flags.spreadsheet && flags.format !== 'csv')
    throw new UsageError('--spreadsheet goes with --format csv.');
  return flags.spreadsheet ?? false;
}
