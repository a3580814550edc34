import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { exportsOfRelease } from '../support/keep-doubled-mirror.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { feedOf, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

// 0.4.0 left two rows for many exports if two nodes of the service wrote them in two ways. The mirror has 100 exports in 188 rows.

const kept = gunzipSync(readFileSync(join(import.meta.dirname, '../support/mirror-0.4.0-doubled.sqlite.gz')));

const rowsIn = ({ database }: Scene) =>
  sqlite(database, 'SELECT count(*) AS n FROM document_exports')[0]?.n as number;

/** The doubled mirror, and its service, whose nodes all have the next release. */
async function setDoubled(): Promise<Scene> {
  const scene = await setScene({ maxPageSize: 20 });
  scene.service.lists['document-exports'] = exportsOfRelease();
  writeFileSync(scene.database, kept, { mode: 0o600 });
  scene.env.DOCMIRROR_MAX_REMOVALS = '1%';
  return scene;
}

test('a mirror that 0.4.0 left with doubled rows is right after one run, and nothing is withheld', async () => {
  await using scene = await setDoubled();
  const before = rowsIn(scene);
  expect(before).toBe(188);
  const synced = await scene.sync('--full', '--accept-new-base-url');
  const outcome = synced.of('document-exports');
  expect({ code: synced.code, ...outcome }).toMatchObject({
    code: 0,
    completeness: 'proven',
    inserted: 0,
    removed: before - 100,
    removalsWithheld: 0,
    reason: null,
  });
  expectExactMirror(scene.database, scene.service);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
  expect((await scene.sync('--full')).of('document-exports')).toMatchObject({ unchanged: 100, removed: 0 });
});

test('its removals are in the history, and leave the row of each export', async () => {
  await using scene = await setDoubled();
  const runs = sqlite(scene.database, 'SELECT max(id) AS n FROM sync_runs')[0]?.n as number;
  const before = rowsIn(scene);
  await scene.sync('--full', '--accept-new-base-url');
  const { insert, removal } = feedOf(scene.database, 'document-exports', runs + 1);
  expect({ insert, removal }).toEqual({ insert: undefined, removal: before - 100 });
  expect(
    sqlite(scene.database, 'SELECT count(DISTINCT source_document_reference) AS n FROM document_exports'),
  ).toEqual([{ n: 100 }]);
  expect(
    sqlite(scene.database, `SELECT count(*) AS n FROM document_exports WHERE _extra = '{"language":"de"}'`),
  ).toEqual([{ n: 100 }]);
  expect(await scene.run('verify', '--live')).toMatchObject({ code: 0 });
});

test('exports that are gone from the list are not counted with the doubled rows', async () => {
  await using scene = await setDoubled();
  scene.service.lists['document-exports'].splice(10, 5);
  const synced = await scene.sync('--full', '--accept-new-base-url');
  expect({ code: synced.code, ...synced.of('document-exports') }).toMatchObject({
    code: 0,
    inserted: 0,
    removed: 188 - 95,
    removalsWithheld: 0,
  });
  expectExactMirror(scene.database, scene.service);
});

test('an export that is gone from the list is withheld beside them if it is one of too many', async () => {
  await using scene = await setDoubled();
  // 30 are more than 1 %, and more than the 20 that can always go.
  scene.service.lists['document-exports'].splice(10, 30);
  const synced = await scene.sync('--full', '--accept-new-base-url');
  expect(synced.code).toBe(3);
  expect(synced.of('document-exports').removalsWithheld).toBeGreaterThanOrEqual(30);
  // The exports that are listed have one row each.
  const listed = scene.service.lists['document-exports'].map(
    item => `'${Object(item).sourceDocumentReference}'`,
  );
  expect(
    sqlite(
      scene.database,
      `SELECT count(*) AS n FROM document_exports WHERE source_document_reference IN (${listed.join(', ')})`,
    ),
  ).toEqual([{ n: 70 }]);
});
