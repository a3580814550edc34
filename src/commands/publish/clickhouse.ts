import type { Command } from 'commander';
import type { ProxySetting } from '../../config/proxy.ts';
import { type PublishConfig, resolvePublish } from '../../config/publish-settings.ts';
import { resolveConfig } from '../../config/resolve.ts';
import { nameOfSecretFile, readSmallFile } from '../../config/small-file.ts';
import { UsageError } from '../../errors.ts';
import { ClickHouse } from '../../publish/clickhouse.ts';
import { type Publication, publish } from '../../publish/publish.ts';
import { counted } from '../../render/numbers.ts';
import type { Secrets } from '../../service/secrets.ts';
import { PublishRows } from '../../store/read/publish-rows.ts';
import type { CommandContext } from '../context.ts';
import { jsonOutput } from '../json-output.ts';
import { OneBar } from '../one-bar.ts';

/** The flags of `publish clickhouse` that are no settings. */
export interface PublishFlags {
  readonly again?: boolean;
  readonly replaceTenant?: boolean;
  readonly printDdl?: boolean;
  readonly cluster?: string;
  readonly json?: boolean;
}

/** Publishes the mirror, and says what came of it. */
export async function publishToClickHouse(command: Command, context: CommandContext): Promise<void> {
  const { environment, stdout, stderr, signal } = context;
  const flags = command.opts<PublishFlags>();
  const config = resolveConfig(command.opts(), environment);
  const { password, ...where } = resolvePublish(command.opts(), environment);
  const { tenant, ...addressee } = where;
  const { timeoutMs, giveUpAfterMs } = config;
  if (where.proxy !== null) assertProxyCanBeUsed(where.proxy, context.secrets);
  const secret = await textOf(password);
  hide(where.user, secret, context.secrets);
  const target = new ClickHouse({
    ...addressee,
    password: secret,
    timeoutMs,
    giveUpAfterMs,
    signal,
  });
  const bar = new OneBar(stderr, 'publishing {bar} {value}/{total} rows');
  const startedAtMs = performance.now();
  context.teller?.begun();
  try {
    const publication = await publish(() => PublishRows.open(config.database), target, {
      tenant,
      again: flags.again ?? false,
      replaceTenant: flags.replaceTenant ?? false,
      clock: () => new Date(),
      signal,
      onProgress: bar.update,
    });
    bar.stop();
    const durationMs = Math.round(performance.now() - startedAtMs);
    context.teller?.summary(described(publication, where.url, durationMs));
    stdout.write(
      flags.json
        ? jsonOutput(`${JSON.stringify({ ...publication, verified: true, durationMs })}\n`, config.labels)
        : described(publication, where.url, durationMs),
    );
  } finally {
    bar.stop();
    await target.close();
  }
}

/** @throws UsageError if this Node.js would go around the proxy: its own connections know none before 24.5. */
function assertProxyCanBeUsed({ variable, url }: ProxySetting, secrets: Secrets): void {
  secrets.add(decodeURIComponent(new URL(url).password));
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 24 || minor >= 5) return;
  throw new UsageError(
    `${variable}: to publish through a proxy takes Node.js 24.5 or newer, but this is ${process.version}.`,
  );
}

/** The password must not be shown, nor what is sent of it in a header. */
function hide(user: string, password: string, secrets: Secrets): void {
  if (password === '') return;
  secrets.add(password);
  secrets.add(Buffer.from(`${user}:${password}`).toString('base64'));
}

/** Far more than a password takes, in bytes. */
const passwordBytesMax = 16 * 1024;

async function textOf(password: PublishConfig['password']): Promise<string> {
  if ('text' in password) return password.text;
  const from = 'DOCMIRROR_CLICKHOUSE_PASSWORD_FILE: ';
  const text = await readSmallFile(from, password.file, passwordBytesMax, nameOfSecretFile(password.file));
  return text.replace(/\r?\n$/, '');
}

function described(publication: Publication, url: string, durationMs: number): string {
  const { tenant, fromRunId, throughRunId, runs, rows, changes } = publication;
  const seconds = (durationMs / 1000).toFixed(1);
  if (fromRunId === null)
    return `${tenant}: nothing new; ${url} has run ${throughRunId}, verified in ${seconds} s.\n`;
  const which =
    runs === 1 ? `run ${throughRunId}` : `${counted(runs, 'run')}, ${fromRunId} to ${throughRunId}`;
  return `${tenant}: ${which}: ${counted(rows, 'row')} and ${counted(changes, 'change')} sent to ${url} and verified in ${seconds} s.\n`;
}
