import { greatestOf } from '../contract/extremes.ts';
import { adviceOn, exitMeanings } from '../errors.ts';
import { findingHelp } from '../findings.ts';
import { wrap } from '../render/table.ts';
import { type Command, flagsOf } from './command.ts';
import type { FlagHelp } from './flags.ts';
import { entriesIn, type FoundCommand, findCommand, groups, purpose } from './index.ts';

/** The help that a command line asks for; null if it asks for none. */
export async function helpFor(words: readonly string[], width: number): Promise<string | null> {
  if (words[0] !== 'help' && !hasFlag(words, '--help') && !hasFlag(words, '-h')) return null;
  const subject = (words[0] === 'help' ? words.slice(1) : words).filter(word => !word.startsWith('-'));
  const [head] = subject;
  if (head === undefined) return `${groupHelp('', purpose, width)}\n${more}`;
  const advice = findingHelp(head) ?? adviceOn(head);
  if (advice !== null) return `${advice}\n`;
  if (Object.hasOwn(exitMeanings, head))
    return `Exit code ${head}: ${exitMeanings[Number(head) as keyof typeof exitMeanings]}.\n`;
  const about = groups.get(head);
  if (about !== undefined && subject.length === 1) return groupHelp(head, about, width);
  const found = findCommand(subject);
  return commandHelp(found, await found.load(), width);
}

/** Whether a flag is among words, before a `--`. */
export function hasFlag(words: readonly string[], flag: string): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? words.length : end).includes(flag);
}

const more = `Without a command, docmirror shows the state of the mirror; --database and --env-file work there, too.
An error ends with its code in brackets: "docmirror help CODE" says what it means and what to do, and "docmirror help 3" what an exit code means.
`;

const helpText = 'display help for command';

function groupHelp(group: string, about: string, width: number): string {
  return page(`${group} [options] [command]`, about, width, {
    Options: group === '' ? [['-V, --version', 'output the version number']] : [],
    Commands: [...entriesIn(group), ['help', helpText]],
  });
}

/** The help of a command; `width` is that of the terminal, in characters, and infinite without one. */
export function commandHelp(found: Omit<FoundCommand, 'load'>, command: Command, width: number) {
  const { name, description, examples, notes = [], exitCodes } = found;
  const { arguments: args = {} } = command;
  const flags = [...flagsOf(command)].map(([flag, { valueName, ...about }]): Row => {
    // The help of a repeatable flag already names its choices.
    const choices = about.isRepeatable ? undefined : about.choices;
    const words = choices === undefined ? about.help : `${about.help} (${choices.join(', ')})`;
    const fallback = about.default === undefined ? '' : ` (default: ${JSON.stringify(about.default)})`;
    return [valueName === undefined ? flag : `${flag} <${valueName}>`, words + fallback];
  });
  const words = Object.values(args);
  const about = page([name, '[options]', ...words.map(argumentWord)].join(' '), description, width, {
    Arguments: words.map(({ valueName = '', help }) => [valueName, help]),
    Options: [...flags, ['-h, --help', helpText]],
  });
  const shown = Object.entries(examples).flatMap(([line, meaning]) => {
    return [`  $ ${line}`, ...wrap(`      ${meaning}`, width, '      ')];
  });
  const paragraphs = exitCodes === undefined ? notes : [...notes, `Exit codes: ${exitCodes}`];
  const wrapped = paragraphs.flatMap(text => ['', ...wrap(text, Math.min(width, paragraphWidth))]);
  return [about, 'Examples:', ...shown, ...wrapped, ''].join('\n');
}

/** The name of an argument in the help, in brackets if it can be left out. */
export function argumentWord({ valueName = '', isRequired, isRepeatable }: FlagHelp): string {
  const word = isRepeatable ? `${valueName}...` : valueName;
  return isRequired ? `<${word}>` : `[${word}]`;
}

/** The width of the help without a terminal, in characters. */
const helpWidth = 80;
const paragraphWidth = 110;
/** The text beside a term is broken into lines of at least this length, in characters. */
const textWidthMin = 12;

type Row = readonly [term: string, text: string];

function page(usage: string, about: string, width: number, tables: Readonly<Record<string, readonly Row[]>>) {
  const lines = [`Usage: docmirror ${usage.trimStart()}`, '', ...wrap(about, Math.min(width, helpWidth)), ''];
  for (const [title, rows] of Object.entries(tables)) {
    if (rows.length === 0) continue;
    const left = greatestOf(rows.map(([term]) => term.length)) + 4;
    const room = Math.max((Number.isFinite(width) ? width : helpWidth) - left, textWidthMin);
    lines.push(`${title}:`);
    for (const [term, text] of rows) {
      const [first = '', ...rest] = wrap(text, room);
      lines.push(`  ${term}`.padEnd(left) + first, ...rest.map(line => ' '.repeat(left) + line));
    }
    lines.push('');
  }
  return lines.join('\n');
}
