import type { Command } from 'commander';
import type { Environment } from '../config/resolve.ts';
import type { Secrets } from '../service/secrets.ts';
import type { BackupFigures } from './metrics-file.ts';

/** Told how a command goes on, for those who are not there. */
export interface Telling {
  /** The work has begun, and its lock is held if it has one. */
  begun(): void;
  /** The result as a person would read it. */
  summary(text: string): void;
  /** A backup was made. */
  backup(figures: BackupFigures): void;
  /** The command, or a run of it, has ended. */
  ended(exitCode: number): Promise<void>;
  /** It ended with an error. */
  failed(error: unknown): Promise<void>;
}

/** The parts of the process that a command uses; passed in, so that commands can be run by tests and by each other. */
export interface CommandContext {
  /** The variables of the process, and above them those of the file that `--env-file` names. */
  readonly environment: Environment;
  /** The variables that came from that file. */
  readonly inEnvFile: ReadonlySet<string>;
  /** Texts that must never be shown. The code that reads a token adds it, and all log lines and errors are searched for it. */
  readonly secrets: Secrets;
  /** The output for data. */
  readonly stdout: NodeJS.WriteStream;
  /** The output for logs and progress. */
  readonly stderr: NodeJS.WriteStream;
  /** Aborted with a `CancelledError` on SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  /** Told how the command goes on; left out if nobody is to be told. */
  readonly teller?: Telling;
  /** Sets what the process exits with when the command is done. */
  setExitCode(code: number): void;
}

/** The body of a command; `command` has the flags and words that were given. */
export type CommandBody = (command: Command, context: CommandContext) => Promise<void> | void;
