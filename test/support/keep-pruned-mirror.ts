// Keeps a mirror whose old versions were deleted. It was run once in a checkout of 0.4.0, with this file copied into it:
// node test/support/keep-pruned-mirror.ts
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import manifest from '../../package.json' with { type: 'json' };
import { syncScene } from './in-process.ts';
import { temporaryFolder } from './run-cli.ts';
import { make } from './scene.ts';
import { collection, documentExport, type SampleItem, startStandIn, webhook } from './stand-in.ts';

const hourMs = 3_600_000;

await using folder = temporaryFolder();
await using service = await startStandIn({ maxPageSize: 20 });
const database = join(folder.path, 'mirror.sqlite');
service.lists['document-exports'] = make(12, n => documentExport(n));
service.lists.collections = make(7, n => collection(n));
service.lists.webhooks = make(3, n => webhook(n));
// A run an hour; the fourth deletes what the second ended, and the fifth changes what it left.
for (const hour of [0, 1, 2, 3, 4]) {
  if (hour > 0) Object.assign(service.lists.collections[hour] as SampleItem, { name: `In run ${hour + 1}` });
  if (hour === 4) service.lists['document-exports'].splice(3, 1);
  const now = new Date(Date.UTC(2026, 10, 1) + hour * hourMs);
  await syncScene({ service, database }, { now, ...(hour === 3 && { keepHistoryMs: 0.5 * hourMs }) });
}
const sqlite = new Database(database);
sqlite.pragma('wal_checkpoint(TRUNCATE)');
const bytes = sqlite.serialize();
sqlite.close();
rmSync(database);
writeFileSync(
  join(import.meta.dirname, `mirror-${manifest.version}-pruned.sqlite.gz`),
  gzipSync(bytes, { level: 9 }),
);
