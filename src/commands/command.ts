import { resolveConfig, resolveService } from '../config/resolve.ts';
import { type SettingName, settings } from '../config/settings.ts';
import { exitCodes } from '../errors.ts';
import type { Toned } from '../render/tones.ts';
import { Secrets } from '../service/secrets.ts';
import { type FlagHelp, type Flags, mirrorSettings, type ValuesOf } from './flags.ts';
import type { Io, Settings } from './io.ts';
import type { Notifier } from './notifier.ts';
import { statusLineOn } from './terminal.ts';

/** A command: what the completions and the argument parser need, and what it does. `help.json` says of it what only people need. */
export interface Command<A extends Flags = Flags, F extends Flags = Flags, Data = unknown> {
  readonly arguments?: A;
  readonly flags: F;
  readonly settings: readonly SettingName[];
  /** Whether it sends pings and writes metrics when it ends, as the settings say. */
  notifies?(given: ValuesOf<A & F>): boolean;
  /** Does the work, and returns the result; undefined if the command has printed it itself. */
  run(
    given: ValuesOf<A & F> & { readonly json: boolean },
    context: Context,
  ): Promise<Data | undefined> | Data | undefined;
  /** The result as `--json` prints it. Commands without it have no such flag. */
  output?(data: Data): object;
  /** The result for people; `width` is that of the terminal, in characters, and infinite without one. A text is its own. */
  text?(data: Data, width: number): string;
  /** The words of that text that have a colour on a terminal. */
  tones?(data: Data): readonly Toned[];
}

/** A result whose form depends on the flags: an object, and its text for a width in characters. */
export interface Told {
  readonly output: object;
  readonly text: (width: number) => string;
  readonly tones?: readonly Toned[];
}

/** Declares a command. Its settings are those of the mirror if it names none. */
export function command<const A extends Flags, const F extends Flags, Data>(
  declaration: Omit<Command<A, F, Data>, 'settings'> & { readonly settings?: readonly SettingName[] },
): Command<A, F, Data> {
  return { settings: mirrorSettings, ...declaration };
}

/** What a command works with: the process that it runs in, and the settings. */
export type Context = ReturnType<typeof contextOf>;

/** Brings together what a command works with. */
export function contextOf(io: Io, settings: Settings) {
  const { flags, environment, inEnvFile } = settings;
  return {
    /** Texts that must never be shown. The code that reads a token adds it, and all log lines and errors are searched for it. */
    secrets: new Secrets(),
    settings,
    stdout: io.stdout,
    stderr: io.stderr,
    /** Says on a terminal what the command is doing, until it ends. */
    line: statusLineOn(io.stderr, environment),
    /** Reports how the command goes on; null if nobody is to be told. */
    notifier: null as Notifier | null,
    exitCode: exitCodes.done as number,

    get signal() {
      return io.signal;
    },

    /** Throws a UsageError that names the setting that can't be used. */
    get config() {
      return resolveConfig(flags, environment);
    },

    get service() {
      return resolveService(flags, environment, inEnvFile);
    },
  };
}

/** The name that a flag has on the command line: `maxAge` is `--max-age`. */
export function flagName(key: string): `--${string}` {
  return `--${key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

/** All flags of a command, by the names that the user types: its own, those of its settings, and `--env-file`. */
export function flagsOf({ flags, settings: names, output }: Command): Map<string, FlagHelp> {
  const all = new Map<string, FlagHelp>(Object.entries(flags).map(([key, flag]) => [flagName(key), flag]));
  if (output !== undefined) all.set('--json', { help: 'print it as JSON' });
  for (const name of names) {
    const { flag, valueName, variable, default: fallback, help } = settings[name];
    const isPlain = !fallback || valueName === null;
    const note = isPlain ? `[${variable}]` : `[${variable}, default ${fallback}]`;
    all.set(flag, { help: `${help} ${note}`, ...(valueName !== null && { valueName }) });
  }
  const help = 'settings as lines NAME=value; they count more than the environment';
  return all.set('--env-file', { valueName: 'FILE', help });
}
