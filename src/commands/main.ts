import { Command, CommanderError } from 'commander';
import { type SettingsWithFile, withEnvFile } from '../config/env-file.ts';
import type { Environment, Flags } from '../config/resolve.ts';
import { DocmirrorError, type ErrorCode, exitCodes, MirrorFileError, UsageError } from '../errors.ts';
import { printable, printableJson, printableLines } from '../printable.ts';
import { Secrets } from '../service/secrets.ts';
import { explainSqliteError, readersWay } from '../store/file/sqlite-errors.ts';
import { version } from '../version.ts';
import type { CommandContext } from './context.ts';
import { isAlone, isCommand, registerAlone, registerCommands } from './register.ts';
import { stopSignal } from './stop-signal.ts';
import { purpose } from './table/table.ts';

/** Runs the command that the words of the command line name until it ends, and sets the process's exit code. */
export async function main(words: readonly string[]): Promise<void> {
  let settings: SettingsWithFile = { environment: process.env, inFile: new Set() };
  let flags: Flags = {};
  let isBegun = false;
  const context: CommandContext = {
    get environment() {
      return settings.environment;
    },
    get inEnvFile() {
      return settings.inFile;
    },
    secrets: new Secrets(),
    stdout: process.stdout,
    stderr: process.stderr,
    signal: stopSignal(process),
    setExitCode: code => {
      process.exitCode = code;
    },
  };
  try {
    const explained = await helpOnError(words);
    if (explained !== null) {
      context.stdout.write(explained);
      return;
    }
    const program = makeProgram(async given => {
      flags = given;
      const { envFile } = given;
      if (typeof envFile === 'string') settings = await withEnvFile(envFile, process.env);
      isBegun = true;
    });
    if (isAlone(words)) registerAlone(program, context);
    else registerCommands(program, context, words);
    await program.parseAsync(named(words), { from: 'user' });
  } catch (error) {
    const told = report(await traced(error, flags, settings.environment), context);
    process.exitCode = told.exitCode;
    if (!isBegun && told.exitCode === exitCodes.usage) {
      const { toldEarly } = await import('./told.ts');
      await toldEarly(words, context, new UsageError(told.message)).catch(() => undefined);
    }
    if (told.exitCode !== exitCodes.done && wantsJson(words)) {
      const { code, message } = told;
      context.stdout.write(printableJson(`${JSON.stringify({ error: { code, message } })}\n`));
    }
  }
}

/** The help breaks the text about a flag into lines of at least this length, in characters. */
const helpWidthMin = 12;

/** @param begin called with the flags, before a command does anything. */
function makeProgram(begin: (flags: Flags) => Promise<void>): Command {
  return new Command('docmirror')
    .description(purpose)
    .addHelpText(
      'after',
      '\nWithout a command, docmirror shows the state of the mirror; --database and --env-file work there, too.\nAn error ends with its code in brackets: "docmirror help CODE" says what it means and what to do.',
    )
    .version(version)
    .configureOutput({
      outputError: (text, write) => write(`docmirror: ${withCode(parserSays(text), 'settings')}\n`),
    })
    .configureHelp({ subcommandTerm: command => command.name(), minWidthToWrap: helpWidthMin })
    .exitOverride()
    .hook('preAction', (_program, command) => begin(command.opts()));
}

/** The explanation of an error code: `docmirror help mirror_busy`. */
async function helpOnError([first, code = '', ...more]: readonly string[]): Promise<string | null> {
  if (first !== 'help' || more.length > 0 || isCommand(code)) return null;
  return (await import('./troubleshooting.ts')).explainCode(code);
}

/** Whether a command was asked for JSON: it then prints JSON also if it fails before it begins. */
function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? words.length : end).includes('--json');
}

/** The argument parser's message, made printable. */
function parserSays(text: string): string {
  return printableLines(withoutValues(inOneLine(text.replace(/^error: /, '').trimEnd())));
}

/** A message with the code by which "docmirror help" explains it. */
function withCode(message: string, code: string): string {
  return `${message} [${code}]`;
}

/** The words without a request for help if the command does not exist: the parser then reports the unknown command. */
function named(words: readonly string[]): readonly string[] {
  const [name = '', ...rest] = words[0] === 'help' ? words.slice(1) : words;
  const isKnown = name === '' || name.startsWith('-') || name === 'help' || isCommand(name);
  return isKnown ? words : [name, ...rest.filter(word => word !== '--help' && word !== '-h')];
}

/** The argument parser's message with its suggestion on the same line. */
function inOneLine(text: string): string {
  return text.replace(/\n\((Did you mean .+\?)\)/, '. $1');
}

/** The argument parser's message about an unknown flag, without its value: `--tokn=…` can contain a token. */
function withoutValues(text: string): string {
  return text.replace(/(--[\w-]+)=[^'\n]*/g, '$1=…');
}

/** The error itself. If it is unexpected and a fault of the mirror explains it, the error about that fault. */
async function traced(error: unknown, flags: Flags, environment: Environment): Promise<unknown> {
  if (error instanceof CommanderError || foreseen(error) !== null) return error;
  const { explainUnexpectedError } = await import('./explain-unexpected-error.ts');
  return (await explainUnexpectedError(flags, environment)) ?? error;
}

/** The end of a command that failed. */
interface Failure {
  readonly exitCode: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** Says what went wrong, if commander has not said it already. */
function report(error: unknown, { secrets, environment }: CommandContext): Failure {
  if (error instanceof CommanderError) {
    const exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    return { exitCode, code: 'settings', message: parserSays(error.message) };
  }
  const known = foreseen(error);
  if (known !== null) {
    const { exitCode, code } = known;
    const message = printable(secrets.redact(withShare(known.message, environment)));
    process.stderr.write(`docmirror: ${withCode(message, code)}\n`);
    return { exitCode, code, message };
  }
  const { message, stack = message } = error instanceof Error ? error : { message: String(error) };
  const shown = printableLines(secrets.redact(stack));
  process.stderr.write(
    `docmirror: this is a fault of docmirror itself, please report it: ${withCode(shown, 'internal')}\n`,
  );
  return { exitCode: exitCodes.failed, code: 'internal', message: printable(secrets.redact(message)) };
}

/** A message to a user who can't open the mirror, with the path of its share, if the settings name one. */
function withShare(message: string, { DOCMIRROR_SHARE: share = '' }: Environment): string {
  return share.trim() === '' || !message.includes(readersWay)
    ? message
    : `${message} It is ${share.trim()}; name it with --database.`;
}

/** The error with a message that says what to do, also for disk errors and for text in the mirror that docmirror did not write. */
function foreseen(error: unknown): DocmirrorError | null {
  const explained = explainSqliteError(error, 'the mirror');
  if (explained instanceof DocmirrorError) return explained;
  const isSpoilt =
    (error instanceof SyntaxError && error.message.includes('JSON')) ||
    (error instanceof RangeError && error.message === 'Invalid time value');
  if (!isSpoilt) return null;
  return new MirrorFileError(
    `The mirror contains a value that docmirror did not write (${error.message}). "docmirror verify" shows where.`,
  );
}
