import { type SettingName, settings } from '../../config/settings.ts';
import { keptResources, resourceNames } from '../../contract/lists.ts';
import type { FlagEntry } from './entry.ts';

/** A flag that names a file. */
export function fileFlag(flag: FlagEntry['flag'], help: string): FlagEntry {
  return { flag, valueName: 'FILE', help, offers: 'files' };
}

/** Makes a second use of the flag an error, because the file of the first one would be ignored. */
export function once(flag: FlagEntry): FlagEntry {
  return { ...flag, isOnce: true };
}

/** The flag for the greatest age of a list. Each command decides what to do about an older one. */
export function maxAgeFlag(help: string): FlagEntry {
  return { flag: '--max-age', valueName: 'TIME', help };
}

/** The flag that every command has: a file of settings, which overrides the environment. */
export const envFileFlag = once(
  fileFlag('--env-file', 'settings as lines NAME=value; they count more than the environment'),
);

/** The flags that docmirror has without a command. */
export const aloneFlags = [once(fileFlag(settings.database.flag, settings.database.help)), envFileFlag];

/** One or, repeated, several of the lists. */
export const listFlag: FlagEntry = {
  flag: '--resource',
  valueName: 'NAME',
  help: `only this list; repeat it for more (${resourceNames.join(', ')})`,
  choices: resourceNames,
  isRepeatable: true,
};

/** One or, repeated, several of the lists and connections. */
export const resourceFlag: FlagEntry = {
  flag: '--resource',
  valueName: 'NAME',
  help: `only this; repeat it for more (${keptResources.join(', ')})`,
  choices: keptResources,
  isRepeatable: true,
};

/** The flags by which a program reads all changes, each once. */
export const cursorFlags: readonly FlagEntry[] = [
  {
    ...fileFlag('--cursor', 'changes after the cursor in this file; --since-run overrides it, to resume'),
    conflicts: ['--since', '--resource'],
  },
  fileFlag('--next', 'with --cursor: write the cursor for the next time to this file'),
  {
    flag: '--from',
    valueName: 'WHERE',
    help: 'with --cursor: where to begin if the file does not exist yet',
    choices: ['first', 'now'],
  },
];

/** The flag of the commands that write CSV. */
export const spreadsheetFlag: FlagEntry = {
  flag: '--spreadsheet',
  help: 'with --format csv: a byte order mark, times as a spreadsheet reads them (UTC, to the second), and an apostrophe before texts that it would run as formulas; not for programs',
};

/** The settings that every command has. */
export const mirrorFlags: readonly SettingName[] = ['database', 'labels', 'logLevel'];

/** The settings of commands that read the service. */
export const serviceFlags: readonly SettingName[] = [
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
];

/** The settings of commands that send pings and write metrics when they end. */
export const toldFlags: readonly SettingName[] = ['pingUrl', 'metricsFile'];

/** The settings of commands that bring the mirror up to date. */
export const runFlags: readonly SettingName[] = [
  ...serviceFlags,
  'fullEveryMs',
  'maxRemovals',
  'keepHistoryMs',
  'actor',
  'deadlineMs',
  'waitMs',
  'trigger',
  'share',
  'shareSql',
  ...toldFlags,
];
