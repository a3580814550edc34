import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import leven from 'leven';
import { settings } from '../config/settings.ts';
import type { CommandContext } from './context.ts';
import { bodies } from './index.ts';
import type { ArgumentEntry, FlagEntry } from './table/entry.ts';
import { helpAfterFlags, settingHelp } from './table/help.ts';
import { aloneFlags, envFileFlag } from './table/shared-flags.ts';
import { commandTable, groups, type NamedCommand } from './table/table.ts';
import { terminalWidth } from './terminal-width.ts';
import { told } from './told.ts';

/**
 * Adds all commands of the table to the program. The code of a command is loaded when the command is run.
 *
 * @param words the words of the command line: only commands that they can name get their flags. Without it, all do.
 */
export function registerCommands(program: Command, context: CommandContext, words?: readonly string[]): void {
  for (const entry of commandTable) {
    const [head = '', inner] = entry.name.split(' ');
    const parent = inner === undefined ? program : groupIn(program, head);
    const command = parent.command(inner ?? head).description(entry.description);
    if (words?.includes(head) !== false) complete(command, entry, context);
  }
}

/** True if a word names a command or a group of commands. */
export function isCommand(word: string): boolean {
  return commandTable.some(({ name }) => name.split(' ')[0] === word);
}

/** True if no command is named: the command line is empty, or begins with a flag of `docmirror` itself. */
export function isAlone([first]: readonly string[]): boolean {
  return first === undefined || aloneFlags.some(({ flag }) => first.split('=')[0] === flag);
}

/** Adds the action without a command: it shows the state of the mirror or, if there is none yet, the next steps. */
export function registerAlone(program: Command, context: CommandContext): void {
  for (const flag of aloneFlags) program.addOption(optionOf(flag));
  program
    // A command that comes too late, with flags of its own, gets a clear message.
    .allowExcessArguments()
    .passThroughOptions()
    .action(async () => (await import('./default-command.ts')).defaultCommand(program, context));
}

/** The command that only groups others; in the help it has the place of its first one in the table. */
function groupIn(program: Command, name: string): Command {
  const there = program.commands.find(command => command.name() === name);
  return there ?? program.command(name).description(groups[name] ?? '');
}

/** Gives a command its arguments, flags, help and body. */
function complete(command: Command, entry: NamedCommand, context: CommandContext): void {
  for (const argument of entry.arguments ?? []) command.addArgument(argumentOf(argument));
  for (const flag of entry.flags) command.addOption(optionOf(flag));
  for (const name of entry.settings) {
    const { flag, valueName, isOnce } = settings[name];
    const option = new Option(withValue(flag, valueName), settingHelp(name));
    command.addOption(isOnce ? option.argParser(once) : option);
  }
  command
    .addOption(optionOf(envFileFlag))
    .addHelpText('after', () => helpAfterFlags(entry, terminalWidth(context.stdout)))
    .action(async () => told(entry.name, await bodies[entry.name]())(command, context));
}

function argumentOf({ name, help, isRequired, isRepeatable, choices }: ArgumentEntry): Argument {
  const word = isRepeatable ? `${name}...` : name;
  const argument = new Argument(isRequired ? `<${word}>` : `[${word}]`, help);
  if (choices === undefined) return argument;
  return argument.argParser((value: string) => {
    assertChosen(value, choices);
    return value;
  });
}

function optionOf(entry: FlagEntry): Option {
  const { flag, valueName, help, choices, isRepeatable, isOnce, isRequired, conflicts } = entry;
  const option = new Option(withValue(flag, valueName ?? null), choicesIn(entry) ?? help);
  if (entry.default !== undefined) option.default(entry.default);
  if (isRequired) option.makeOptionMandatory();
  option.conflicts((conflicts ?? []).map(other => new Option(other).attributeName()));
  if (isOnce) return option.argParser(once);
  if (choices === undefined && !isRepeatable) return option;
  return option.argParser((value: string, before: unknown) => {
    if (choices !== undefined) assertChosen(value, choices);
    return isRepeatable ? [...(Array.isArray(before) ? before : []), value] : value;
  });
}

function once(value: string, before: unknown): string {
  if (before !== undefined)
    throw new InvalidArgumentError('It can be given once; the other value would be ignored.');
  return value;
}

function choicesIn({ help, choices, isRepeatable }: FlagEntry): string | null {
  // The help of a repeatable flag already names its choices.
  return choices === undefined || isRepeatable ? null : `${help} (${choices.join(', ')})`;
}

function withValue(flag: string, valueName: string | null): string {
  return valueName === null ? flag : `${flag} <${valueName}>`;
}

/** A word can be a typing error if at most this many letters differ, and at most half of a short word. */
const slipLettersMax = 3;

function assertChosen(value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  const [nearest] = choices
    .map(choice => ({ choice, letters: leven(value, choice, { maxDistance: slipLettersMax + 1 }) }))
    .filter(({ choice, letters }) => letters <= Math.min(slipLettersMax, choice.length / 2))
    .toSorted((a, b) => a.letters - b.letters);
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest.choice}?`;
  throw new InvalidArgumentError(`Expected one of ${choices.join(', ')}.${hint}`);
}
