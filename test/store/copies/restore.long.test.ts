import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { mirrored } from '../../support/oracle.ts';
import { spawnCli, sqlite } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';
import { serveScene } from '../../support/served.ts';

const backupOf = (scene: Scene) => join(scene.folder, 'backup.sqlite');

/** A scene with a mirror of two runs, and a backup of the first. */
async function setBackedUpScene(): Promise<Scene> {
  const scene = await setScene();
  await scene.sync();
  expect(await scene.run('backup', backupOf(scene))).toMatchObject({ code: 0 });
  scene.service.lists.collections.pop();
  expect(await scene.sync()).toMatchObject({ code: 0 });
  return scene;
}

/** Leaves the log of another state beside a file, as a killed program does. */
function leaveLogBeside(path: string, from: string): void {
  const copy = `${path}.alive`;
  copyFileSync(from, copy);
  const alive = new Database(copy);
  alive.pragma('journal_mode = WAL');
  alive.exec("UPDATE collections SET name = 'from a stale log'; CREATE TABLE stale (x)");
  copyFileSync(`${copy}-wal`, `${path}-wal`);
  alive.close();
}

describe.concurrent('backup over a file that something lies beside', () => {
  test.each(['-wal', '-journal', '-shm'])(
    '(%s) removes it, because it is no part of the new one',
    async beside => {
      await using scene = await setBackedUpScene();
      const path = backupOf(scene);
      if (beside === '-wal') leaveLogBeside(path, path);
      else writeFileSync(`${path}${beside}`, 'stale');
      expect(await scene.run('backup', path)).toMatchObject({ code: 0 });
      expect(existsSync(`${path}${beside}`)).toBe(false);
      expect(await scene.run('backup', '--check', path)).toMatchObject({ code: 0 });
      expect(mirrored(path, 'collections')).toEqual(mirrored(scene.database, 'collections'));
    },
  );
});

describe.concurrent('the checkpoint beside a backup', () => {
  test('goes with the backup that a new one without a checkpoint takes the place of', async () => {
    await using scene = await setBackedUpScene();
    const at = (name: string) => join(scene.folder, name);
    const [older, nightly, key] = [at('older'), at('nightly'), at('key')];
    await scene.run('backup', older);
    expect(await scene.run('audit', 'keygen', key)).toMatchObject({ code: 0 });
    scene.env.DOCMIRROR_SIGNING_KEY_FILE = key;
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(await scene.run('backup', nightly)).toMatchObject({ code: 0 });
    expect(existsSync(`${nightly}.checkpoint`)).toBe(true);
    expect(await scene.run('backup', '--restore', older)).toMatchObject({ code: 0 });
    expect(await scene.sync()).toMatchObject({ code: 0 });
    delete scene.env.DOCMIRROR_SIGNING_KEY_FILE;
    expect(await scene.run('backup', nightly)).toMatchObject({ code: 0 });
    expect(await scene.run('backup', '--check', nightly)).toMatchObject({ code: 0 });
    expect(existsSync(`${nightly}.checkpoint`)).toBe(false);
  });

  test('is what a restore compares it with', async () => {
    await using scene = await setBackedUpScene();
    const at = (name: string) => join(scene.folder, name);
    const [first, second, key] = [at('first'), at('second'), at('key')];
    expect(await scene.run('audit', 'keygen', key)).toMatchObject({ code: 0 });
    scene.env.DOCMIRROR_SIGNING_KEY_FILE = key;
    await scene.run('backup', first);
    await scene.sync();
    await scene.run('backup', second);
    expect(await scene.run('backup', '--restore', second)).toMatchObject({ code: 0 });
    copyFileSync(first, second);
    for (const flag of ['--check', '--restore'])
      expect(await scene.run('backup', flag, second)).toMatchObject({ code: 4 });
  });
});

describe.concurrent('backup --restore', () => {
  test('puts a backup in the place of the mirror, and the next sync goes on from it', async () => {
    await using scene = await setBackedUpScene();
    const { code, stdout, stderr } = await scene.run('backup', '--restore', backupOf(scene));
    expect(stderr).toBe('');
    expect(stdout).toMatch(
      /^.*mirror\.sqlite: the mirror as of run 1, \d+\.\d kB, verified\. It mirrors \S+\. "docmirror sync"/,
    );
    expect(code).toBe(0);
    expect(mirrored(scene.database, 'collections')).toEqual(mirrored(backupOf(scene), 'collections'));
    expect((await scene.sync()).of('collections')).toMatchObject({ removed: 1 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test.skipIf(process.getuid?.() !== 0)(
    'leaves mirror and lock with whom they belong to, when root restores',
    async () => {
      await using scene = await setScene();
      await scene.sync();
      const copy = join(scene.folder, 'copy.sqlite');
      await scene.run('backup', copy);
      rmSync(`${scene.database}.lock`);
      chownSync(scene.database, 65534, 65534);
      chmodSync(scene.database, 0o640);
      expect(await scene.run('backup', '--restore', copy)).toMatchObject({ code: 0 });
      const rights = (path: string) => [statSync(path).uid, statSync(path).gid, statSync(path).mode & 0o777];
      expect(rights(scene.database)).toEqual([65534, 65534, 0o640]);
      for (const beside of ['lock', 'restored'])
        expect(rights(`${scene.database}.${beside}`)).toEqual([65534, 65534, 0o600]);
    },
  );

  test('replaces a damaged mirror, and makes one if there is none', async () => {
    await using scene = await setBackedUpScene();
    truncateSync(scene.database, 10_000);
    leaveLogBeside(scene.database, backupOf(scene));
    expect(await scene.run('backup', '--restore', backupOf(scene))).toMatchObject({ code: 0 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
    const other = join(scene.folder, 'other.sqlite');
    const args = ['backup', '--restore', backupOf(scene), '--database', other];
    expect(await scene.run(...args)).toMatchObject({ code: 0 });
    expect(await scene.run('verify', '--database', other)).toMatchObject({ code: 0 });
  });

  test('waits for no run: during one it is refused', async () => {
    await using scene = await setBackedUpScene();
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    scene.service.onRequest = () => {
      asked.resolve();
      return answered.promise;
    };
    await using syncing = spawnCli(['sync'], { env: scene.env });
    await asked.promise;
    expect(await scene.run('backup', '--restore', backupOf(scene))).toMatchObject({ code: 11 });
    answered.resolve();
    expect(await syncing.done).toMatchObject({ code: 0 });
    expect(sqlite(scene.database, 'SELECT max(id) AS id FROM sync_runs')).toEqual([{ id: 3 }]);
  });

  test('leaves the mirror as it is if the copy is not sound, or none', async () => {
    await using scene = await setBackedUpScene();
    const before = readFileSync(scene.database);
    const copy = new Database(backupOf(scene));
    copy.exec("UPDATE collections SET name = 'x' WHERE id = 3");
    copy.close();
    const unsound = await scene.run('backup', '--restore', backupOf(scene));
    expect(unsound).toMatchObject({ code: 4, stdout: expect.stringContaining('collections 3') });
    writeFileSync(backupOf(scene), 'a text');
    expect(await scene.run('backup', '--restore', backupOf(scene))).toMatchObject({ code: 2 });
    const none = await scene.run('backup', '--restore', join(scene.folder, 'none.sqlite'));
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no backup at') });
    expect(await scene.run('backup', '--restore', scene.database)).toMatchObject({ code: 2 });
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    expect(readdirSync(scene.folder).sort()).toEqual([
      'backup.sqlite',
      'backup.sqlite.json',
      'mirror.sqlite',
      'mirror.sqlite.lock',
    ]);
  });

  test('names the backup, not its own copy of it, if that is damaged', async () => {
    await using scene = await setBackedUpScene();
    const bytes = readFileSync(backupOf(scene));
    writeFileSync(backupOf(scene), bytes.fill(0xff, bytes.length - 8 * 4096, bytes.length - 4 * 4096));
    const { code, stdout, stderr } = await scene.run('backup', '--restore', backupOf(scene));
    expect(code).toBe(4);
    expect(`${stdout}${stderr}`).not.toContain('docmirror-unfinished');
    expect(`${stdout}${stderr}`).toContain(`${backupOf(scene)} is damaged`);
  });
});

test('serve goes on with the file that took the place of the mirror', async () => {
  await using scene = await setBackedUpScene();
  await using served = await serveScene(scene);
  const collections = async () => {
    const response = await served.get('/v2/collections');
    const { items } = (await response.json()) as { items: unknown[] };
    return { count: items.length, etag: response.headers.get('etag') };
  };
  const before = await collections();
  expect(before.count).toBe(6);
  expect(await scene.run('backup', '--restore', backupOf(scene))).toMatchObject({ code: 0 });
  const restored = await collections();
  expect(restored.count).toBe(7);
  expect(restored.etag).not.toBe(before.etag);
  await scene.sync();
  expect((await collections()).count).toBe(6);
  expect((await served.get('/metrics')).status).toBe(200);
  expect(await (await served.get('/changes?run=2')).text()).toContain('Collection 7</a>');
});
