import { settings } from '../../config/settings.ts';
import type { ArgumentEntry, FlagEntry, Offered } from '../table/entry.ts';
import { envFileFlag } from '../table/shared-flags.ts';
import { commandTable, groups, type NamedCommand } from '../table/table.ts';

/** What may stand where the cursor is. */
export interface Candidates {
  /** What the shell, or the mirror, has to offer besides. */
  readonly offered: 'files' | 'folders' | 'runs' | null;
  readonly values: readonly string[];
}

/** A flag as far as completion goes. */
type Flag = Pick<FlagEntry, 'flag' | 'valueName' | 'choices' | 'offers'>;

/**
 * What may stand in the place of the last word, as far as it has been typed.
 *
 * @param words those after `docmirror`, up to the cursor; the last one may be empty.
 */
export function candidates(words: readonly string[]): Candidates {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const command = commandOf(before);
  if (command === null) return starting(typed, nextWords(before));
  const flags = flagsOf(command);
  const last = flags.find(({ flag }) => flag === before.at(-1));
  if (last?.valueName !== undefined) return starting(typed, last.choices ?? last.offers);
  if (typed.startsWith('-')) return starting(typed, [...flags.map(({ flag }) => flag), '--help']);
  return starting(typed, argumentAt(command, before)?.offers);
}

function starting(typed: string, offers: Offered | undefined): Candidates {
  if (typeof offers === 'string') return { offered: offers, values: [] };
  return { offered: null, values: (offers ?? []).filter(value => value.startsWith(typed)) };
}

/** The command that these words begin with; null where they name none yet. */
function commandOf(words: readonly string[]): NamedCommand | null {
  return (
    commandTable.find(({ name }) => name.split(' ').every((word, position) => words[position] === word)) ??
    null
  );
}

/** The words that may follow before a command is named. */
function nextWords(before: readonly string[]): string[] {
  const [group] = before;
  if (group === undefined) {
    const names = commandTable.map(({ name }) => name.split(' ')[0] ?? name);
    return [...new Set(names), '--help', '--version'];
  }
  const isGroup = before.length === 1 && group in groups;
  if (!isGroup) return [];
  return commandTable
    .filter(({ name }) => name.startsWith(`${group} `))
    .map(({ name }) => name.slice(group.length + 1));
}

/** All flags of a command, those of its settings with it. */
function flagsOf(command: NamedCommand): Flag[] {
  const ofSettings = command.settings.map((name): Flag => {
    const { flag, valueName } = settings[name];
    if (valueName === null) return { flag };
    return { flag, valueName, ...(valueName === 'FILE' ? { offers: 'files' } : {}) };
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
