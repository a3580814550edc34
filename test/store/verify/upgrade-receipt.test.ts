import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { expect, test } from 'vitest';
import { openForWriting } from '../../../src/store/file/open-to-write.ts';
import { versionFingerprintBefore } from '../../../src/store/tables/content-sums.ts';
import { verifyMirror } from '../../../src/store/verify/verify.ts';
import { syncScene } from '../../support/in-process.ts';
import { sqlite } from '../../support/run-cli.ts';
import { setScene } from '../../support/scene.ts';
import { collection } from '../../support/stand-in.ts';

const signal = new AbortController().signal;
const differencesIn = async (path: string) => (await verifyMirror(path, { limit: 20, signal })).differences;

/** A mirror as 0.1.0 left it: a run that completed, one that renamed a collection, and one that died. */
function makeOld(path: string, folder: string, baseUrl: string): void {
  const migrations = join(folder, 'migrations');
  cpSync(join(import.meta.dirname, '..', '..', '..', 'migrations'), migrations, { recursive: true });
  const journalPath = join(migrations, 'meta/_journal.json');
  const journal: { entries: unknown[] } = JSON.parse(readFileSync(journalPath, 'utf8'));
  writeFileSync(journalPath, JSON.stringify({ ...journal, entries: journal.entries.slice(0, 2) }));
  const database = new Database(path);
  migrate(drizzle(database), { migrationsFolder: migrations });
  const run = database.prepare(
    `INSERT INTO sync_runs (status, "trigger", started_at, completed_at, docmirror_version, base_url)
     VALUES (?, 'manual', '2026-01-01T00:00:00.000Z', ?, '0.1.0', ?)`,
  );
  const at = '2026-01-01T00:01:00.000Z';
  run.run('completed', at, baseUrl);
  run.run('completed', at, baseUrl);
  run.run('running', null, baseUrl);
  const version = {
    resource: 'collections',
    recordId: 1,
    firstSeenRunId: 1,
    validFromRunId: 1,
    validToRunId: 2,
    endedBy: 'update',
    record: '{"id":1,"name":"Old","sourceConnection":{"id":3,"name":"Three"},"destinationConnection":null}',
  };
  database.exec(`
    INSERT INTO connections (id, name, _first_seen_run_id, _changed_run_id, _name_rank) VALUES (3, 'Three', 1, 1, 3);
    INSERT INTO collections (id, name, source_connection_id, _first_seen_run_id, _changed_run_id, _fingerprint)
      VALUES (1, 'New', 3, 1, 2, zeroblob(16));
    INSERT INTO sync_run_resources (run_id, resource, status, completeness, inserted, updated, started_at, record_count, digest) VALUES
      (1, 'collections', 'completed', 'count_matched', 1, 0, '${at}', 1, 'x'),
      (2, 'collections', 'completed', 'proven', 0, 1, '${at}', 1, 'x'),
      (3, 'collections', 'running', NULL, 0, 0, '${at}', NULL, NULL)`);
  database
    .prepare(
      `INSERT INTO record_history (resource, record_id, first_seen_run_id, valid_from_run_id, valid_to_run_id, ended_by, record, _fingerprint)
       VALUES (@resource, @recordId, @firstSeenRunId, @validFromRunId, @validToRunId, @endedBy, @record, @fingerprint)`,
    )
    .run({ ...version, fingerprint: versionFingerprintBefore(version) });
  database.close();
}

test('a mirror of 0.1.0 gets a receipt of what it holds, and one for each run from then on', async () => {
  await using scene = await setScene({}, { exports: 3, collections: 0, webhooks: 0 });
  const { database, folder, service } = scene;
  makeOld(database, folder, service.url);
  openForWriting(database).close();
  expect(await differencesIn(database)).toEqual([]);
  const [first] = sqlite(database, 'SELECT run_id, receipt FROM sync_receipts');
  const upgrade = JSON.parse(String(first?.receipt));
  expect(first?.run_id).toBeNull();
  expect(upgrade).toMatchObject({ kind: 'upgrade', fromVersion: '0.1.0' });
  const upgrades = new Database(database);
  upgrades.exec("UPDATE docmirror_upgrades SET version = '9.9.9'");
  expect(await differencesIn(database)).toMatchObject([{ table: 'docmirror_upgrades' }]);
  upgrades.prepare('UPDATE docmirror_upgrades SET version = ?').run(upgrade.docmirrorVersion);
  upgrades.close();
  expect(
    upgrade.lists.map(({ resource, recordCount }: { resource: string; recordCount: number }) => [
      resource,
      recordCount,
    ]),
  ).toEqual([
    ['document-exports', 0],
    ['collections', 1],
    ['webhooks', 0],
    ['connections', 1],
  ]);

  service.lists.collections = [collection(1, { name: 'Newest' })];
  await syncScene(scene);
  expect(await differencesIn(database)).toEqual([]);
  const kinds = sqlite(
    database,
    `SELECT run_id, receipt ->> 'status' AS status FROM sync_receipts ORDER BY leaf_index`,
  );
  expect(kinds.map(({ run_id, status }) => [run_id, status])).toEqual([
    [null, null],
    [3, 'interrupted'],
    [4, 'completed'],
  ]);
});

test('what others had changed in the history before an upgrade is still found', async () => {
  await using scene = await setScene();
  makeOld(scene.database, scene.folder, scene.service.url);
  const database = new Database(scene.database);
  database.exec(`UPDATE record_history SET record = replace(record, 'Old', 'Forged')`);
  database.close();
  openForWriting(scene.database).close();
  expect(await differencesIn(scene.database)).not.toEqual([]);
});
