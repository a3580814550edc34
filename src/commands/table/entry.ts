import type { SettingName } from '../../config/settings.ts';

/** What the words are of which a value is one; the shell's completion offers them. */
export type Offered = 'files' | 'folders' | 'runs' | readonly string[];

/** A flag of a command that is no setting. */
export interface FlagEntry {
  readonly flag: `--${string}`;
  /** How its value is called; left out for a flag that stands alone. */
  readonly valueName?: string;
  readonly help: string;
  readonly default?: string;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
  /** True where it may stand several times, and its values are collected. */
  readonly isRepeatable?: true;
  /** Refused where it is given again; of other flags the last one counts. */
  readonly isOnce?: true;
  readonly isRequired?: true;
  /** Flags that can't stand beside it. */
  readonly conflicts?: readonly `--${string}`[];
  /** What completion offers for it besides choices. */
  readonly offers?: Offered;
}

/** A word of the command line that is no flag. */
export interface ArgumentEntry {
  readonly name: string;
  readonly help: string;
  readonly isRequired?: true;
  /** True for the last one, where it takes all words that are left. */
  readonly isRepeatable?: true;
  readonly choices?: readonly string[];
  readonly offers?: Offered;
}

/** A line to type, and what it is for. */
export interface Example {
  readonly line: string;
  readonly meaning: string;
}

/** All that is said of a command anywhere: by its help, the completions, the man page and the argument parser. */
export interface CommandEntry {
  /** What is typed; of a command in a group both words, such as `publish clickhouse`. */
  readonly name: string;
  readonly description: string;
  readonly arguments?: readonly ArgumentEntry[];
  readonly flags: readonly FlagEntry[];
  /** The settings that it has flags for. */
  readonly settings: readonly SettingName[];
  readonly examples: readonly Example[];
  /** What else one should know, a paragraph each. */
  readonly notes?: readonly string[];
  /** What it exits with beyond 0, 1 and 2, or what these mean here. */
  readonly exitCodes?: string;
}
