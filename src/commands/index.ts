import { greatestOf } from '../contract/extremes.ts';
import { adviceOn, exitMeanings, UsageError } from '../errors.ts';
import { findingHelp } from '../findings.ts';
import { wrap } from '../render/table.ts';
import { type Command, flagName, flagsOf } from './command.ts';
import type { FlagHelp, Flags } from './flags.ts';
import help from './help.json' with { type: 'json' };

/** One sentence that says what docmirror is. */
export const purpose = 'Keeps a complete, provable copy of a Document Export Service in one SQLite file.';

/** What the help, the reference and the manual page say of a command; `help.json` has all, in their order. One in a group has two words. */
interface CommandHelp {
  readonly description: string;
  /** Of its own flags and arguments, by the names that the user types. */
  readonly words?: Readonly<Record<string, string>>;
  /** Command lines, and what each is for. */
  readonly examples: Readonly<Record<string, string>>;
  readonly notes?: readonly string[];
  /** Its exit codes besides 0, 1 and 2, or the meaning of these here. */
  readonly exitCodes?: string;
}

const texts: Readonly<Record<keyof typeof help, CommandHelp>> = help;

const loaders: Readonly<Record<keyof typeof help, () => Promise<Command>>> = {
  sync: async () => (await import('./sync.ts')).default,
  watch: async () => (await import('./watch.ts')).default,
  doctor: async () => (await import('./doctor.ts')).default,
  status: async () => (await import('./status.ts')).default,
  runs: async () => (await import('./show.ts')).runs,
  changes: async () => (await import('./changes.ts')).default,
  query: async () => (await import('./query.ts')).default,
  service: async () => (await import('./service.ts')).default,
  show: async () => (await import('./show.ts')).show,
  rejected: async () => (await import('./show.ts')).rejected,
  report: async () => (await import('./report.ts')).default,
  serve: async () => (await import('./serve.ts')).default,
  verify: async () => (await import('./verify.ts')).default,
  share: async () => (await import('./share.ts')).default,
  backup: async () => (await import('./backup.ts')).default,
  accept: async () => (await import('./accept.ts')).default,
  erase: async () => (await import('./erase.ts')).default,
  export: async () => (await import('./export.ts')).default,
  'publish clickhouse': async () => (await import('./publish.ts')).default,
  'audit keygen': async () => (await import('./audit.ts')).keygen,
  'audit checkpoint': async () => (await import('./audit.ts')).checkpoint,
  'audit receipts': async () => (await import('./audit.ts')).receipts,
  completion: async () => (await import('./completion.ts')).completionOf(loadCommands),
  demo: async () => (await import('./demo.ts')).default,
};

/** The purpose of each group of commands, by the name of the group. */
const groupTexts = {
  publish: 'Bring the mirror and its change feed into a database that all tenants share.',
  audit:
    "Receipts of all runs, and checkpoints that pin them: a mirror's history for those who trust no one.",
};
const groups: ReadonlyMap<string, string> = new Map(Object.entries(groupTexts));

/** A command, found by its name. */
type FoundCommand = CommandHelp & { readonly name: string; readonly load: () => Promise<Command> };

const all = Object.entries(texts).map(([name, text]): FoundCommand => {
  return { name, ...text, load: async () => described(await loaders[name as keyof typeof help](), text) };
});

/** The command with the words of its flags and arguments. */
function described(command: Command, { words = {} }: CommandHelp): Command {
  const withWords = (all: Flags, nameOf: (key: string, flag: FlagHelp) => string) => {
    const entries = Object.entries(all).map(([key, flag]) => {
      return [key, { ...flag, help: words[nameOf(key, flag)] ?? flag.help }] as const;
    });
    return Object.fromEntries(entries);
  };
  const args = withWords(command.arguments ?? {}, (_key, { valueName = '' }) => valueName);
  return { ...command, flags: withWords(command.flags, flagName), arguments: args };
}

/** @throws UsageError if words begin with no command; it names the one that they might mean. */
export function findCommand([head = '', inner]: readonly string[]): FoundCommand {
  const found = all.find(({ name }) => name === `${head} ${inner}` || name === head);
  if (found !== undefined) return found;
  const isGroup = groups.has(head);
  const known = [...entriesIn(isGroup ? head : '').keys()];
  if (isGroup && inner === undefined)
    throw new UsageError(`"docmirror ${head}" needs one more word: ${known.join(', ')}.`);
  const typed = isGroup ? `${head} ${inner}` : head;
  throw new UsageError(`unknown command '${typed}'.${nearest(isGroup ? `${inner}` : head, known)}`);
}

/** A question after a message about a word that is unknown; empty if no known word has its letters or its beginning. */
export function nearest(word: string, known: readonly string[]): string {
  const letters = (text: string) => [...text.replaceAll('-', '')].sort().join('');
  const beginning = word.slice(0, Math.max(4, word.length - 2));
  const found = known.find(each => letters(each) === letters(word) || each.startsWith(beginning));
  return found === undefined ? '' : ` Did you mean ${found}?`;
}

/** The words that can follow the name of a group or, if it is empty, `docmirror`, and what each is for. */
function entriesIn(group: string): Map<string, string> {
  const entries = all.flatMap(({ name, description }): [string, string][] => {
    const [head = '', inner = ''] = name.split(' ');
    if (group === '') return [[head, groups.get(head) ?? description]];
    return head === group ? [[inner, description]] : [];
  });
  return new Map(entries);
}

/** All commands, loaded. */
export function loadCommands(): Promise<(FoundCommand & { readonly command: Command })[]> {
  return Promise.all(all.map(async entry => ({ ...entry, command: await entry.load() })));
}

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
