import type { SettingName } from '../config/settings.ts';
import { keptResources, resourceNames } from '../contract/lists.ts';
import { UsageError } from '../errors.ts';
import { choice, choicesOf, file, yes } from './flags.ts';

/** One or, repeated, several of the lists. */
export const listFlag = choicesOf(
  resourceNames,
  'NAME',
  `only this list; repeat it for more (${resourceNames.join(', ')})`,
);

/** One or, repeated, several of the lists and connections. */
export const resourceFlag = choicesOf(
  keptResources,
  'NAME',
  `only this; repeat it for more (${keptResources.join(', ')})`,
);

/** The flags by which a program reads all changes, each once. */
export const cursorFlags = {
  cursor: file('changes after the cursor in this file; --since-run overrides it, to resume', {
    conflicts: ['--since', '--resource'],
  }),
  next: file('with --cursor: write the cursor for the next time to this file'),
  from: choice(['first', 'now'], 'WHERE', 'with --cursor: where to begin if the file does not exist yet'),
};

/** The flag of the commands that write CSV. */
export const spreadsheetFlag = yes(
  'with --format csv: a byte order mark, times as a spreadsheet reads them (UTC, to the second), and an apostrophe before texts that it would run as formulas; not for programs',
);

/** @throws UsageError if --spreadsheet is used with another format. */
export function assertForCsv({ format, spreadsheet }: { format: string; spreadsheet: boolean }): void {
  if (spreadsheet && format !== 'csv') throw new UsageError('--spreadsheet goes with --format csv.');
}

/** The settings that every command has. */
export const mirrorSettings = ['database', 'labels', 'logLevel'] as const satisfies readonly SettingName[];

/** The settings of commands that read the service. */
export const serviceSettings = [
  'baseUrl',
  'allowHttp',
  'token',
  'tokenFile',
  'tokenCommand',
  'pageSize',
  'concurrency',
  'timeoutMs',
  'giveUpAfterMs',
  'maxRequestsPerSecond',
  'maxPages',
] as const satisfies readonly SettingName[];

/** The settings of commands that send pings and write metrics when they end. */
export const notifierSettings = ['pingUrl', 'metricsFile'] as const satisfies readonly SettingName[];

/** The settings of commands that bring the mirror up to date. */
export const runSettings = [
  ...serviceSettings,
  'fullEveryMs',
  'maxRemovals',
  'keepHistoryMs',
  'actor',
  'deadlineMs',
  'waitMs',
  'trigger',
  'share',
  'shareSql',
  ...notifierSettings,
] as const satisfies readonly SettingName[];
