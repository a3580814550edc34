import { settings } from '../../config/settings.ts';
import type { ArgumentEntry, FlagEntry, Offered } from '../table/entry.ts';
import { aloneFlags, envFileFlag } from '../table/shared-flags.ts';
import { commandTable, groups, type NamedCommand } from '../table/table.ts';

/** The words that fit at the cursor. */
interface Candidates {
  /** More words, from the shell or from the mirror. */
  readonly offered: 'files' | 'folders' | 'runs' | null;
  readonly values: readonly string[];
}

/** A flag as far as completion goes. */
type Flag = Pick<FlagEntry, 'flag' | 'valueName' | 'choices' | 'offers'>;

/**
 * The words that fit in the place of the last word, as far as it has been typed.
 *
 * @param given the words after `docmirror`, up to the cursor; the last one can be empty.
 */
export function candidates(given: readonly string[]): Candidates {
  const words = splitWords(given);
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const command = commandOf(before);
  const flags = command === null ? aloneFlags : flagsOf(command);
  const last = flags.find(({ flag }) => flag === before.at(-1));
  if (last?.valueName !== undefined) return starting(typed, last.choices ?? last.offers);
  if (command === null) return starting(typed, nextWords(before));
  if (typed.startsWith('-')) return starting(typed, [...flags.map(({ flag }) => flag), '--help']);
  const argument = argumentAt(command, before);
  return starting(typed, argument?.choices ?? argument?.offers);
}

/** Words with `--flag=value` as two of them. */
export function splitWords(words: readonly string[]): string[] {
  return words.flatMap(word => {
    const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    return flag === undefined || value === undefined ? [word] : [flag, value];
  });
}

function starting(typed: string, offers: Offered | undefined): Candidates {
  if (typeof offers === 'string') return { offered: offers, values: [] };
  return { offered: null, values: (offers ?? []).filter(value => value.startsWith(typed)) };
}

/** The command that these words begin with; null if they name none yet. */
function commandOf(words: readonly string[]): NamedCommand | null {
  return (
    commandTable.find(({ name }) => name.split(' ').every((word, position) => words[position] === word)) ??
    null
  );
}

/** The words that can follow before a command is named. */
function nextWords(before: readonly string[]): string[] {
  const [group] = before;
  const names = [...new Set(commandTable.map(({ name }) => name.split(' ')[0] ?? name))];
  if (group === undefined)
    return [...names, 'help', ...aloneFlags.map(({ flag }) => flag), '--help', '--version'];
  if (group === 'help' && before.length === 1) return names;
  const isGroup = before.length === 1 && group in groups;
  if (!isGroup) return [];
  return commandTable
    .filter(({ name }) => name.startsWith(`${group} `))
    .map(({ name }) => name.slice(group.length + 1));
}

/** The words that fit a setting's value of this name. */
const offersFor: Readonly<Record<string, Offered>> = {
  FILE: 'files',
  LEVEL: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
};

/** All flags of a command, those of its settings with it. */
function flagsOf(command: NamedCommand): Flag[] {
  const ofSettings = command.settings.map((name): Flag => {
    const { flag, valueName } = settings[name];
    if (valueName === null) return { flag };
    const offers = offersFor[valueName];
    return { flag, valueName, ...(offers !== undefined && { offers }) };
  });
  return [...command.flags, ...ofSettings, envFileFlag];
}

/** The argument that the next word would be. */
function argumentAt(command: NamedCommand, before: readonly string[]): ArgumentEntry | undefined {
  const withValue = flagsOf(command).filter(({ valueName }) => valueName !== undefined);
  const isValue = (previous: string | undefined) => withValue.some(({ flag }) => flag === previous);
  const given = before
    .slice(command.name.split(' ').length)
    .filter((word, position, rest) => !word.startsWith('-') && !isValue(rest[position - 1]));
  return command.arguments?.[given.length];
}
