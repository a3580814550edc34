import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openCopy } from '../../../src/store/file/read-connection.ts';
import { mayWriteBound, runBound, whyNotBound } from '../../support/bound-by-rights.ts';
import { syncScene } from '../../support/in-process.ts';
import { temporaryFolder } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await setScene();
  await syncScene(scene);
});
afterAll(() => scene[Symbol.asyncDispose]());

/** A mirror in a folder of its own, and a folder for temporary files that belongs to somebody else. */
function placed(root: string): { folder: string; path: string; temporary: string } {
  const [folder, temporary] = [join(root, 'mirror'), join(root, 'tmp')];
  for (const made of [folder, temporary]) mkdirSync(made);
  const path = join(folder, 'mirror.sqlite');
  copyFileSync(scene.database, path);
  return { folder, path, temporary };
}

const skipped = whyNotBound === null ? '' : ` (skipped: ${whyNotBound})`;

describe.skipIf(whyNotBound !== null)(`who may read a mirror, and not write it,${skipped}`, () => {
  test.each([
    ['file and folder', 0o440, 0o550],
    ['the file alone', 0o440, 0o750],
    ['the folder alone', 0o640, 0o550],
  ])('(%s) reads it, also where the folder for temporary files is not theirs', async (_, file, mode) => {
    await using root = temporaryFolder();
    const { folder, path, temporary } = placed(root.path);
    chmodSync(temporary, 0o500);
    chmodSync(path, file);
    chmodSync(folder, mode);
    expect(mayWriteBound(path) && mayWriteBound(folder)).toBe(false);
    for (const command of [['status'], ['verify'], ['export', '--out', join(root.path, 'lists')]]) {
      const result = runBound([...command, '--database', path], { TMPDIR: temporary });
      expect(result, result.stderr).toMatchObject({ status: 0 });
    }
    chmodSync(folder, 0o750);
    expect(readdirSync(folder)).toEqual(['mirror.sqlite']);
  });

  test('is told what to do where a run keeps its log to itself', async () => {
    await using root = temporaryFolder();
    const { folder, path } = placed(root.path);
    const writer = new Database(path);
    writer.exec("UPDATE collections SET name = 'x' WHERE id = 1");
    for (const beside of ['-wal', '-shm']) chmodSync(`${path}${beside}`, 0o000);
    chmodSync(path, 0o440);
    const { status, stderr } = runBound(['status', '--database', path]);
    expect(stderr).toMatch(/^docmirror: .*-wal can't be read by this user, .*chmod g\+s .*\n$/);
    expect(status).toBe(1);
    chmodSync(folder, 0o750);
    writer.close();
  });
});

test('a copy that a run wrote into is made anew: it is of one moment', async () => {
  await using root = temporaryFolder();
  const { path } = placed(root.path);
  let copies = 0;
  /** Half of the file, then a run from beginning to end, then the other half. */
  const interrupted = (from: string, to: string) => {
    if (copies++ > 0) return copyFileSync(from, to);
    const old = readFileSync(from);
    const writer = new Database(from);
    writer.exec(
      "UPDATE document_exports SET source_document_title = 'new'; UPDATE webhooks SET description = 'new'",
    );
    writer.close();
    const now = readFileSync(from);
    const half = Math.floor(old.length / 2);
    writeFileSync(to, Buffer.concat([old.subarray(0, half), now.subarray(half)]));
  };
  const { sqlite, close } = openCopy(path, interrupted);
  const titles =
    'SELECT DISTINCT source_document_title FROM document_exports UNION SELECT description FROM webhooks';
  expect(sqlite.prepare(titles).pluck().all()).toEqual(['new']);
  close();
  expect(copies).toBe(2);
});

test.skipIf(whyNotBound !== null)(
  `a run names the very file that it may not write, also one that SQLite made in its image${skipped}`,
  async () => {
    await using root = temporaryFolder();
    const { path } = placed(root.path);
    const env = { DOCMIRROR_BASE_URL: scene.env.DOCMIRROR_BASE_URL ?? '', DOCMIRROR_TOKEN: 'sample' };
    for (const closed of [path, `${path}-shm`]) {
      writeFileSync(closed, '', { flag: 'a' });
      chmodSync(closed, 0o400);
      const { status, stderr } = runBound(['sync', '--database', path], env);
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringContaining(`${closed} can't be written`),
      });
      chmodSync(closed, 0o600);
    }
  },
);

test('a copy of what is written all the time is given up, in words', async () => {
  await using root = temporaryFolder();
  const { path } = placed(root.path);
  const grown = (from: string, to: string) => {
    copyFileSync(from, to);
    const file = openSync(from, 'a');
    writeSync(file, Buffer.alloc(1));
    closeSync(file);
  };
  expect(() => openCopy(path, grown)).toThrow('was written to while it was read. Try again');
});

test.each(['status', 'sync', 'backup copy.sqlite'])(
  '%s calls a mirror damaged whose header names a format that no SQLite has',
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
