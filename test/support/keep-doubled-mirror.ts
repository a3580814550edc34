// Keeps a mirror that 0.4.0 left with two rows for many exports. It was run once in a checkout of 0.4.0, with this file copied into it:
// node test/support/keep-doubled-mirror.ts
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { syncScene } from './in-process.ts';
import { temporaryFolder } from './run-cli.ts';
import { make } from './scene.ts';
import { collection, documentExport, startStandIn, webhook } from './stand-in.ts';

/** The exports of the mirror, as a service lists them whose nodes all have the next release. */
export const exportsOfRelease = () => make(100, n => documentExport(n, { language: 'de' }));

if (import.meta.main) {
  await using folder = temporaryFolder();
  await using service = await startStandIn({ maxPageSize: 20 });
  const database = join(folder.path, 'mirror.sqlite');
  service.lists.collections = make(7, n => collection(n));
  service.lists.webhooks = make(3, n => webhook(n));
  // One night before the release; then two in which a node with it and one without it answer by turns.
  const lists = [make(100, n => documentExport(n)), exportsOfRelease()] as const;
  let [night, answers] = [0, 0];
  service.onRequest = ({ resource }) => {
    if (resource !== 'document-exports') return;
    service.lists[resource] = lists[night === 0 ? 0 : ++answers % 2] as (typeof lists)[0];
  };
  for (; night < 3; night++) {
    const { code } = await syncScene({ service, database }, { concurrency: 1 });
    const sqlite = new Database(database);
    const rows = sqlite.prepare('SELECT count(*) FROM document_exports').pluck().get();
    sqlite.close();
    console.log(`night ${night}: exit code ${code}, ${rows} rows`);
  }
  const sqlite = new Database(database);
  sqlite.pragma('wal_checkpoint(TRUNCATE)');
  const bytes = sqlite.serialize();
  sqlite.close();
  rmSync(database);
  writeFileSync(join(import.meta.dirname, 'mirror-0.4.0-doubled.sqlite.gz'), gzipSync(bytes, { level: 9 }));
}
