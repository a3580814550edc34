import { type Command, Option } from 'commander';
import { type SettingName, settings } from '../config/settings.ts';

/** Adds the flags of these settings to a command; defaults and checks stay with the settings. */
export function addSettingFlags(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const { variable, flag, valueName, default: fallback, help } = settings[name];
    const value = valueName === null ? '' : ` <${valueName}>`;
    const isPlain = fallback === null || valueName === null;
    const note = isPlain ? `[${variable}]` : `[${variable}, default ${fallback}]`;
    command.addOption(new Option(`${flag}${value}`, `${help} ${note}`));
  }
  return command;
}

/** The flag that every command has: a file of settings, which lies below the environment. */
export function envFileOption(): Option {
  return new Option('--env-file <FILE>', 'settings as lines NAME=value; the environment goes before it');
}

/** The settings that every command has. */
export const mirrorFlags: readonly SettingName[] = ['database', 'logLevel'];

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
  'retries',
  'maxPages',
];

/** The settings of commands that bring the mirror up to date. */
export const runFlags: readonly SettingName[] = [
  ...serviceFlags,
  'fullEveryMs',
  'maxRemovals',
  'keepHistoryMs',
  'actor',
  'signingKeyFile',
];
