import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leafHash } from '../../src/audit/hashes.ts';
import { type Receipt, receiptText } from '../../src/audit/receipt.ts';
import { executeIn } from '../support/accepted.ts';
import { putKept } from '../support/kept.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection } from '../support/stand-in.ts';

// What a restore leaves behind, as `verify --checkpoint` and `audit receipts` show it.

/** A mirror whose runs, backups and checkpoints are made by name. */
async function setHistory() {
  const scene = await setScene({}, { exports: 3, collections: 1, webhooks: 1 });
  const done = async (...args: string[]) =>
    expect(await scene.run(...args)).toMatchObject({ code: 0, stderr: '' });
  await done('audit', 'keygen', 'key.pem');
  scene.env.DOCMIRROR_SIGNING_KEY_FILE = join(scene.folder, 'key.pem');
  let id = 100;
  const to = {
    run: async () => {
      scene.service.lists.collections.push(collection(id++));
      await done('sync');
    },
    backUp: (name: string) => done('backup', `${name}.sqlite`),
    pin: (name: string) => done('audit', 'checkpoint', '--out', `${name}.checkpoint`),
    restore: (name: string) => done('backup', '--restore', `${name}.sqlite`),
    verify: (name: string) => scene.run('verify', '--checkpoint', `${name}.checkpoint`),
  };
  return { scene, ...to };
}

const restoresOf = ({ database }: Scene) =>
  sqlite(
    database,
    "SELECT receipt FROM sync_receipts WHERE receipt ->> 'kind' = 'restore' ORDER BY leaf_index",
  ).map(({ receipt }) => JSON.parse(`${receipt}`));
const leavesOf = ({ database }: Scene) =>
  sqlite(database, 'SELECT leaf_hash FROM sync_receipts ORDER BY leaf_index').map(row => `${row.leaf_hash}`);

/** Changes the log as a careful forger does, who takes its triggers away and makes them again. */
function forge({ database }: Scene, statement: string): void {
  const triggers = sqlite(database, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
  const drop = triggers.map(({ name }) => `DROP TRIGGER ${name};`);
  const make = triggers.map(({ sql }) => `${sql};`);
  executeIn(database, [...drop, statement, ';', ...make].join('\n'));
}

/** Puts a receipt in the place of another one, with its hash. */
function forgeReceipt(scene: Scene, leafIndex: number, receipt: object): void {
  const text = receiptText(receipt as Receipt).replaceAll("'", "''");
  const hash = leafHash(text).toString('hex');
  const set = `receipt = '${text}', leaf_hash = '${hash}'`;
  forge(scene, `UPDATE sync_receipts SET ${set} WHERE leaf_index = ${leafIndex}`);
}

const fits = { code: 0, stdout: expect.stringContaining('It is from before a restore') };

test('a checkpoint from before a restore fits the receipts that the restore left behind', async () => {
  const { scene, ...to } = await setHistory();
  await using _scene = scene;
  scene.env.DOCMIRROR_ACTOR = 'ann';
  await to.run();
  await to.pin('old');
  await to.backUp('a');
  await to.run();
  await to.pin('between');
  await to.run();
  const lost = leavesOf(scene).slice(1);
  await to.restore('a');
  const [restore] = restoresOf(scene);
  expect(restore).toMatchObject({ actor: 'ann', fromRunId: 1, shared: 1, leftBehind: lost, earlier: [] });
  await to.run();
  await to.run();
  expect(await to.verify('between')).toMatchObject(fits);
  expect((await to.verify('old')).stdout).not.toContain('before a restore');
  await to.pin('new');
  expect(await scene.run('audit', 'receipts')).toMatchObject({
    stdout: expect.stringContaining('left behind: 2 receipts'),
  });

  const { leftBehind } = restore;
  forgeReceipt(scene, 1, { ...restore, leftBehind: [...leftBehind].reverse() });
  expect(await to.verify('between')).toMatchObject({ code: 4 });
  expect(await to.verify('new')).toMatchObject({ code: 4 });
  forgeReceipt(scene, 1, { ...restore, shared: 9 });
  expect(await scene.run('verify')).toMatchObject({ code: 4 });
  forgeReceipt(scene, 1, restore);
  expect(await to.verify('new')).toMatchObject({ code: 0 });
  forge(scene, 'DELETE FROM sync_receipts WHERE leaf_index = 1');
  expect(await to.verify('between')).toMatchObject({ code: 4 });
});

test('checkpoints fit through restores of an older backup, then of a newer one, and of the same state', async () => {
  const { scene, ...to } = await setHistory();
  await using _scene = scene;
  await to.run();
  await to.backUp('a');
  await to.run();
  await to.backUp('b');
  await to.run();
  await to.pin('first');
  await to.restore('b');
  await to.run();
  await to.pin('second');
  await to.restore('a');
  await to.restore('a');
  await to.run();
  await to.pin('third');
  for (const name of ['first', 'second']) expect(await to.verify(name)).toMatchObject(fits);
  expect(await to.verify('third')).toMatchObject({ code: 0 });
  await to.restore('b');
  await to.backUp('c');
  await to.run();
  await to.restore('c');
  await to.run();
  for (const name of ['first', 'second', 'third']) expect(await to.verify(name)).toMatchObject(fits);
  await to.pin('fourth');
  expect((await to.verify('fourth')).stdout).not.toContain('before a restore');
  const [one, two, ...more] = restoresOf(scene);
  expect([one.earlier.length > 0, two.leftBehind.length, two.earlier, more]).toEqual([true, 1, [], []]);
});

test('a restore over no mirror, or over one without its log, says that it does not know what was left behind', async () => {
  const { scene, ...to } = await setHistory();
  await using _scene = scene;
  await to.run();
  await to.backUp('a');
  for (const spoil of [
    () => executeIn(scene.database, 'DROP TABLE sync_receipts'),
    () => rmSync(scene.database),
  ]) {
    await to.run();
    await to.pin('between');
    spoil();
    await to.restore('a');
    expect(restoresOf(scene)).toMatchObject([{ shared: 0, leftBehind: null, earlier: [] }]);
    await to.run();
    const stdout = expect.stringContaining('could not read the mirror that it replaced');
    expect(await to.verify('between')).toMatchObject({ code: 4, stdout });
    await to.restore('a');
  }
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('a restore of a mirror of 0.5.0 is in the log after the next run', async () => {
  const { scene, ...to } = await setHistory();
  await using _scene = scene;
  const backup = join(scene.folder, 'a.sqlite');
  putKept('mirror-0.5.0', backup);
  copyFileSync(backup, scene.database);
  const begin = () => scene.run('sync', '--give-up-after', '0', '--accept-new-base-url');
  await begin();
  await to.pin('between');
  await to.restore('a');
  await to.restore('a');
  expect(restoresOf(scene)).toEqual([]);
  await begin();
  expect(restoresOf(scene)).toHaveLength(1);
  expect(await to.verify('between')).toMatchObject(fits);

  // A restore that was killed before the backup took the place of the mirror did not happen.
  copyFileSync(backup, scene.database);
  const leaves = leavesOf(scene);
  const [{ mirror_id: mirrorId } = {}] = sqlite(scene.database, 'SELECT mirror_id FROM _mirror');
  const about = { kind: 'restore', mirrorId, at: '2026-11-29T08:00:00.000Z', actor: '', fromRunId: 1 };
  const restore = receiptText({ ...about, shared: 1, leftBehind: leaves.slice(1), earlier: [] } as Receipt);
  writeFileSync(`${scene.database}.restored`, JSON.stringify({ receipts: 1, restore }));
  await begin();
  expect(restoresOf(scene)).toEqual([]);
});

test('a restore names the acceptances that it loses, and those whose withdrawal it loses', async () => {
  const { scene, ...to } = await setHistory();
  await using _scene = scene;
  await to.run();
  const accept = (...args: string[]) => scene.run('accept', ...args, '--why', 'known', '--anyway');
  await accept('collections', 'pages_short');
  await to.backUp('a');
  await accept('webhooks', 'pages_short');
  await accept('webhooks', 'totals_differ');
  for (const id of ['1', '3']) await scene.run('accept', '--withdraw', id, '--why', 'mended');
  const { code, stdout } = await scene.run('backup', '--restore', 'a.sqlite');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Lost.*webhooks: pages_short .*\(2\): known$/m);
  expect(stdout).toMatch(/^In force again.*collections: pages_short .*\(1\): known$/m);
  expect(stdout).not.toContain('totals_differ');
  const again = await scene.run('backup', '--restore', 'a.sqlite', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ acceptances: [] });
});
