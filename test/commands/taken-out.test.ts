import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { textsIn } from '../support/share.ts';
import { collection, documentExport } from '../support/stand-in.ts';

const canary = 'Erika-Mustermann';

/** What an operator does to a mirror to make queries of their own fast. */
function tune(path: string): void {
  new Database(path)
    .exec(
      'CREATE INDEX mine ON document_exports (source_document_title); CREATE INDEX names ON connections (name); ANALYZE',
    )
    .close();
}

/** In which of some files the canary is. */
const filesWith = (...paths: readonly string[]) =>
  paths.filter(path => existsSync(path) && textsIn(path, [canary]).length > 0);

test('a name that was erased is in no byte of mirror, share or backup, and verify is content', async () => {
  await using scene = await setScene({ maxPageSize: 20 }, { exports: 0 });
  const named = (n: number, name: string) => ({ ...documentExport(n), sourceConnection: { id: 1, name } });
  const all = Array.from({ length: 250 }, (_, n) => named(n + 1, canary));
  scene.service.lists['document-exports'] = all;
  scene.service.lists.collections = [];
  scene.service.lists.webhooks = [];
  await scene.sync('--full');
  tune(scene.database);
  for (let n = 0; n < all.length; n++) all[n] = named(n + 1, 'Connection 1');
  all.push(named(251, 'Connection 1'));
  await scene.sync();
  expect(filesWith(scene.database)).toHaveLength(1);
  const erased = await scene.run('erase', 'connections', '1');
  expect(erased, erased.stderr).toMatchObject({ code: 0 });
  const [share, backup] = ['share.sqlite', 'backup.sqlite'].map(name => join(scene.folder, name)) as [
    string,
    string,
  ];
  await scene.run('share', share);
  await scene.run('backup', backup);
  expect(filesWith(scene.database, `${scene.database}-wal`, share, backup)).toEqual([]);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
  expect(await scene.sync()).toMatchObject({ code: 0 });
});

test('a text that was pruned is in no byte of the mirror', async () => {
  await using scene = await setScene({}, { exports: 5 });
  const named = (word: string) =>
    Array.from({ length: 300 }, (_, n) => ({ ...collection(n + 1), name: `${word}-${n}-${'x'.repeat(60)}` }));
  scene.service.lists.collections = named(canary);
  await scene.sync();
  scene.service.lists.collections = named('another');
  await scene.sync();
  scene.env.DOCMIRROR_KEEP_HISTORY = '1s';
  for (let run = 0; run < 2; run++) {
    await wait(1_100);
    await scene.sync();
  }
  expect(sqlite(scene.database, 'SELECT count(*) AS n FROM record_history')).toEqual([{ n: 0 }]);
  expect(filesWith(scene.database, `${scene.database}-wal`)).toEqual([]);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('a share without a field has no byte of it, and no sum with which a guess of it can be checked', async () => {
  await using scene = await setScene({}, { exports: 20 });
  for (const each of scene.service.lists['document-exports'] as Record<string, unknown>[])
    each.sourceDocumentTitle = `${canary} ${each.sourceDocumentReference}`;
  await scene.sync();
  tune(scene.database);
  const share = join(scene.folder, 'share.sqlite');
  await scene.run('share', share, '--without', 'sourceDocumentTitle');
  expect(filesWith(share)).toEqual([]);
  const sums = 'SELECT resource FROM sync_run_resources WHERE checksum IS NOT NULL';
  expect(sqlite(share, sums)).toEqual([{ resource: 'collections' }]);
  expect(sqlite(share, 'SELECT 1 FROM document_exports WHERE _content IS NOT NULL')).toEqual([]);
});

test('runs keep a share without what the settings name, and make it again when these or the statements change', async () => {
  await using scene = await setScene({}, { exports: 3 });
  const share = join(scene.folder, 'share.sqlite');
  const titles = () => sqlite(share, 'SELECT count(source_document_title) AS n FROM document_exports')[0]?.n;
  const mark = () => sqlite(share, 'SELECT hex(mark) AS m FROM _share')[0]?.m;
  scene.env.DOCMIRROR_SHARE = share;
  await scene.sync();
  expect(titles()).toBe(3);
  scene.env.DOCMIRROR_SHARE_WITHOUT = 'sourceDocumentTitle';
  await scene.sync();
  expect(titles()).toBe(0);
  const before = mark();
  await scene.sync();
  expect(mark()).toBe(before);
  (scene.service.lists['document-exports'] as object[]).push(documentExport(4));
  await scene.sync();
  expect(titles()).toBe(0);
  scene.env.DOCMIRROR_SHARE_WITHOUT = '';
  await scene.sync();
  expect(titles()).toBe(4);
  const statements = join(scene.folder, 'redact.sql');
  writeFileSync(statements, 'UPDATE document_exports SET source_document_title = NULL');
  utimesSync(statements, 1_700_000_000, 1_700_000_000);
  scene.env.DOCMIRROR_SHARE_SQL = statements;
  await scene.sync();
  expect(titles()).toBe(0);
  writeFileSync(statements, 'UPDATE document_exports SET source_document_kind = NULL');
  utimesSync(statements, 1_700_000_000, 1_700_000_000);
  await scene.sync();
  expect(titles()).toBe(4);
});
