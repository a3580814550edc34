import { UsageError } from '../errors.ts';

/**
 * True where texts that a spreadsheet would run are to be made harmless.
 *
 * @throws UsageError where it stands beside another format.
 */
export function isForSpreadsheet(flags: {
  readonly format: string;
  readonly spreadsheet?: boolean;
}): boolean {
  if (flags.spreadsheet && flags.format !== 'csv')
    throw new UsageError('--spreadsheet goes with --format csv.');
  return flags.spreadsheet ?? false;
}
