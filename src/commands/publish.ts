import type { Command } from 'commander';
import { resolveTargetDatabase } from '../config/publish-settings.ts';
import { UsageError } from '../errors.ts';
import type { CommandContext } from './context.ts';
import type { PublishFlags } from './publish/clickhouse.ts';

/** `docmirror publish clickhouse`; its flags are in the table of commands. Its modules are loaded only here, so that no other command waits for them. */
export async function publishTo(command: Command, context: CommandContext): Promise<void> {
  const flags = command.opts<PublishFlags>();
  if (flags.cluster !== undefined && !flags.printDdl)
    throw new UsageError('--cluster goes with --print-ddl.');
  if (flags.cluster === '') throw new UsageError('--cluster names a cluster, and must not be empty.');
  if (flags.replaceTenant && !flags.again) throw new UsageError('--replace-tenant goes with --again.');
  if (flags.printDdl) {
    const { ddlStatements } = await import('../publish/ddl.ts');
    const database = resolveTargetDatabase(command.opts(), context.environment);
    const statements = ddlStatements({ database, cluster: flags.cluster ?? null });
    context.stdout.write(statements.map(statement => `${statement};\n`).join('\n'));
    return;
  }
  const { publishToClickHouse } = await import('./publish/clickhouse.ts');
  await publishToClickHouse(command, context);
}
