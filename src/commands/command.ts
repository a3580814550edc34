import {
  type Config,
  type Environment,
  type Given,
  resolveConfig,
  resolveService,
  type ServiceConfig,
} from '../config/resolve.ts';
import { type SettingName, settings } from '../config/settings.ts';
import { exitCodes } from '../errors.ts';
import { Secrets } from '../service/secrets.ts';
import { type Flag, type Flags, file, type ValuesOf } from './flags.ts';
import type { Io, Output } from './io.ts';
import type { Notifier } from './notifier.ts';

/** A command: all that its help, the completions, the man page and the argument parser need, and what it does. */
export interface Command<A extends Flags = Flags, F extends Flags = Flags, Data = unknown> {
  /** In the order of the command line. */
  readonly arguments?: A;
  readonly flags: F;
  /** The settings that it has flags for. */
  readonly settings: readonly SettingName[];
  readonly examples: readonly Example[];
  /** Further paragraphs of the help. */
  readonly notes?: readonly string[];
  /** Its exit codes besides 0, 1 and 2, or the meaning of these here. */
  readonly exitCodes?: string;
  /** Whether it sends pings and writes metrics when it ends, as the settings say. */
  notifies?(given: ValuesOf<A & F>): boolean;
  /**
   * Does the work.
   *
   * @returns the result; undefined if the command has printed it itself.
   */
  run(
    given: ValuesOf<A & F> & { readonly json: boolean },
    context: Context,
  ): Promise<Data | undefined> | Data | undefined;
  /** The result as `--json` prints it. Commands without it have no such flag. */
  output?(data: Data): object;
  /** The same for commands that print a line of JSON for each of many things. */
  outputLines?(data: Data): Iterable<string>;
  /** The result for people; `width` is that of the terminal, in characters, and infinite without one. */
  text?(data: Data, width: number): string;
}

/** A result whose form depends on the flags: an object, and its text for a width in characters. */
export interface Shown {
  readonly output: object;
  readonly text: (width: number) => string;
}

/** A line to type, and what it is for. */
export interface Example {
  readonly line: string;
  readonly meaning: string;
}

/** Declares a command. */
export function command<const A extends Flags, const F extends Flags, Data>(
  declaration: Command<A, F, Data>,
): Command<A, F, Data> {
  return declaration;
}

/** The settings of a command as they were typed, and the variables below them. */
export interface Settings {
  readonly environment: Environment;
  /** The variables that came from the file that `--env-file` names. */
  readonly inEnvFile: ReadonlySet<string>;
  readonly flags: Given;
}

/** What a command works with: the process that it runs in, and the settings. */
export class Context implements Io {
  /** Texts that must never be shown. The code that reads a token adds it, and all log lines and errors are searched for it. */
  readonly secrets = new Secrets();
  readonly settings: Settings;
  /** Reports how the command goes on; null if nobody is to be told. */
  notifier: Notifier | null = null;
  /** What the process exits with when the command is done. */
  exitCode: number = exitCodes.done;
  readonly #io: Io;
  #config: Config | undefined;
  #service: ServiceConfig | undefined;

  constructor(io: Io, settings: Settings) {
    this.#io = io;
    this.settings = settings;
  }

  get environment(): Environment {
    return this.settings.environment;
  }

  get folder(): string {
    return this.#io.folder;
  }

  get stdout(): Output {
    return this.#io.stdout;
  }

  get stderr(): Output {
    return this.#io.stderr;
  }

  /** Aborted when docmirror is told to stop. A command that never asks for it is ended by the signal itself. */
  get signal(): AbortSignal {
    return this.#io.signal;
  }

  readonly clock = (): Date => this.#io.clock();

  /** @throws UsageError that names the setting that can't be used. */
  get config(): Config {
    this.#config ??= resolveConfig(this.settings.flags, this.environment);
    return this.#config;
  }

  /** @throws UsageError that names the setting that can't be used. */
  get service(): ServiceConfig {
    const { flags, environment, inEnvFile } = this.settings;
    this.#service ??= resolveService(flags, environment, inEnvFile, this.folder);
    return this.#service;
  }
}

/** A flag under the name that the user types. */
export interface NamedFlag {
  readonly name: `--${string}`;
  readonly flag: Omit<Flag<unknown>, 'read'>;
}

/** The flag that every command has: a file of settings, which overrides the environment. */
const envFile: NamedFlag = {
  name: '--env-file',
  flag: file('settings as lines NAME=value; they count more than the environment', { isOnce: true }),
};

/** The flags that docmirror has without a command. */
export const ownFlags: readonly NamedFlag[] = [settingFlag('database'), envFile];

/** The name that a flag has on the command line: `maxAge` is `--max-age`. */
export function flagName(key: string): `--${string}` {
  return `--${key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

/** All flags of a command: its own, those of its settings, and `--env-file`. */
export function flagsOf({ flags, settings: names, output, outputLines }: Command): NamedFlag[] {
  return [
    ...Object.entries(flags).map(([key, flag]) => ({ name: flagName(key), flag })),
    ...((output ?? outputLines) === undefined
      ? []
      : [{ name: '--json' as const, flag: { help: 'print it as JSON' } }]),
    ...names.map(settingFlag),
    envFile,
  ];
}

function settingFlag(name: SettingName): NamedFlag {
  const { flag, valueName, isOnce, variable, default: fallback, help } = settings[name];
  const isPlain = !fallback || valueName === null;
  const note = isPlain ? `[${variable}]` : `[${variable}, default ${fallback}]`;
  const value = valueName === null ? {} : { valueName };
  return { name: flag, flag: { help: `${help} ${note}`, ...value, ...(isOnce && { isOnce }) } };
}
