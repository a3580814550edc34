import type { Command } from 'commander';
import { resolveTargetDatabase } from '../config/publish-settings.ts';
import type { SettingName } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import type { CommandContext, CommandRegistration } from './context.ts';
import { addSettingFlags, mirrorFlags } from './flags.ts';
import type { PublishFlags } from './publish/clickhouse.ts';

const publishFlags: readonly SettingName[] = [
  'clickhouseUrl',
  'clickhouseUser',
  'clickhousePassword',
  'clickhousePasswordFile',
  'clickhouseDatabase',
  'tenant',
  'allowHttp',
  'timeoutMs',
  'retries',
];

const examples = `
Examples:
  $ docmirror publish clickhouse --print-ddl | clickhouse-client --multiquery       once a server: its tables
  $ docmirror publish clickhouse --url https://clickhouse.example:8443 --tenant acme
                                                      the runs that are not there yet; as often as you like
  $ docmirror publish clickhouse --again              everything once more, where rows there were lost or changed

Only runs that have ended are published. What was cut off is completed by the next time, and nothing is there twice.

Exit codes: 0 done and verified, 1 failed, 2 settings, tables, password or another mirror's tenant,
4 ClickHouse does not hold what the mirror holds.`;

/** Registers `publish`: the mirror and its changes into tables that all tenants share. */
export const registerPublish: CommandRegistration = (program, context) => {
  const publish = program
    .command('publish')
    .description('Bring the mirror and its change feed into a database that all tenants share.');
  const command = publish
    .command('clickhouse')
    .description('Insert the new runs into ClickHouse, and compare what arrived with the mirror.')
    .option('--again', 'send everything once more, also what is there already')
    .option(
      '--replace-tenant',
      "with --again: delete the tenant's rows before, whichever mirror they came from",
    )
    .option(
      '--print-ddl',
      'print the statements that make database, tables and views, and connect to nothing',
    )
    .option(
      '--cluster <NAME>',
      'with --print-ddl: replicated tables, distributed over this cluster by tenant',
    )
    .option('--json', 'print what was done as one JSON object')
    .addHelpText('after', examples);
  addSettingFlags(command, [...publishFlags, ...mirrorFlags]).action(() => publishTo(command, context));
};

/** Loads what only this command needs when it is needed: no other command waits for it. */
async function publishTo(command: Command, context: CommandContext): Promise<void> {
  const flags = command.opts<PublishFlags>();
  if (flags.cluster !== undefined && !flags.printDdl)
    throw new UsageError('--cluster goes with --print-ddl.');
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
