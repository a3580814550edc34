import { resolveTargetDatabase } from '../config/publish-settings.ts';
import { UsageError } from '../errors.ts';
import type { PublishClickhouseOutput } from '../render/outputs/records.ts';
import { command } from './command.ts';
import { text, yes } from './flags.ts';
import type { Published } from './publish/clickhouse.ts';
import { mirrorSettings } from './shared-flags.ts';

/** What is printed: a publication and its text, or only the text of statements. */
interface Shown {
  readonly published: Published | null;
  readonly text: string;
}

/** `docmirror publish clickhouse`. Its modules are loaded only when it runs, so that its help does not wait for them. */
export const publishTo = command({
  flags: {
    again: yes('send everything again, also rows that are there already'),
    replaceTenant: yes("with --again: delete the tenant's rows before, whichever mirror they came from"),
    printDdl: yes('print the statements that make database, tables and views, and connect to nothing'),
    cluster: text('NAME', 'with --print-ddl: replicated tables, distributed over this cluster by tenant'),
  },
  settings: [
    'clickhouseUrl',
    'clickhouseUser',
    'clickhousePassword',
    'clickhousePasswordFile',
    'clickhouseDatabase',
    'tenant',
    'allowHttp',
    'timeoutMs',
    'giveUpAfterMs',
    'pingUrl',
    ...mirrorSettings,
  ],
  examples: [
    {
      line: 'docmirror publish clickhouse --print-ddl > tables.sql',
      meaning: 'once a server: its tables, for clickhouse-client --multiquery',
    },
    {
      line: 'docmirror publish clickhouse --url https://clickhouse.example:8443 --tenant acme',
      meaning: 'the runs that are not there yet; as often as you like',
    },
    {
      line: 'docmirror publish clickhouse --again',
      meaning: 'everything again, if rows there were lost or changed',
    },
  ],
  notes: [
    'Only runs that have ended are published. If a publication was cut off, the next one completes it, and nothing is there twice.',
  ],
  exitCodes:
    "0 done and verified, 1 failed, 2 settings, tables, password or another mirror's tenant, 4 ClickHouse does not have what the mirror has.",
  notifies: ({ printDdl }) => !printDdl,
  async run({ again, replaceTenant, printDdl, cluster }, context): Promise<Shown> {
    if (cluster !== null && !printDdl) throw new UsageError('--cluster goes with --print-ddl.');
    if (cluster === '') throw new UsageError('--cluster names a cluster, and must not be empty.');
    if (replaceTenant && !again) throw new UsageError('--replace-tenant goes with --again.');
    if (printDdl) {
      const { ddlStatements } = await import('../publish/ddl.ts');
      const database = resolveTargetDatabase(context.settings.flags, context.environment);
      const statements = ddlStatements({ database, cluster });
      return { published: null, text: statements.map(statement => `${statement};\n`).join('\n') };
    }
    const { publishToClickHouse, publishedText } = await import('./publish/clickhouse.ts');
    const published = await publishToClickHouse({ again, replaceTenant }, context);
    return { published, text: publishedText(published) };
  },
  output({ published }): PublishClickhouseOutput {
    if (published === null) throw new UsageError('--print-ddl prints no JSON.');
    return { ...published.publication, verified: true, durationMs: published.durationMs };
  },
  text: ({ text }) => text,
});
