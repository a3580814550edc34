import type { SettingName } from '../config/settings.ts';
import { keptResources, resourceNames } from '../contract/lists.ts';
import { choicesOf } from './flags.ts';

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
