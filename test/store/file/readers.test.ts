import { chmodSync, closeSync, copyFileSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runBound, whyNotBound } from '../../support/bound-by-rights.ts';
import { syncScene } from '../../support/in-process.ts';
import { temporaryFolder } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await setScene();
  await syncScene(scene);
});
afterAll(() => scene[Symbol.asyncDispose]());

const skipped = whyNotBound === null ? '' : ` (skipped: ${whyNotBound})`;

test.skipIf(whyNotBound !== null)(
  `a mirror that a user can read but not write is answered with the way to a share${skipped}`,
  async () => {
    await using root = temporaryFolder();
    const folder = join(root.path, 'mirror');
    mkdirSync(folder);
    const path = join(folder, 'mirror.sqlite');
    copyFileSync(scene.database, path);
    chmodSync(path, 0o440);
    chmodSync(folder, 0o550);
    for (const command of ['status', 'verify', 'runs']) {
      const { status, stderr } = runBound([command, '--database', path]);
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringMatching(/^docmirror: .*"docmirror share FILE" makes one, .*\n$/),
      });
    }
    chmodSync(folder, 0o750);
  },
);

test.each(['status', 'sync', 'backup copy.sqlite'])(
  '%s calls a mirror damaged if its header names a format that no SQLite has',
  async words => {
    const path = join(scene.folder, 'other-format.sqlite');
    copyFileSync(scene.database, path);
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(4, 0xff), 0, 4, 44);
    closeSync(file);
    const { code, stderr } = await scene.run(...words.split(' '), '--database', path);
    expect({ words, code }).toEqual({ words, code: 1 });
    expect(stderr).toContain(`${path} is damaged. Restore it from a backup`);
  },
);
