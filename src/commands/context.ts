import type { Command } from 'commander';
import type { Environment } from '../config/resolve.ts';
import type { Secrets } from '../service/secrets.ts';

/** What a command has of the process that runs it; handed in, so that commands can be run by tests and by each other. */
export interface CommandContext {
  /** The variables of the process, and above them those of the file that `--env-file` names. */
  readonly environment: Environment;
  /** The variables that came from that file. */
  readonly inEnvFile: ReadonlySet<string>;
  /** What must never be shown: whoever learns a token adds it, and all that is logged or said as an error is checked for it. */
  readonly secrets: Secrets;
  /** Where data goes. */
  readonly stdout: NodeJS.WriteStream;
  /** Where logs and progress go. */
  readonly stderr: NodeJS.WriteStream;
  /** Aborted with a `CancelledError` on SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  /** Sets what the process exits with when the command is done. */
  setExitCode(code: number): void;
}

/** What a command does; `command` holds the flags and words that were given. */
export type CommandBody = (command: Command, context: CommandContext) => Promise<void> | void;
