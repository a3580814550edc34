import type { ProxySetting } from '../../config/proxy.ts';
import { type PublishConfig, resolvePublish } from '../../config/publish-settings.ts';
import { nameOfSecretFile, readSmallFile } from '../../config/small-file.ts';
import { UsageError } from '../../errors.ts';
import { ClickHouse } from '../../publish/clickhouse.ts';
import { type Publication, publish } from '../../publish/publish.ts';
import { count, counted } from '../../render/numbers.ts';
import type { Secrets } from '../../service/secrets.ts';
import { PublishRows } from '../../store/read/publish-rows.ts';
import type { Context } from '../command.ts';
import { StatusLine } from '../progress.ts';

/** The result of a publication, and where it went. */
export interface Published {
  readonly publication: Publication;
  readonly url: string;
  readonly durationMs: number;
}

/** Publishes the mirror. */
export async function publishToClickHouse(
  given: { readonly again: boolean; readonly replaceTenant: boolean },
  context: Context,
): Promise<Published> {
  const { environment, settings, stderr, signal, secrets, clock } = context;
  const { database, timeoutMs, giveUpAfterMs } = context.config;
  const { password, tenant, ...addressee } = resolvePublish(settings.flags, environment);
  if (addressee.proxy !== null) assertProxyCanBeUsed(addressee.proxy, secrets);
  const secret = await textOf(password);
  hide(addressee.user, secret, secrets);
  const target = new ClickHouse({ ...addressee, password: secret, timeoutMs, giveUpAfterMs, signal });
  const line = new StatusLine(stderr);
  const startedAtMs = performance.now();
  context.notifier?.begun();
  try {
    const publication = await publish(() => PublishRows.open(database), target, {
      tenant,
      ...given,
      clock,
      signal,
      onProgress: (done, total) => line.show(`publishing ${count(done)}/${count(total)} rows`),
    });
    return { publication, url: addressee.url, durationMs: Math.round(performance.now() - startedAtMs) };
  } finally {
    line.clear();
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
  const text = readSmallFile(from, password.file, passwordBytesMax, nameOfSecretFile(password.file));
  return text.replace(/\r?\n$/, '');
}

/** A publication in a sentence. */
export function publishedText({ publication, url, durationMs }: Published): string {
  const { tenant, fromRunId, throughRunId, runs, rows, changes } = publication;
  const seconds = (durationMs / 1000).toFixed(1);
  if (fromRunId === null)
    return `${tenant}: nothing new; ${url} has run ${throughRunId}, verified in ${seconds} s.\n`;
  const which =
    runs === 1 ? `run ${throughRunId}` : `${counted(runs, 'run')}, ${fromRunId} to ${throughRunId}`;
  return `${tenant}: ${which}: ${counted(rows, 'row')} and ${counted(changes, 'change')} sent to ${url} and verified in ${seconds} s.\n`;
}
