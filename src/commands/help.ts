import { adviceOn, UsageError } from '../errors.ts';
import { wrap } from '../render/wrap.ts';
import { type Command, flagsOf } from './command.ts';
import type { FlagHelp } from './flags.ts';
import { type Found, findCommand, groups, purpose, wordsIn } from './index.ts';

/** The help that a command line asks for; null if it asks for none. */
export async function helpFor(words: readonly string[], width: number): Promise<string | null> {
  if (words[0] !== 'help' && !hasFlag(words, '--help') && !hasFlag(words, '-h')) return null;
  const subject = (words[0] === 'help' ? words.slice(1) : words).filter(word => !word.startsWith('-'));
  const [head] = subject;
  if (head === undefined) return `${listHelp('', purpose, width)}\n${more}`;
  const advice = adviceOn(head);
  if (advice !== null) return `${advice}\n`;
  const found = findCommand(subject);
  if (found !== null) return commandHelp(found, await found.load(), width);
  const about = groups[head];
  if (about === undefined || subject.length > 1) throw unknownCommand(subject);
  return listHelp(head, about, width);
}

/** Whether a flag is among words, before a `--`. */
export function hasFlag(words: readonly string[], flag: string): boolean {
  return [...words, '--'].slice(0, [...words, '--'].indexOf('--')).includes(flag);
}

/** Says that words name no command, and which one they might mean. */
export function unknownCommand([head = '', inner]: readonly string[]): UsageError {
  if (groups[head] === undefined)
    return new UsageError(`unknown command '${head}'.${nearest(head, [...wordsIn(''), 'help'])}`);
  if (inner === undefined)
    return new UsageError(`"docmirror ${head}" needs one more word: ${wordsIn(head).join(', ')}.`);
  return new UsageError(`unknown command '${head} ${inner}'.${nearest(inner, wordsIn(head))}`);
}

/** A question after a message about a word that is unknown; empty if no known word has its letters or its beginning. */
export function nearest(word: string, known: readonly string[]): string {
  const letters = (text: string) => [...text.replaceAll('-', '')].sort().join('');
  const beginning = word.slice(0, Math.max(4, word.length - 2));
  const found = known.find(each => letters(each) === letters(word) || each.startsWith(beginning));
  return found === undefined ? '' : ` Did you mean ${found}?`;
}

const more = `Without a command, docmirror shows the state of the mirror; --database and --env-file work there, too.
An error ends with its code in brackets: "docmirror help CODE" says what it means and what to do.
`;

const helpText = 'display help for command';

/** The help of a group of commands, or of docmirror itself, whose name is empty. */
function listHelp(group: string, about: string, width: number): string {
  const rows = wordsIn(group).map(word => {
    const found = findCommand(group === '' ? [word] : [group, word]);
    return [word, found?.description ?? groups[word] ?? ''] as const;
  });
  const lines = [
    ...start(`${group} [options] [command]`, about, width),
    ...columns('Options', group === '' ? [['-V, --version', 'output the version number']] : [], width),
    ...columns('Commands', [...rows, ['help', helpText]], width),
  ];
  return `${lines.join('\n')}\n`;
}

/** The help of a command; `width` is that of the terminal, in characters, and infinite without one. */
export function commandHelp(
  { name, description }: Omit<Found, 'load'>,
  command: Command,
  width: number,
): string {
  const args = Object.values(command.arguments ?? {});
  const flags = flagsOf(command).map(({ name: flag, flag: about }) => {
    const term = about.valueName === undefined ? flag : `${flag} <${about.valueName}>`;
    return [term, wordsOf(about)] as const;
  });
  const usage = [name, '[options]', ...args.map(argumentWord)].join(' ');
  const lines = [
    ...start(usage, description, width),
    ...columns(
      'Arguments',
      args.map(({ valueName = '', help }) => [valueName, help]),
      width,
    ),
    ...columns('Options', [...flags, ['-h, --help', helpText]], width),
    ...endOf(command, width),
  ];
  return `${lines.join('\n')}\n`;
}

/** The name of an argument in the help, in brackets if it can be left out. */
export function argumentWord({ valueName = '', isRequired, isRepeatable }: FlagHelp): string {
  const word = isRepeatable ? `${valueName}...` : valueName;
  return isRequired ? `<${word}>` : `[${word}]`;
}

function wordsOf({ help, choices, isRepeatable, default: fallback }: FlagHelp): string {
  // The help of a repeatable flag already names its choices.
  const words = choices === undefined || isRepeatable ? help : `${help} (${choices.join(', ')})`;
  return fallback === undefined ? words : `${words} (default: ${JSON.stringify(fallback)})`;
}

/** The width of the help without a terminal, in characters. */
const helpWidth = 80;
/** The text beside a term is broken into lines of at least this length, in characters. */
const textWidthMin = 12;

function start(usage: string, about: string, width: number): string[] {
  return [`Usage: docmirror ${usage.trimStart()}`, '', ...wrap(about, Math.min(width, helpWidth))];
}

type Row = readonly [term: string, text: string];

/** Terms, and their texts beside them; nothing if there are none. */
function columns(title: string, rows: readonly Row[], width: number): string[] {
  if (rows.length === 0) return [];
  const left = Math.max(...rows.map(([term]) => term.length)) + 4;
  const room = Math.max((Number.isFinite(width) ? width : helpWidth) - left, textWidthMin);
  const lines = rows.flatMap(([term, text]) => {
    const [first = '', ...rest] = wrap(text, room);
    return [`  ${term}`.padEnd(left) + first, ...rest.map(line => ' '.repeat(left) + line)];
  });
  return ['', `${title}:`, ...lines];
}

/** An example with more characters than this has its meaning on the next line. */
const lineWidthMax = 60;
/** The width of a paragraph, in characters. */
const widthMax = 110;

/** The part of the help after the flags: examples, notes and exit codes. */
function endOf({ examples, notes = [], exitCodes }: Command, width: number): string[] {
  const lineWidth = Math.min(lineWidthMax, Math.max(...Object.keys(examples).map(line => line.length)));
  const shown = Object.entries(examples).flatMap(([line, meaning]) => {
    const beside = `  $ ${line.padEnd(lineWidth)}   ${meaning}`;
    if (line.length <= lineWidth && beside.length <= width) return [beside];
    return [`  $ ${line}`, ...wrap(`      ${meaning}`, width, '      ')];
  });
  const paragraphs = [...notes, ...(exitCodes === undefined ? [] : [`Exit codes: ${exitCodes}`])];
  const wrapped = paragraphs.flatMap(text => ['', ...wrap(text, Math.min(width, widthMax))]);
  return ['', 'Examples:', ...shown, ...wrapped];
}
