import { Argument, InvalidArgumentError, Option, Command as Parser } from 'commander';
import { printableLines } from '../printable.ts';
import { wrap } from '../render/wrap.ts';
import { version } from '../version.ts';
import { type Command, flagsOf, type NamedFlag, ownFlags } from './command.ts';
import type { Flag } from './flags.ts';
import { commands, groups, purpose } from './index.ts';
import type { Io } from './io.ts';
import { widthOf } from './io.ts';

/** The name of an argument in the help: `recordId` is `RECORD-ID`, in brackets if it can be left out. */
export function argumentWord({
  valueName = '',
  isRequired,
  isRepeatable,
}: Omit<Flag<unknown>, 'read'>): string {
  const word = isRepeatable ? `${valueName}...` : valueName;
  return isRequired ? `<${word}>` : `[${word}]`;
}

/** The help breaks the text about a flag into lines of at least this length, in characters. */
const helpWidthMin = 12;

/** The width of the help without a terminal, in characters. */
const helpWidth = 80;

/** The command that the words of a command line name. */
export interface Chosen {
  readonly name: string;
  readonly command: Command;
}

/** The texts that were typed for a command. */
export interface Typed {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly words: readonly unknown[];
}

/**
 * The parser of a command line that names a command. Its help names all commands; only the one that is typed gets its flags.
 *
 * @param chosen the command that the words name; null if they name none.
 * @param perform called with what was typed for it.
 */
export function commandParser(
  chosen: Chosen | null,
  io: Pick<Io, 'stdout' | 'stderr'>,
  perform: (typed: Typed) => Promise<void>,
): Parser {
  const top = makeParser(io);
  for (const [name, { description }] of Object.entries(commands)) {
    const [head = '', inner] = name.split(' ');
    const parent = inner === undefined ? top : groupIn(top, head);
    const parser = parent.command(inner ?? head).description(description);
    if (chosen?.name === name) complete(parser, chosen.command, widthOf(io.stdout), perform);
  }
  return top;
}

/** The parser of a command line without a command: `docmirror --database FILE`. */
export function ownParser(
  io: Pick<Io, 'stdout' | 'stderr'>,
  perform: (typed: Typed) => Promise<void>,
): Parser {
  const top = makeParser(io);
  for (const flag of ownFlags) top.addOption(optionOf(flag));
  return (
    top
      // A command that comes too late, with flags of its own, gets a clear message.
      .allowExcessArguments()
      .passThroughOptions()
      .action(() => perform({ flags: top.opts(), words: top.args }))
  );
}

function makeParser({ stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>): Parser {
  return new Parser('docmirror')
    .description(purpose)
    .addHelpText(
      'after',
      '\nWithout a command, docmirror shows the state of the mirror; --database and --env-file work there, too.\nAn error ends with its code in brackets: "docmirror help CODE" says what it means and what to do.',
    )
    .version(version)
    .configureHelp({ subcommandTerm: command => command.name(), minWidthToWrap: helpWidthMin })
    .configureOutput({
      writeOut: text => stdout.write(text),
      getOutHelpWidth: () => stdout.columns || helpWidth,
      outputError: text => stderr.write(`docmirror: ${parserSays(text)} [settings]\n`),
    })
    .exitOverride();
}

/** The parser's message on one line and made printable, without the value of an unknown flag: `--tokn=…` can contain a token. */
export function parserSays(text: string): string {
  const message = text.replace(/^error: /, '').trimEnd();
  const inOneLine = message.replace(/\n\((Did you mean .+\?)\)/, '. $1');
  return printableLines(inOneLine.replace(/(--[\w-]+)=[^'\n]*/g, '$1=…'));
}

/** The command that only groups others; in the help it has the place of its first one in the table. */
function groupIn(top: Parser, name: string): Parser {
  const there = top.commands.find(command => command.name() === name);
  return there ?? top.command(name).description(groups[name] ?? '');
}

function complete(
  parser: Parser,
  command: Command,
  width: number,
  perform: (typed: Typed) => Promise<void>,
): void {
  for (const flag of Object.values(command.arguments ?? {})) parser.addArgument(argumentOf(flag));
  for (const flag of flagsOf(command)) parser.addOption(optionOf(flag));
  parser
    .addHelpText('after', () => helpAfterFlags(command, width))
    .action(() => perform({ flags: parser.opts(), words: parser.processedArgs }));
}

function argumentOf(flag: Flag<unknown>): Argument {
  const argument = new Argument(argumentWord(flag), flag.help);
  const { choices } = flag;
  if (choices === undefined) return argument;
  return argument.argParser((value: string) => chosen(value, choices));
}

function optionOf({ name, flag }: NamedFlag): Option {
  const { valueName, help, choices, isRepeatable, isOnce } = flag;
  // The help of a repeatable flag already names its choices.
  const words = choices === undefined || isRepeatable ? help : `${help} (${choices.join(', ')})`;
  const option = new Option(valueName === undefined ? name : `${name} <${valueName}>`, words);
  if (flag.default !== undefined) option.default(flag.default);
  if (flag.isRequired) option.makeOptionMandatory();
  option.conflicts((flag.conflicts ?? []).map(other => new Option(other).attributeName()));
  if (!isOnce && !isRepeatable && choices === undefined) return option;
  return option.argParser((value: string, before: unknown) => {
    if (isOnce && before !== undefined)
      throw new InvalidArgumentError('It can be given once; the other value would be ignored.');
    if (choices !== undefined) chosen(value, choices);
    return isRepeatable ? [...(Array.isArray(before) ? before : []), value] : value;
  });
}

function chosen(value: string, choices: readonly string[]): string {
  if (choices.includes(value)) return value;
  throw new InvalidArgumentError(`Expected one of ${choices.join(', ')}.`);
}

/** An example with more characters than this has its meaning on the next line. */
const lineWidthMax = 60;
/** The width of a paragraph, in characters. */
const widthMax = 110;

/** The part of the help after the flags: examples, notes and exit codes. */
export function helpAfterFlags({ examples, notes = [], exitCodes }: Command, width: number): string {
  const lineWidth = Math.min(lineWidthMax, Math.max(...examples.map(({ line }) => line.length)));
  const shown = examples.flatMap(({ line, meaning }) => {
    const beside = `  $ ${line.padEnd(lineWidth)}   ${meaning}`;
    if (line.length <= lineWidth && beside.length <= width) return [beside];
    return [`  $ ${line}`, ...wrap(`      ${meaning}`, width, '      ')];
  });
  const paragraphs = [...notes, ...(exitCodes === undefined ? [] : [`Exit codes: ${exitCodes}`])];
  const wrapped = paragraphs.flatMap(text => ['', ...wrap(text, Math.min(width, widthMax))]);
  return ['', 'Examples:', ...shown, ...wrapped].join('\n');
}
