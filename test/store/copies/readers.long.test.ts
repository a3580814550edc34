import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { syncScene } from '../../support/in-process.ts';
import { onReadOnlyMount } from '../../support/mount.ts';
import { programPath } from '../../support/program.ts';
import { spawnCli, sqlite } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';
import { asStranger, programOf, shareOf, strangerOptions, whyNoStrangerHere } from '../../support/share.ts';
import type { SampleItem } from '../../support/stand-in.ts';

const skipped = whyNoStrangerHere === null ? '' : ` (skipped: ${whyNoStrangerHere})`;
const module = join(import.meta.dirname, 'readers.long.test.ts');

const query = `SELECT count(*) AS n FROM document_exports_named WHERE source_connection_name IS NOT NULL
  UNION ALL SELECT count(*) FROM changes UNION ALL SELECT count(*) FROM sync_status`;

const python = `
import sqlite3, sys
for row in sqlite3.connect('file:' + sys.argv[1] + '?mode=ro', uri=True).execute(sys.argv[2]): print(row[0])`;

const node = (open: string) => `
const Database = require('node:module').createRequire(${JSON.stringify(module)})('better-sqlite3');
const { DatabaseSync } = require('node:sqlite');
for (const { n } of (${open}).prepare(process.argv[2]).all()) console.log(n);`;

/** Common drivers. Each prints the first column of the query's rows. */
const drivers: [name: string, program: string, args: string[]][] = [
  ['sqlite3', 'sqlite3', []],
  ['Python, mode=ro', 'python3', ['-c', python]],
  [
    'better-sqlite3, readonly',
    process.execPath,
    ['-e', node('new Database(process.argv[1], { readonly: true })')],
  ],
  [
    'node:sqlite, readOnly',
    process.execPath,
    ['-e', node('new DatabaseSync(process.argv[1], { readOnly: true })')],
  ],
];

function expectRead(path: string): void {
  const expected = sqlite(path, query).map(({ n }) => String(n));
  expect(Number(expected[1])).toBeGreaterThan(100);
  for (const [name, program, args] of drivers) {
    const { status, stdout, stderr } = asStranger(programOf(program), [...args, path, query]);
    expect({ name, status, stderr, lines: stdout.trim().split(/\s+/) }).toEqual({
      name,
      status: 0,
      stderr: '',
      lines: expected,
    });
  }
  const { status, stdout, stderr } = asStranger(process.execPath, [
    programPath,
    'status',
    '--database',
    path,
  ]);
  expect({ status, stderr, stdout }).toEqual({
    status: 0,
    stderr: '',
    stdout: expect.stringContaining('proven'),
  });
}

async function setOpenScene(...options: Parameters<typeof setScene>): Promise<Scene & { open: string }> {
  const scene = await setScene(...options);
  chmodSync(scene.folder, 0o755);
  const open = join(scene.folder, 'open');
  mkdirSync(open);
  chmodSync(open, 0o755);
  return { ...scene, open };
}

describe.skipIf(whyNoStrangerHere !== null)(`another user, with read permission alone,${skipped}`, () => {
  test('reads a share with any SQLite, in a folder that they can not write', async () => {
    await using scene = await setOpenScene();
    await syncScene(scene);
    const path = await shareOf(scene, { path: join(scene.open, 'share.sqlite') });
    expect(asStranger('touch', [join(scene.open, 'x')]).status).not.toBe(0);
    expectRead(path);
    expect(readdirSync(scene.open)).toEqual(['share.sqlite']);
  });

  test('reads it on a mount that nobody can write', async ({ skip }) => {
    await using scene = await setOpenScene();
    await syncScene(scene);
    const path = await shareOf(scene, { path: join(scene.open, 'share.sqlite') });
    const mounted = join(scene.folder, 'mounted');
    await onReadOnlyMount(scene.open, mounted, skip, async folder => {
      expect(() => copyFileSync(path, join(folder, 'x'))).toThrow('EROFS');
      expectRead(join(folder, 'share.sqlite'));
    });
  });

  test('reads it during runs, whichever they use', async () => {
    await using scene = await setOpenScene({ latencyMs: 3 });
    scene.env.DOCMIRROR_SHARE = join(scene.open, 'share.sqlite');
    await scene.sync();
    let isOver = false;
    let runs = 0;
    const running = (async () => {
      for (; !isOver; runs++) {
        (scene.service.lists.collections[0] as SampleItem).name = `round ${runs}`;
        expect(await scene.sync('--full')).toMatchObject({ code: 0, summary: { share: { error: null } } });
      }
    })();
    while (runs < 4) {
      for (const [name, program, args] of drivers) {
        const child = spawn(
          programOf(program),
          [...args, join(scene.open, 'share.sqlite'), query],
          strangerOptions,
        );
        const [stdout, stderr, [code]] = await Promise.all([
          text(child.stdout),
          text(child.stderr),
          once(child, 'close'),
        ]);
        expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' });
        expect(stdout.split('\n')[0]).toBe('130');
      }
    }
    isOver = true;
    await running;
  });

  test('is shown the way to a share, if it asks for the mirror', async () => {
    await using scene = await setOpenScene();
    await syncScene(scene);
    const args = [programPath, 'status', '--database', scene.database];
    const { status, stderr } = asStranger(process.execPath, args);
    expect(status).toBe(1);
    expect(stderr).toMatch(/can't be opened with this user's permissions\. .*needs only read permission/);
  });
});

test('a share is made by watch, too', async () => {
  await using scene = await setScene({}, { exports: 3 });
  const path = join(scene.folder, 'share.sqlite');
  const args = ['watch', '--run-now', '--schedule', '0 0 1 1 *', '--share', path];
  await using cli = spawnCli(args, { env: scene.env });
  await expect.poll(() => existsSync(path), { timeout: 20_000 }).toBe(true);
  cli.child.kill('SIGTERM');
  expect(await cli.done).toMatchObject({ code: 143 });
  expect(sqlite(path, 'SELECT status FROM sync_runs')).toEqual([{ status: 'completed' }]);
});

test('a share is left to the next run by a run that is stopped', async () => {
  await using scene = await setScene({ latencyMs: 5 }, { exports: 400 });
  scene.env.DOCMIRROR_SHARE = join(scene.folder, 'share.sqlite');
  await using cli = spawnCli(['sync', '--json', '--page-size', '5'], { env: scene.env });
  scene.service.onRequest = ({ n }) => {
    if (n === 20) cli.child.kill('SIGTERM');
  };
  const { code, stdout } = await cli.done;
  expect(code).toBe(143);
  expect(JSON.parse(stdout).share.error).toMatchObject({ code: 'cancelled' });
  expect(existsSync(scene.env.DOCMIRROR_SHARE)).toBe(false);
});
