import { Command } from 'commander';
import { exitCodes } from '../errors.ts';
import type { CommandBody, CommandContext } from './context.ts';
import type { CommandName } from './table/table.ts';

/** The commands that report how they ended. */
const toldOf: ReadonlySet<CommandName> = new Set(['sync', 'watch', 'backup', 'verify', 'publish clickhouse']);

/** A command that reports how it ended, if the settings ask for that. Commands that only look or plan report nothing. */
export function told(name: CommandName, body: CommandBody): CommandBody {
  if (!toldOf.has(name)) return body;
  return async (command, outer) => {
    const { environment } = outer;
    if (!isAsked(command, environment) || onlyLooks(command)) return body(command, outer);
    const { Teller } = await import('./teller.ts');
    const teller = new Teller(name, command, outer);
    let exitCode: number = exitCodes.done;
    const setExitCode = (code: number) => {
      exitCode = code;
      outer.setExitCode(code);
    };
    const { inEnvFile, secrets, stdout, stderr, signal } = outer;
    const context = { environment, inEnvFile, secrets, stdout, stderr, signal, setExitCode, teller };
    try {
      await body(command, context);
    } catch (error) {
      await teller.failed(error);
      throw error;
    }
    // A watch reports each of its runs itself.
    if (name !== 'watch') await teller.ended(exitCode);
  };
}

/** Reports a command that failed before it began. Its flags or --env-file could not be read, so only the environment has the address. */
export async function toldEarly(
  words: readonly string[],
  outer: CommandContext,
  error: Error,
): Promise<void> {
  const name = [...toldOf].find(each => each === words[0] || each === words.slice(0, 2).join(' '));
  const noFlags = new Command();
  if (name === undefined || !isAsked(noFlags, outer.environment)) return;
  const { Teller } = await import('./teller.ts');
  await new Teller(name, noFlags, outer).failed(error);
}

/** True if the flags or the environment name a ping address or a file of metrics. */
function isAsked(command: Command, environment: Readonly<Record<string, string | undefined>>): boolean {
  return (
    isSet(command, environment, 'pingUrl', 'DOCMIRROR_PING_URL') ||
    isSet(command, environment, 'metricsFile', 'DOCMIRROR_METRICS_FILE')
  );
}

function isSet(
  command: Command,
  environment: Readonly<Record<string, string | undefined>>,
  key: string,
  variable: string,
): boolean {
  return command.opts()[key] !== undefined || (environment[variable] ?? '').trim() !== '';
}

function onlyLooks(command: Command): boolean {
  const { dryRun, check, restore, list, printDdl } = command.opts();
  return [dryRun, check, restore, list, printDdl].some(flag => flag !== undefined && flag !== false);
}
