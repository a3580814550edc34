import type { SettingName } from '../../config/settings.ts';

/** The kind of words that a value is one of. The shell's completion offers them. */
export type Offered = 'files' | 'folders' | 'runs' | readonly string[];

/** A flag of a command that is no setting. */
export interface FlagEntry {
  readonly flag: `--${string}`;
  /** The name of its value in the help. A flag without a value has none. */
  readonly valueName?: string;
  readonly help: string;
  readonly default?: string;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
  /** True if the flag can be repeated. Then its values are collected. */
  readonly isRepeatable?: true;
  /** True if a second use is an error. For other flags the last one counts. */
  readonly isOnce?: true;
  readonly isRequired?: true;
  /** Flags that can't be used together with it. */
  readonly conflicts?: readonly `--${string}`[];
  /** The words that completion offers for its value, if it has no choices. */
  readonly offers?: Offered;
}

/** A word of the command line that is no flag. */
export interface ArgumentEntry {
  readonly name: string;
  readonly help: string;
  readonly isRequired?: true;
  /** True if it is the last argument and takes all remaining words. */
  readonly isRepeatable?: true;
  readonly choices?: readonly string[];
  readonly offers?: Offered;
}

/** A line to type, and what it is for. */
export interface Example {
  readonly line: string;
  readonly meaning: string;
}

/** Everything about a command that its help, the completions, the man page and the argument parser need. */
export interface CommandEntry {
  /** The words that a user types. A command in a group has both words, for example `publish clickhouse`. */
  readonly name: string;
  readonly description: string;
  readonly arguments?: readonly ArgumentEntry[];
  readonly flags: readonly FlagEntry[];
  /** The settings that it has flags for. */
  readonly settings: readonly SettingName[];
  readonly examples: readonly Example[];
  /** Further paragraphs of the help. */
  readonly notes?: readonly string[];
  /** Its exit codes besides 0, 1 and 2, or the meaning of these here. */
  readonly exitCodes?: string;
}
