import type { Labels } from '../../config/parse.ts';
import type { Backup } from '../../store/backup/backup.ts';
import { type Manifest, sha256Of } from '../../store/backup/manifest.ts';
import { identityOf } from '../../store/file/mirror-identity.ts';
import { checkpointOf } from '../../store/read/checkpoint-of.ts';
import { RunReader } from '../../store/read/run-reader.ts';
import { version } from '../../version.ts';

/** The manifest of a backup that was just made. */
export async function manifestOf(
  { path, bytes, newestRunId }: Backup,
  labels: Labels,
  signal: AbortSignal,
): Promise<Manifest> {
  const { mirrorId, baseUrl } = identityOf(path);
  using reader = new RunReader(path);
  const counts = reader.status().map(({ resource, recordCount }) => [resource, recordCount]);
  return {
    mirrorId: mirrorId ?? '',
    baseUrl,
    labels,
    runId: newestRunId,
    rootHash: Buffer.from(checkpointOf(path).root).toString('hex'),
    recordCounts: Object.fromEntries(counts),
    bytes,
    sha256: await sha256Of(path, signal),
    docmirrorVersion: version,
    at: new Date().toISOString(),
  };
}
