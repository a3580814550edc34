import { Command, CommanderError } from 'commander';
import { type SettingsWithFile, withEnvFile } from '../config/env-file.ts';
import type { Environment, Flags } from '../config/resolve.ts';
import { DocmirrorError, exitCodes, MirrorFileError } from '../errors.ts';
import { printable, printableLines } from '../printable.ts';
import { Secrets } from '../service/secrets.ts';
import { explainSqliteError, readersWay } from '../store/file/sqlite-errors.ts';
import { version } from '../version.ts';
import type { CommandContext } from './context.ts';
import { isAlone, isCommand, registerAlone, registerCommands } from './register.ts';
import { stopSignal } from './stop-signal.ts';
import { purpose } from './table/table.ts';

/** Runs the command that these words of the command line ask for, to its end; sets the process's exit code. */
export async function main(words: readonly string[]): Promise<void> {
  let settings: SettingsWithFile = { environment: process.env, inFile: new Set() };
  let flags: Flags = {};
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
    const program = makeProgram(async given => {
      flags = given;
      const { envFile } = given;
      if (typeof envFile === 'string') settings = await withEnvFile(envFile, process.env);
    });
    if (isAlone(words)) registerAlone(program, context);
    else registerCommands(program, context, words);
    await program.parseAsync(named(words), { from: 'user' });
  } catch (error) {
    process.exitCode = report(await traced(error, flags, settings.environment), context);
  }
}

/** What the help says of a flag is broken into lines of no less than this, in characters. */
const helpWidthMin = 12;

/** @param begin told of the flags, before a command does anything. */
function makeProgram(begin: (flags: Flags) => Promise<void>): Command {
  return new Command('docmirror')
    .description(purpose)
    .addHelpText(
      'after',
      '\nAlone, docmirror says how the mirror stands; it takes --database and --env-file there, too.',
    )
    .version(version)
    .configureOutput({
      outputError: (text, write) =>
        write(printableLines(withoutValues(inOneLine(text.replace(/^error: /, 'docmirror: '))))),
    })
    .configureHelp({ subcommandTerm: command => command.name(), minWidthToWrap: helpWidthMin })
    .exitOverride()
    .hook('preAction', (_program, command) => begin(command.opts()));
}

/** The words without a wish for help on a command that there is not: of that, the parser says so. */
function named(words: readonly string[]): readonly string[] {
  const [name = '', ...rest] = words[0] === 'help' ? words.slice(1) : words;
  const isKnown = name === '' || name.startsWith('-') || name === 'help' || isCommand(name);
  return isKnown ? words : [name, ...rest.filter(word => word !== '--help' && word !== '-h')];
}

/** What the argument parser says, with its guess of what was meant behind it and not on a line of its own. */
function inOneLine(text: string): string {
  return text.replace(/\n\((Did you mean .+\?)\)/, '. $1');
}

/** What the argument parser says of a flag that it does not know, without its value: `--tokn=…` may hold a token. */
function withoutValues(text: string): string {
  return text.replace(/(--[\w-]+)=[^'\n]*/g, '$1=…');
}

/** The error itself, or that of the mirror behind it, where nobody foresaw the one and there is the other. */
async function traced(error: unknown, flags: Flags, environment: Environment): Promise<unknown> {
  if (error instanceof CommanderError || foreseen(error) !== null) return error;
  const { faultOfMirror } = await import('./spoilt-mirror.ts');
  return (await faultOfMirror(flags, environment)) ?? error;
}

/** Says what went wrong, where commander has not said it already, and returns the exit code. */
function report(error: unknown, { secrets, environment }: CommandContext): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  const known = foreseen(error);
  if (known !== null) {
    process.stderr.write(`docmirror: ${printable(secrets.redact(withShare(known.message, environment)))}\n`);
    return known.exitCode;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const shown = printableLines(secrets.redact(detail));
  process.stderr.write(`docmirror: this is a fault of docmirror itself, please report it: ${shown}\n`);
  return exitCodes.failed;
}

/** A message to a user who can't open the mirror, with the path of its share, if the settings name one. */
function withShare(message: string, { DOCMIRROR_SHARE: share = '' }: Environment): string {
  return share.trim() === '' || !message.includes(readersWay)
    ? message
    : `${message} It is ${share.trim()}; name it with --database.`;
}

/** An error in words that tell what to do: also the disk's, and that of a text in the mirror that docmirror did not write. */
function foreseen(error: unknown): DocmirrorError | null {
  const explained = explainSqliteError(error, 'the mirror');
  if (explained instanceof DocmirrorError) return explained;
  const isSpoilt =
    (error instanceof SyntaxError && error.message.includes('JSON')) ||
    (error instanceof RangeError && error.message === 'Invalid time value');
  if (!isSpoilt) return null;
  return new MirrorFileError(
    `The mirror holds a value that docmirror did not write (${error.message}). "docmirror verify" tells where.`,
  );
}
