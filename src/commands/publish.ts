import { resolvePublish } from '../config/resolve.ts';
import { UsageError } from '../errors.ts';
import { count, counted } from '../render/numbers.ts';
import type { OutputOf } from '../render/outputs.ts';
import { command } from './command.ts';
import { mirrorSettings, typed, yes } from './flags.ts';

const login = ['clickhouseUrl', 'clickhouseUser', 'clickhousePassword', 'clickhousePasswordFile'] as const;
const requests = ['allowHttp', 'timeoutMs', 'giveUpAfterMs', 'pingUrl'] as const;

export default command({
  flags: { again: yes, replaceTenant: yes, printDdl: yes, cluster: typed('NAME') },
  settings: [...login, 'clickhouseDatabase', 'tenant', ...requests, ...mirrorSettings],
  notifies: ({ printDdl }) => !printDdl,
  async run({ again, replaceTenant, printDdl, cluster, json }, context) {
    const { settings, config, stdout, line, signal, secrets, notifier } = context;
    if (replaceTenant && !again) throw new UsageError('--replace-tenant goes with --again.');
    if (cluster !== null && !printDdl) throw new UsageError('--cluster goes with --print-ddl.');
    if (printDdl && json) throw new UsageError('--print-ddl prints no JSON.');
    if (printDdl) {
      const { ddlStatements } = await import('../publish/tables.ts');
      const statements = ddlStatements(config.clickhouseDatabase, cluster);
      stdout.write(statements.map(statement => `${statement};\n`).join('\n'));
      return undefined;
    }
    const startedAtMs = performance.now();
    const { database, timeoutMs, giveUpAfterMs } = config;
    const { tenant, ...addressee } = resolvePublish(settings.flags, settings.environment);
    const { url, user, password, proxy } = addressee;
    // The password must not be shown, nor what is sent of it in a header.
    if (password !== '') for (const text of [password, btoa(`${user}:${password}`)]) secrets.add(text);
    if (proxy !== null) secrets.add(decodeURIComponent(new URL(proxy.url).password));
    const onWait = (why: string) => line.work(`waiting for ClickHouse: ${why}`);
    const onProgress = (done: number, total: number) =>
      line.work(`publishing  ${Math.floor((100 * done) / total)}%  ${count(done)} of ${count(total)} rows`);
    // The client of ClickHouse is loaded only for this.
    const { ClickHouse } = await import('../publish/clickhouse.ts');
    const { publish } = await import('../publish/publish.ts');
    const { openPublishSource } = await import('../store/read/history/publish-source.ts');
    const target = new ClickHouse({ ...addressee, timeoutMs, giveUpAfterMs, signal, onWait });
    notifier?.begun();
    try {
      const options = { tenant, again, replaceTenant, onProgress };
      const published = await publish(() => openPublishSource(database), target, options);
      return { url, ...published, durationMs: Math.round(performance.now() - startedAtMs) };
    } finally {
      await target.close();
    }
  },
  output({ url: _url, ...publication }): OutputOf['publish clickhouse'] {
    return { ...publication, verified: true };
  },
  text({ tenant, url, fromRunId, throughRunId, runs, rows, changes, durationMs }) {
    const verified = `verified in ${(durationMs / 1000).toFixed(1)} s.\n`;
    if (fromRunId === null) return `${tenant}: nothing new; ${url} has run ${throughRunId}, ${verified}`;
    const which =
      runs === 1 ? `run ${throughRunId}` : `${counted(runs, 'run')}, ${fromRunId} to ${throughRunId}`;
    return `${tenant}: ${which}: ${counted(rows, 'row')} and ${counted(changes, 'change')} sent to ${url} and ${verified}`;
  },
});
