import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { runKilledAt } from '../../support/kill-at.ts';
import { sqlite } from '../../support/run-cli.ts';
import { setScene } from '../../support/scene.ts';
import { documentExport } from '../../support/stand-in.ts';

const options = { timeout: 120_000 };

const backupFolder = (folder: string, name: string) => {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
};

/** A mirror whose second run is only in its log, as if the machine had ended then, and a backup of the first run. */
async function setLoggedScene() {
  const scene = await setScene({}, { exports: 5, collections: 2, webhooks: 1 });
  await scene.sync();
  const backup = join(scene.folder, 'backup.sqlite');
  await scene.run('backup', backup);
  // A reader keeps the log from being written into the file.
  const reader = new Database(scene.database);
  reader.exec('BEGIN; SELECT count(*) FROM sync_runs');
  reader.prepare('SELECT count(*) FROM sync_runs').get();
  scene.service.lists['document-exports'].push(documentExport(90));
  expect(await scene.sync()).toMatchObject({ code: 0 });
  const old = backupFolder(scene.folder, 'old');
  for (const end of ['', '-wal']) copyFileSync(`${scene.database}${end}`, join(old, `m.sqlite${end}`));
  reader.close();
  return { scene, backup, old };
}

test(
  'a restore that is killed at any step leaves the old mirror with its log, or the whole backup',
  options,
  async () => {
    const { scene, backup, old } = await setLoggedScene();
    await using _ = scene;
    const seen = { old: 0, new: 0 };
    for (let at = 1; ; at++) {
      const folder = backupFolder(scene.folder, `try-${at}`);
      const mirror = join(folder, 'm.sqlite');
      for (const name of readdirSync(old)) copyFileSync(join(old, name), join(folder, name));
      const args = ['backup', '--restore', backup, '--database', mirror];
      const { wasKilled, code, stderr } = await runKilledAt(at, scene.folder, args, { env: scene.env });
      const [{ runs } = { runs: 0 }] = sqlite(mirror, 'SELECT max(id) AS runs FROM sync_runs') as {
        runs: number;
      }[];
      const restores = sqlite(
        mirror,
        "SELECT 1 FROM sync_receipts WHERE receipt ->> 'kind' = 'restore'",
      ).length;
      expect([runs, restores], `step ${at}`).toEqual(runs === 2 ? [2, 0] : [1, 1]);
      const verified = await scene.run('verify', '--database', mirror);
      expect(verified, `step ${at}: ${verified.stdout}`).toMatchObject({ code: 0 });
      seen[runs === 2 ? 'old' : 'new']++;
      if (!wasKilled) {
        expect({ code, runs }, stderr).toEqual({ code: 0, runs: 1 });
        break;
      }
      rmSync(folder, { recursive: true });
    }
    expect(seen.old).toBeGreaterThan(10);
    expect(seen.new).toBeGreaterThan(2);
  },
);

test('a restore is refused while a reader keeps the log of the old mirror from its file, and nothing is lost', async () => {
  const { scene, backup, old } = await setLoggedScene();
  await using _ = scene;
  const mirror = join(old, 'm.sqlite');
  const reader = new Database(mirror);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM sync_runs').get();
  const restore = () => scene.run('backup', '--restore', backup, '--database', mirror);
  // The reader has the newest state, so that the log can be written, but not be emptied.
  expect(await restore()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Another program reads .*m\.sqlite.*\[database_locked\]/s),
  });
  expect(sqlite(mirror, 'SELECT max(id) AS runs FROM sync_runs')).toEqual([{ runs: 2 }]);
  reader.close();
  expect(await restore()).toMatchObject({ code: 0 });
  expect(sqlite(mirror, 'SELECT max(id) AS runs FROM sync_runs')).toEqual([{ runs: 1 }]);
});

test.each([
  ['over an older one', []],
  ['into a folder', ['--keep', '3']],
] as const)(
  'a backup %s that is killed at any step leaves none that is listed as altered',
  options,
  async (_, keep) => {
    const { scene } = await setLoggedScene();
    await using _scene = scene;
    const folder = backupFolder(scene.folder, 'backups');
    const target = keep.length === 0 ? join(folder, 'b.sqlite') : folder;
    type Listed = { path: string; runId?: number; isSound: boolean | null; isNewest: boolean };
    const listed = async (): Promise<Listed[]> =>
      JSON.parse((await scene.run('backup', '--list', folder, '--json')).stdout).backups;
    const firstBackup = async () => {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
      const first = join(folder, keep.length === 0 ? 'b.sqlite' : 'docmirror-20260101T000000Z.sqlite');
      for (const end of ['', '.json'])
        copyFileSync(join(scene.folder, `backup.sqlite${end}`), `${first}${end}`);
    };
    const seen = new Set<unknown>();
    for (let at = 1; ; at++) {
      await firstBackup();
      const { wasKilled, code, stderr } = await runKilledAt(at, scene.folder, ['backup', target, ...keep], {
        env: scene.env,
      });
      const found = await listed();
      expect(
        found.filter(({ isSound }) => isSound === false),
        `step ${at}`,
      ).toEqual([]);
      for (const { path, runId } of found) {
        const [{ runs } = { runs: 0 }] = sqlite(path, 'SELECT max(id) AS runs FROM sync_runs') as {
          runs: number;
        }[];
        // What the list says of a backup is true of it.
        expect([undefined, runs]).toContain(runId);
        if (keep.length === 0) expect(runId).toBe(runs);
        seen.add(runs);
        expect(await scene.run('backup', '--check', path)).toMatchObject({ code: 0 });
      }
      expect(found.length).toBeGreaterThan(0);
      if (!wasKilled) {
        expect({ code, newest: found[0]?.runId }, stderr).toEqual({ code: 0, newest: 2 });
        break;
      }
    }
    expect([...seen].sort()).toEqual([1, 2]);
  },
);
