import { dirname, resolve } from 'node:path';
import { withEnvFile } from '../config/env-file.ts';
import { type Given, named, resolveOne } from '../config/resolve.ts';
import { settings } from '../config/settings.ts';
import { exitCodes, tryToRead, UsageError } from '../errors.ts';
import { printable, printableJson, printableLines } from '../printable.ts';
import { wrapLines } from '../render/table.ts';
import { behindLink } from '../store/file/links.ts';
import { type Command, type Context, contextOf, flagName, flagsOf } from './command.ts';
import { type Flag, notifierSettings } from './flags.ts';
import { findCommand, hasFlag, helpFor, nearest } from './index.ts';
import { failureOf, type Io, type Settings, whose, widthOf } from './io.ts';
import { painted } from './terminal.ts';

/** Runs the command that the words of a command line name until it ends, and returns the exit code. Errors are printed, not thrown. */
export async function main(given: readonly string[], io: Io): Promise<number> {
  const words = given[0] === '--' ? given.slice(1) : given;
  let context = contextOf(io, { environment: io.environment, inEnvFile: new Set(), flags: {} });
  let name = '';
  let notifies = false;
  try {
    const help = await helpFor(words, widthOf(io.stdout));
    if (help !== null) {
      io.stdout.write(help);
      return exitCodes.done;
    }
    const found = await commandIn(words);
    name = found.name;
    const { command } = found;
    notifies = command.notifies !== undefined;
    const typed = parse(command, found.rest);
    context = contextOf(io, settingsOf(command, typed, io));
    keepTemporaryFilesBesideMirror(context.settings);
    const values = valuesOf(command, typed);
    notifies = command.notifies?.(values) ?? false;
    if (notifies) context.notifier = await notifierFor(name, context);
    const run = Promise.try(() => command.run(values, context));
    const data = await run.finally(() => context.line.clear());
    if (data !== undefined) print(command, data, values.json, context);
    // A watch reports each of its runs itself.
    if (name !== 'watch') await context.notifier?.ended(context.exitCode, textOf(command, data, Infinity));
    return context.exitCode;
  } catch (error) {
    const failure = failureOf(error);
    const { code, exitCode } = failure;
    const message = printable(context.secrets.redact(failure.message));
    const told = `${notifies ? whose(context.settings) : ''}${message}`;
    const stack = error instanceof Error && code === 'internal' ? `: ${error.stack}` : '';
    const said = `docmirror: ${told}${printableLines(context.secrets.redact(stack))} [${code}]`;
    io.stderr.write(wrapLines(said, widthOf(io.stderr)));
    // If flags or settings could not be read, only the environment says whom to tell.
    if (notifies) context.notifier ??= await notifierFor(name, context);
    await context.notifier?.ended(exitCode, `docmirror ${name}: ${told} [${code}]`);
    if (hasFlag(words, '--json'))
      io.stdout.write(printableJson(`${JSON.stringify({ error: { code, message } })}\n`));
    return exitCode;
  }
}

async function commandIn(words: readonly string[]) {
  if (words[0] === undefined || words[0].startsWith('-')) {
    const { defaultCommand } = await import('./status.ts');
    return { name: '', command: defaultCommand, rest: words };
  }
  const { name, load } = findCommand(words);
  return { name, command: await load(), rest: words.slice(name.split(' ').length) };
}

/** Flags that name the object of a command. Of others that can't be repeated, the last one counts. */
const isOnce = /^--tenant | (FILE|FOLDER|URL)$/;

/** Takes a command's words apart, or throws a UsageError. A negative number or a comment of SQL is no flag: no flag has a space. */
function parse(command: Command, args: readonly string[]) {
  const known = flagsOf(command);
  const flags = new Map<string, readonly string[]>();
  const words: string[] = [];
  const left = args.values();
  for (const word of left) {
    if (word === '--' || !word.startsWith('-') || /^-\d*$|^--[^=]*\s/.test(word)) {
      words.push(...(word === '--' ? left : [word]));
      continue;
    }
    // The value can be a token, so it is not shown. No flag has one dash, and what follows its letter could be a value.
    const [name = '', inline] = word.startsWith('--') ? word.split(/=(.*)/s) : [word.slice(0, 2)];
    const flag = known.get(name);
    if (flag === undefined || (flag.valueName === undefined && inline !== undefined)) {
      const shown = inline === undefined ? name : `${name}=…`;
      throw new UsageError(`unknown option '${shown}'.${nearest(name, [...known.keys()])}`);
    }
    const value = flag.valueName === undefined ? '' : (inline ?? left.next().value);
    if (value === undefined) throw new UsageError(`option '${name} <${flag.valueName}>' argument missing`);
    const twice = `option ${name} is there twice. It can be given once; the other value would be ignored.`;
    if (flags.has(name) && isOnce.test(`${name} ${flag.valueName}`) && !flag.isRepeatable)
      throw new UsageError(twice);
    flags.set(name, [...((flag.isRepeatable && flags.get(name)) || []), value]);
  }
  for (const name of flags.keys()) {
    const other = known.get(name)?.conflicts?.find(each => flags.has(each));
    if (other !== undefined) throw new UsageError(`${name} cannot be used with ${other}.`);
  }
  const places = Object.values(command.arguments ?? {});
  const surplus = `too many arguments, from ${JSON.stringify(words[places.length])} on. Flags come after the command.`;
  if (words.length > places.length && !places.at(-1)?.isRepeatable) throw new UsageError(surplus);
  return { flags, words };
}

function settingsOf(command: Command, { flags }: ReturnType<typeof parse>, { environment }: Io): Settings {
  const [envFile] = flags.get('--env-file') ?? [];
  const typed = command.settings.flatMap(name => {
    const { flag, valueName } = settings[name];
    return (flags.get(flag) ?? []).map(text => [name, valueName === null ? 'true' : text]);
  });
  const given: Given = Object.fromEntries(typed);
  if (envFile === undefined) return { environment, inEnvFile: new Set(), flags: given };
  return { ...withEnvFile(envFile, environment), flags: { ...given, envFile } };
}

/** Without this, SQLite needs a writable /tmp, which is memory in many containers. If the mirror's folder can't be written, it uses that. */
function keepTemporaryFilesBesideMirror({ flags, environment }: Settings): void {
  const database = resolveOne('database', flags, environment) ?? '';
  const file = tryToRead(() => behindLink(database)) ?? database;
  process.env.SQLITE_TMPDIR = environment.SQLITE_TMPDIR ?? dirname(resolve(file));
}

function valuesOf(command: Command, { flags, words }: ReturnType<typeof parse>): { readonly json: boolean } {
  const valueFrom = (name: string, { isRequired, help, read }: Flag<unknown>, texts: readonly string[]) => {
    if (isRequired && texts.length === 0) throw new UsageError(`${name}: it is missing: ${help}.`);
    return named(name, () => read(texts));
  };
  const ofArguments = Object.entries(command.arguments ?? {}).map(([key, flag], at) => {
    const given = words.slice(at, flag.isRepeatable ? words.length : at + 1);
    return [key, valueFrom(flag.valueName ?? key, flag, given)];
  });
  const ofFlags = Object.entries(command.flags).map(([key, flag]) => {
    return [key, valueFrom(flagName(key), flag, flags.get(flagName(key)) ?? [])];
  });
  return { json: flags.has('--json'), ...Object.fromEntries([...ofArguments, ...ofFlags]) };
}

async function notifierFor(name: string, context: Context): Promise<Context['notifier']> {
  const { flags, environment } = context.settings;
  if (notifierSettings.every(setting => resolveOne(setting, flags, environment) === null)) return null;
  const { notifierOf } = await import('./notifier.ts');
  return notifierOf(name, context);
}

function textOf({ text }: Command, data: unknown, width: number): string {
  return data === undefined || typeof data === 'string' ? (data ?? '') : (text?.(data, width) ?? '');
}

function print(command: Command, data: unknown, isJson: boolean, { stdout, settings: given }: Context): void {
  if (!isJson || command.output === undefined) {
    const tones = typeof data === 'string' ? [] : (command.tones?.(data) ?? []);
    return void stdout.write(painted(textOf(command, data, widthOf(stdout)), tones, stdout));
  }
  const output = command.output(data);
  // Labels that can't be read are left out: doctor says so.
  const labels = resolveOne('labels', given.flags, given.environment) ?? {};
  const isLabelled = Object.keys(labels).length > 0 && !Array.isArray(output);
  stdout.write(printableJson(`${JSON.stringify(isLabelled ? { labels, ...output } : output)}\n`));
}
