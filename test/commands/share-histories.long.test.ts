import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { setSharedScene } from '../support/share.ts';

describe('the share of a mirror that has two histories', () => {
  test('is replaced by the one that was restored last; the other one says which run both have, and exits with 3', async () => {
    await using scene = await setSharedScene({}, { exports: 2 });
    await scene.sync();
    await scene.run('backup', 'copy.sqlite');
    const moved = ['--database', join(scene.folder, 'moved.sqlite')];
    expect(await scene.run('backup', '--restore', 'copy.sqlite', ...moved)).toMatchObject({ code: 0 });
    const syncChanged = (...args: string[]) => {
      scene.service.lists.collections.pop();
      return scene.sync(...args);
    };
    expect(await syncChanged()).toMatchObject({ code: 0 });
    for (const _ of [1, 2]) expect(await syncChanged(...moved)).toMatchObject({ code: 0 });
    const before = readFileSync(scene.path);
    const message = expect.stringMatching(/run that both have is 1\..*If this one goes on, remove the share/);
    const share = { error: { code: 'share_of_another_mirror', message } };
    expect(await syncChanged()).toMatchObject({ code: 3, summary: { status: 'completed', share } });
    expect((await scene.run('doctor')).stdout).toMatch(/run that both\s+have is 1\./);
    expect(await scene.run('share')).toMatchObject({ code: 2, stdout: '' });
    expect(readFileSync(scene.path).equals(before)).toBe(true);
    rmSync(scene.path);
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(await syncChanged(...moved)).toMatchObject({ code: 0 });
    expect(await syncChanged()).toMatchObject({ code: 3 });
  });

  test('is replaced after a restore, also if no row differs', async () => {
    await using scene = await setSharedScene({}, { exports: 2 });
    await scene.sync();
    await scene.run('backup', 'copy.sqlite');
    await scene.sync();
    await scene.run('share');
    for (const _ of [1, 2]) {
      expect(await scene.run('backup', '--restore', 'copy.sqlite')).toMatchObject({ code: 0 });
      expect(await scene.sync()).toMatchObject({ code: 0 });
      const runs = 'SELECT started_at FROM sync_runs';
      expect(sqlite(scene.path, runs)).toEqual(sqlite(scene.database, runs));
    }
  });
});
