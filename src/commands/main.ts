import { CommanderError } from 'commander';
import { withEnvFile } from '../config/env-file.ts';
import type { Environment } from '../config/resolve.ts';
import {
  adviceOn,
  DocmirrorError,
  type ErrorCode,
  exitCodes,
  MirrorFileError,
  UsageError,
} from '../errors.ts';
import { printable, printableJson, printableLines } from '../printable.ts';
import { explainSqliteError, readersWay } from '../store/file/sqlite-errors.ts';
import { type Command, Context, ownFlags } from './command.ts';
import { commands, isCommand, nameOfCommand } from './index.ts';
import type { Io } from './io.ts';
import { type Chosen, commandParser, ownParser, parserSays, type Typed } from './parser.ts';
import { pathsIn, perform, reportEarly, settingFlagsOf } from './perform.ts';

/**
 * Runs the command that the words of a command line name until it ends.
 *
 * @returns the exit code. Errors are printed, not thrown.
 */
export async function main(given: readonly string[], io: Io): Promise<number> {
  const words = given[0] === '--' ? given.slice(1) : given;
  const outer = { environment: pathsIn(io.folder, io.environment), inEnvFile: new Set<string>() };
  let context = new Context(io, { ...outer, flags: {} });
  let chosen: Chosen | null = null;
  let isBegun = false;
  const begin = async (command: Pick<Command, 'settings'>, typed: Typed) => {
    const flags = settingFlagsOf(command, typed, io.folder);
    const { envFile } = flags;
    const known = typeof envFile === 'string' ? await withEnvFile(envFile, io.environment) : outer;
    context = new Context(io, { ...known, environment: pathsIn(io.folder, known.environment), flags });
    isBegun = true;
  };
  try {
    const help = helpOnError(words);
    if (help !== null) {
      io.stdout.write(help);
      return exitCodes.done;
    }
    chosen = await commandIn(words);
    const parser = isAlone(words)
      ? ownParser(io, async typed => {
          await begin({ settings: ['database'] }, typed);
          const { defaultCommand } = await import('./default-command.ts');
          await defaultCommand(typed.words, context);
        })
      : commandParser(chosen, io, async typed => {
          if (chosen === null) return;
          await begin(chosen.command, typed);
          await perform(chosen.name, chosen.command, typed, context);
        });
    await parser.parseAsync(knownOnly(words), { from: 'user' });
    return context.exitCode;
  } catch (error) {
    const failure = report(error, context);
    const isUsage = failure.exitCode === exitCodes.usage;
    if (isUsage && !isBegun && chosen !== null)
      await reportEarly(chosen, context, new UsageError(failure.message)).catch(() => undefined);
    if (failure.exitCode !== exitCodes.done && wantsJson(words)) {
      const { code, message } = failure;
      io.stdout.write(printableJson(`${JSON.stringify({ error: { code, message } })}\n`));
    }
    return failure.exitCode;
  }
}

async function commandIn(words: readonly string[]): Promise<Chosen | null> {
  const name = nameOfCommand(words);
  const command = name === null ? undefined : await commands[name]?.load();
  return name === null || command === undefined ? null : { name, command };
}

/** True if no command is named: the command line is empty, or begins with a flag of `docmirror` itself. */
function isAlone([first]: readonly string[]): boolean {
  return first === undefined || ownFlags.some(({ name }) => first.split('=')[0] === name);
}

/** What to do about an error: `docmirror help mirror_busy`. */
function helpOnError([first, code = '', ...more]: readonly string[]): string | null {
  if (first !== 'help' || more.length > 0 || isCommand(code)) return null;
  const advice = adviceOn(code);
  return advice === null ? null : `${advice}\n`;
}

/** Whether a command was asked for JSON: it then prints JSON also if it fails before it begins. */
function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? words.length : end).includes('--json');
}

/** The words without a request for help if the command does not exist: the parser then reports the unknown command. */
function knownOnly(words: readonly string[]): readonly string[] {
  const [name = '', ...rest] = words[0] === 'help' ? words.slice(1) : words;
  const isKnown = name === '' || name.startsWith('-') || name === 'help' || isCommand(name);
  return isKnown ? words : [name, ...rest.filter(word => word !== '--help' && word !== '-h')];
}

/** The end of a command that failed. */
interface Failure {
  readonly exitCode: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** Says what went wrong, if the parser has not said it already. */
function report(error: unknown, { secrets, environment, stderr }: Context): Failure {
  if (error instanceof CommanderError) {
    const exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    return { exitCode, code: 'settings', message: parserSays(error.message) };
  }
  const known = foreseen(error);
  if (known !== null) {
    const { exitCode, code } = known;
    const message = printable(secrets.redact(withShare(known.message, environment)));
    stderr.write(`docmirror: ${message} [${code}]\n`);
    return { exitCode, code, message };
  }
  const { message, stack = message } = error instanceof Error ? error : { message: String(error) };
  const shown = printableLines(secrets.redact(stack));
  stderr.write(`docmirror: this is a fault of docmirror itself, please report it: ${shown} [internal]\n`);
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
