import type { Command } from 'commander';
import type { CommandContext, CommandRegistration } from './context.ts';
import { envFileOption } from './flags.ts';

/** The commands in the order in which the help lists them, each with how to load it. */
const commands: Readonly<Record<string, () => Promise<CommandRegistration>>> = {
  sync: async () => (await import('./sync.ts')).registerSync,
  watch: async () => (await import('./watch.ts')).registerWatch,
  status: async () => (await import('./status.ts')).registerStatus,
  runs: async () => (await import('./runs.ts')).registerRuns,
  changes: async () => (await import('./changes.ts')).registerChanges,
  verify: async () => (await import('./verify.ts')).registerVerify,
  doctor: async () => (await import('./doctor.ts')).registerDoctor,
  audit: async () => (await import('./audit.ts')).registerAudit,
  backup: async () => (await import('./backup.ts')).registerBackup,
  export: async () => (await import('./export.ts')).registerExport,
  report: async () => (await import('./report.ts')).registerReport,
  serve: async () => (await import('./serve.ts')).registerServe,
  publish: async () => (await import('./publish.ts')).registerPublish,
  demo: async () => (await import('./demo.ts')).registerDemo,
};

/** Adds the command that is asked for to the program, or all where none is named: loading all takes several times as long. */
export async function registerCommands(
  program: Command,
  context: CommandContext,
  wanted: string | undefined,
): Promise<void> {
  const load = wanted === undefined ? undefined : commands[wanted];
  const loads = load === undefined ? Object.values(commands) : [load];
  for (const register of await Promise.all(loads.map(each => each()))) register(program, context);
  for (const command of program.commands) addEnvFile(command);
}

/** A command that only holds others gets the flag at each of these. */
function addEnvFile(command: Command): void {
  if (command.commands.length === 0) command.addOption(envFileOption());
  else for (const inner of command.commands) addEnvFile(inner);
}
