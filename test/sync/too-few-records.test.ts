import { expect, test } from 'vitest';
import { beforeEachAnswer } from '../support/answers.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { feedOf, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { documentExport, type SampleItem } from '../support/stand-in.ts';

// The rows of a list that was read are no fewer than the totals that its answers stated.

const exportsOf = ({ service }: Scene) => service.lists['document-exports'] as SampleItem[];

const rowsIn = (scene: Scene) => sqlite(scene.database, 'SELECT count(*) AS n FROM document_exports')[0]?.n;

async function setExports() {
  const scene = await setScene({ maxPageSize: 100 }, { exports: 400 });
  scene.env.DOCMIRROR_CONCURRENCY = '1';
  return scene;
}

/** Lets an export come behind the one at a place, with a time a second later. */
function comeBehind(scene: Scene, at: number, n: number): void {
  const time = Date.parse(`${exportsOf(scene)[at]?.exportedAt}`) + 1_000;
  exportsOf(scene).splice(at + 1, 0, documentExport(n, { exportedAt: new Date(time).toISOString() }));
}

/** Before the third answer, one export goes from a place and another one comes at a place, in one moment. */
function swap(scene: Scene, gone: number, come: number, n: number): void {
  beforeEachAnswer(scene.service, 'document-exports', answer => {
    if (answer.n !== 3) return;
    exportsOf(scene).splice(gone, 1);
    comeBehind(scene, come, n);
  });
}

test('a record that no page shows, because one goes while another one comes, makes the list unproven', async () => {
  await using scene = await setExports();
  swap(scene, 350, 50, 1_001);
  const synced = await scene.sync('--full');
  expect({ code: synced.code, ...synced.of('document-exports') }).toMatchObject({
    code: 3,
    completeness: 'unproven',
    inserted: 399,
    reason: expect.stringMatching(/\b399\b.*\b400\b/),
  });
  expect(rowsIn(scene)).toBe(399);
  scene.service.onRequest = undefined;
  const next = await scene.sync('--full');
  expect({ code: next.code, ...next.of('document-exports') }).toMatchObject({
    code: 0,
    completeness: 'proven',
    inserted: 1,
  });
  expectExactMirror(scene.database, scene.service);
});

test('removes nothing from a mirror that had the record, until a run shows as many as the totals', async () => {
  await using scene = await setExports();
  await scene.sync('--full');
  swap(scene, 350, 50, 1_001);
  const synced = await scene.sync('--full');
  expect({ code: synced.code, ...synced.of('document-exports') }).toMatchObject({
    code: 3,
    completeness: 'unproven',
    inserted: 0,
    removed: 0,
    reason: expect.stringMatching(/\b399\b.*\b400\b/),
  });
  expect(rowsIn(scene)).toBe(400);
  expect(feedOf(scene.database, 'document-exports', 2)).toEqual({});
  scene.service.onRequest = undefined;
  const next = await scene.sync('--full');
  expect({ code: next.code, ...next.of('document-exports') }).toMatchObject({
    code: 0,
    completeness: 'proven',
    inserted: 1,
    removed: 1,
  });
  expectExactMirror(scene.database, scene.service);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('a record more than the totals state is one that went after it was read, and no alarm', async () => {
  await using scene = await setExports();
  swap(scene, 50, 350, 1_001);
  const synced = await scene.sync('--full');
  expect({ code: synced.code, ...synced.of('document-exports') }).toMatchObject({
    code: 0,
    completeness: 'proven',
    reason: null,
    inserted: 401,
  });
  scene.service.onRequest = undefined;
  const next = await scene.sync('--full');
  expect({ code: next.code, ...next.of('document-exports') }).toMatchObject({ code: 0, removed: 1 });
  expectExactMirror(scene.database, scene.service);
});

test('a list whose totals move while it is read can have as many records fewer', async () => {
  await using scene = await setExports();
  // Two come at places that were read before, and later two go that were not read yet.
  beforeEachAnswer(scene.service, 'document-exports', ({ n }) => {
    if (n === 2) for (const at of [20, 30]) comeBehind(scene, at, 2_000 + at);
    if (n === 3) exportsOf(scene).splice(350, 2);
  });
  const synced = await scene.sync('--full');
  expect({ code: synced.code, ...synced.of('document-exports') }).toMatchObject({
    code: 0,
    completeness: 'proven',
    reason: null,
    inserted: 398,
  });
  expect(rowsIn(scene)).toBe(398);
});
