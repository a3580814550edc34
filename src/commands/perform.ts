import type { Labels } from '../config/parse.ts';
import { settings } from '../config/settings.ts';
import { printableJson } from '../printable.ts';
import { type Command, type Context, flagName } from './command.ts';
import { type Flags, pathIn } from './flags.ts';
import type { Io } from './io.ts';
import { widthOf } from './io.ts';
import type { Chosen, Typed } from './parser.ts';

/** Runs a command to its end: reads what was typed for it, prints its result, and reports how it ended. */
export async function perform(name: string, command: Command, typed: Typed, context: Context): Promise<void> {
  const given = valuesOf(command, typed, context);
  const isReported = command.notifies?.(given) && isAsked(context);
  if (isReported) {
    const { Notifier } = await import('./notifier.ts');
    context.notifier = new Notifier(name, context);
  }
  const { notifier } = context;
  try {
    const data = await command.run(given, context);
    if (data !== undefined) await print(command, data, given.json, context);
  } catch (error) {
    await notifier?.failed(error);
    throw error;
  }
  // A watch reports each of its runs itself.
  if (name !== 'watch') await notifier?.ended(context.exitCode);
}

/** Reports a command that failed before it began. Its flags or --env-file could not be read, so only the environment has the address. */
export async function reportEarly({ name, command }: Chosen, context: Context, error: Error): Promise<void> {
  if (command.notifies === undefined || !isAsked(context)) return;
  const { Notifier } = await import('./notifier.ts');
  await new Notifier(name, context).failed(error);
}

/** True if the flags or the environment name a ping address or a file of metrics. */
function isAsked({ settings: { flags, environment } }: Context): boolean {
  return (['pingUrl', 'metricsFile'] as const).some(
    key => flags[key] !== undefined || (environment[settings[key].variable] ?? '').trim() !== '',
  );
}

async function print(command: Command, data: unknown, isJson: boolean, context: Context): Promise<void> {
  const { stdout, notifier } = context;
  notifier?.summary(command.text?.(data, Number.POSITIVE_INFINITY) ?? '');
  if (isJson && command.outputLines !== undefined) {
    const lines = Iterator.from(command.outputLines(data)).map(line => `${line}\n`);
    const { streamOut } = await import('./stream-out.ts');
    await streamOut(stdout, lines);
  } else if (isJson && command.output !== undefined)
    stdout.write(jsonOutput(command.output(data), labelsOf(context)));
  else stdout.write(command.text?.(data, widthOf(stdout)) ?? '');
}

/** None if the settings can't be read, which `doctor` says. */
function labelsOf(context: Context): Labels {
  try {
    return context.config.labels;
  } catch {
    return {};
  }
}

/** JSON on one line. If labels are set, an object has them as `labels`. */
function jsonOutput(output: object, labels: Labels): string {
  const isLabelled = Object.keys(labels).length > 0 && !Array.isArray(output);
  return printableJson(`${JSON.stringify(isLabelled ? { labels, ...output } : output)}\n`);
}

/** The typed values of a command's arguments and flags. */
function valuesOf(
  command: Command,
  { flags, words }: Typed,
  io: Io,
): Record<string, unknown> & { json: boolean } {
  const args = Object.entries(command.arguments ?? {}).map(
    ([key, flag], at) => [key, flag.read(words[at], flag.valueName ?? key, io)] as const,
  );
  const values = Object.entries(command.flags as Flags).map(
    ([key, flag]) => [key, flag.read(flags[key], flagName(key), io)] as const,
  );
  return { ...Object.fromEntries([...args, ...values]), json: flags.json === true };
}

/** The flags of settings among what was typed; paths go by the folder. */
export function settingFlagsOf(
  command: Pick<Command, 'settings'>,
  { flags }: Typed,
  folder: string,
): Record<string, unknown> {
  const keys = command.settings.map(name => ({ name, key: attribute(settings[name].flag) }));
  const typed = keys.flatMap(({ name, key }) => {
    const value = flags[key];
    if (value === undefined) return [];
    return [[key, settings[name].valueName === 'FILE' ? pathIn(folder, String(value)) : value] as const];
  });
  const { envFile } = flags;
  return {
    ...Object.fromEntries(typed),
    ...(typeof envFile === 'string' && { envFile: pathIn(folder, envFile) }),
  };
}

/** The variables of settings with paths that go by the folder. */
export function pathsIn(folder: string, environment: Io['environment']): Io['environment'] {
  if (folder === '') return environment;
  const paths = Object.values(settings).flatMap(({ variable, valueName, default: fallback }) => {
    const path = environment[variable]?.trim() || fallback;
    return valueName === 'FILE' && path ? [[variable, pathIn(folder, path)] as const] : [];
  });
  return { ...environment, ...Object.fromEntries(paths) };
}

/** The key of a flag in the parser's result: `--page-size` is `pageSize`. */
function attribute(flag: string): string {
  return flag.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
