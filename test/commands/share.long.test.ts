import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fullMirror } from '../store/verify/full-mirror.ts';
import { syncScene } from '../support/in-process.ts';
import { onMount } from '../support/mount.ts';
import { spawnCli, sqlite } from '../support/run-cli.ts';
import { make, type Scene, setScene } from '../support/scene.ts';
import { shareOf } from '../support/share.ts';
import { collection, documentExport } from '../support/stand-in.ts';

async function setSharedScene(...options: Parameters<typeof setScene>): Promise<Scene & { path: string }> {
  const scene = await setScene(...options);
  const path = join(scene.folder, 'share.sqlite');
  scene.env.DOCMIRROR_SHARE = path;
  return { ...scene, path };
}

describe('a share as --database', () => {
  let scene: Scene;
  let shared: string;
  beforeAll(async () => {
    scene = await fullMirror();
    shared = await shareOf(scene);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  test.each([
    [['status']],
    [['runs']],
    [['runs', '--json']],
    [['changes', '--since-run', '0', '--resource', 'collections']],
    [['changes', '--since-run', '0', '--resource', 'document-exports', '--format', 'csv']],
    [['show', 'collections', '2', '--json']],
    [['show', 'document-exports', 'DOC-3']],
    [['audit', 'receipts', '--json']],
    [['audit', 'checkpoint', '--unsigned']],
    [['export', '--out', 'FOLDER', '--format', 'csv', '--as-of-run', '1']],
    [['report', '--out', 'FOLDER.html']],
    [['--database']],
  ])('answers as the mirror does: %j', async words => {
    const [mirror, share] = await Promise.all(
      [scene.database, shared].map(async (database, at) => {
        const isAlone = words[0] === '--database';
        const args = words.map(word => word.replace('FOLDER', join(scene.folder, `out-${at}`)));
        const { code, stdout, stderr } = await scene.run(
          ...args,
          ...(isAlone ? [] : ['--database']),
          database,
        );
        const text = stdout
          .replaceAll(`out-${at}`, 'out')
          .replaceAll(database, 'FILE')
          .replace(/[\d.]+ \w+ ago/g, 'AGO')
          .replace(/[\d.]+ (kB|bytes)/g, '');
        return { code, stderr, text: text.split('\n').filter(line => !line.includes('webhooks')) };
      }),
    );
    expect(share, share?.stderr).toMatchObject({ code: 0 });
    expect(share).toEqual(mirror);
  });

  test('answers status --json with the same verdicts', async () => {
    const [mirror, share] = await Promise.all(
      [scene.database, shared].map(async database => {
        const { stdout } = await scene.run('status', '--json', '--database', database);
        return JSON.parse(stdout.replace(/"ageMs":\d+/g, '"ageMs":0'));
      }),
    );
    expect(share).toEqual(mirror);
  });

  test('shows and serves endpoints cut to scheme and host', async () => {
    const shown = await scene.run('show', 'webhooks', '2', '--json', '--database', shared);
    expect(shown.stdout).toContain('\\"endpoint\\":\\"https://hooks.example.com\\"'.replaceAll('\\', ''));
    expect(shown.stdout).not.toContain('secret');
    await using cli = spawnCli(['serve', '--port', '0', '--token', 'one-token', '--database', shared], {
      env: scene.env,
    });
    const url = await new Promise<string>(resolve =>
      cli.child.stdout?.once('data', data => resolve(String(data).trim().split(' ').at(-1) ?? '')),
    );
    const headers = { authorization: 'Bearer one-token' };
    const { items } = (await (await fetch(`${url}/v2/webhooks`, { headers })).json()) as {
      items: { endpoint: string }[];
    };
    expect(new Set(items.map(({ endpoint }) => endpoint))).toEqual(new Set(['https://hooks.example.com']));
    for (const path of ['/', '/records/webhooks/2', '/search?q=Webhook', '/metrics'])
      expect((await fetch(url + path, { headers })).status, path).toBe(200);
    // The new share is served as soon as it replaces the old one.
    await shareOf(scene, { sql: 'DELETE FROM collections' });
    const answer = await fetch(`${url}/v2/collections`, { headers });
    expect(await answer.json()).toMatchObject({ items: [] });
    await shareOf(scene);
  });

  test.each([
    [['sync']],
    [['sync', '--dry-run']],
    [['watch']],
    [['verify']],
    [['backup', 'copy.sqlite']],
    [['backup', '--check', 'share.sqlite']],
    [['backup', '--restore', 'share.sqlite']],
    [['share', 'other.sqlite']],
    [['publish', 'clickhouse', '--url', 'http://127.0.0.1:9', '--tenant', 'acme']],
  ])('is refused by what needs the mirror itself: %j', async words => {
    const before = readFileSync(shared);
    const { code, stdout, stderr } = await scene.run(...words, '--database', shared);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^docmirror: \S*share\.sqlite is a share, a copy for readers\. Name the mirror that it was made from\. \[mirror_file\]\n$/,
    );
    for (const name of ['copy.sqlite', 'other.sqlite'])
      expect(existsSync(join(scene.folder, name))).toBe(false);
    expect(readFileSync(shared).equals(before)).toBe(true);
  });

  test('is no backup that could be put in the place of a mirror', async () => {
    const { code, stderr } = await scene.run('backup', '--restore', shared);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is a share') });
    expect(readFileSync(scene.database).toString('latin1', 68, 72)).toBe('docm');
  });

  test('of an older or a newer docmirror is refused in words that say what to do', async () => {
    const other = join(scene.folder, 'other-shape.sqlite');
    for (const [version, words] of [
      [1, 'Make it again with "docmirror share".'],
      [999, 'was made by a newer docmirror'],
    ] as const) {
      writeFileSync(other, readFileSync(shared));
      const database = new Database(other);
      database.pragma(`user_version = ${version}`);
      database.close();
      const { code, stderr } = await scene.run('status', '--database', other);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
    }
  });
});

type Harm = (path: string, scene: Scene) => Promise<unknown>;

describe.concurrent('a share that follows runs', () => {
  test.each<[string, Harm]>([
    ['is gone', async path => rmSync(path)],
    ['is cut', async path => truncateSync(path, 20_000)],
    ['is another file', async path => writeFileSync(path, 'a note')],
    ['is empty', async path => writeFileSync(path, '')],
    [
      'is of another mirror',
      async (path, { service, env, folder, run }) => {
        service.lists.collections.push(collection(70));
        env.DOCMIRROR_DATABASE = join(folder, 'other.sqlite');
        await run('sync');
        env.DOCMIRROR_DATABASE = join(folder, 'mirror.sqlite');
        service.lists.collections.pop();
        expect(sqlite(path, 'SELECT count(*) AS n FROM collections')).toEqual([{ n: 8 }]);
      },
    ],
    [
      'is of another shape',
      async path => {
        const database = new Database(path);
        database.pragma('user_version = 1');
        database.close();
      },
    ],
  ])('is made again by the next run, if it %s', async (_, harm) => {
    await using scene = await setSharedScene({}, { exports: 20 });
    await scene.sync();
    await harm(scene.path, scene);
    expect(await scene.sync()).toMatchObject({ code: 0, summary: { share: { error: null } } });
    expect(sqlite(scene.path, 'SELECT count(*) AS n FROM collections')).toEqual([{ n: 7 }]);
  });

  test('is made by watch, too', async () => {
    await using scene = await setSharedScene({}, { exports: 3 });
    await using cli = spawnCli(['watch', '--run-now', '--schedule', '0 0 1 1 *'], { env: scene.env });
    await expect.poll(() => existsSync(scene.path), { timeout: 20_000 }).toBe(true);
    cli.child.kill('SIGTERM');
    expect(await cli.done).toMatchObject({ code: 143 });
    expect(sqlite(scene.path, 'SELECT status FROM sync_runs')).toEqual([{ status: 'completed' }]);
  });

  test('is left to the next run by a run that is stopped', async () => {
    await using scene = await setSharedScene({ latencyMs: 5 }, { exports: 400 });
    await using cli = spawnCli(['sync', '--json', '--page-size', '5'], { env: scene.env });
    scene.service.onRequest = ({ n }) => {
      if (n === 20) cli.child.kill('SIGTERM');
    };
    const { code, stdout } = await cli.done;
    scene.service.onRequest = undefined;
    expect(code).toBe(143);
    expect(JSON.parse(stdout).share.error).toMatchObject({ code: 'cancelled' });
    expect(existsSync(scene.path)).toBe(false);
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(sqlite(scene.path, 'SELECT count(*) AS n FROM document_exports')).toEqual([{ n: 400 }]);
  });

  test('stays as it is if its disk is full, and the run is done all the same: exit 3', async ({ skip }) => {
    await using scene = await setScene({}, { exports: 10 });
    await onMount(scene, 'size=600k', skip, async folder => {
      const path = join(folder, 'share.sqlite');
      expect(await scene.sync('--share', path)).toMatchObject({ code: 0 });
      const before = readFileSync(path);
      scene.service.lists['document-exports'].push(...make(2_000, n => documentExport(100 + n)));
      const { code, summary } = await scene.sync('--share', path);
      expect({ code, status: summary.status }).toEqual({ code: 3, status: 'completed' });
      const message = expect.stringContaining(`The disk of ${path} is full`);
      expect(summary.share).toEqual({ path, error: { code: 'disk_full', message } });
      expect(readFileSync(path).equals(before)).toBe(true);
      expect(readdirSync(folder)).toEqual(['share.sqlite']);
    });
  });
});

test('a share of a mirror without an ended run is empty, and says so', async () => {
  await using scene = await setScene({ latencyMs: 20 });
  await using cli = spawnCli(['sync'], { env: scene.env });
  await expect.poll(() => scene.service.requests.length, { timeout: 20_000 }).toBeGreaterThan(2);
  cli.child.kill('SIGKILL');
  await cli.done;
  const path = join(scene.folder, 'share.sqlite');
  const { code, stdout } = await scene.run('share', path);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('no run has ended yet') });
  expect(sqlite(path, 'SELECT verdict FROM sync_status')[0]).toEqual({ verdict: 'never synced' });
});

type Place = (scene: Scene) => Promise<string>;

describe.concurrent('in the place of a share', () => {
  test.each<[string, Place, RegExp]>([
    ['the mirror itself', async ({ database }) => database, /is the mirror itself/],
    [
      'a link to the mirror',
      async ({ database, folder }) => {
        symlinkSync(database, join(folder, 'link'));
        return join(folder, 'link');
      },
      /is the mirror itself/,
    ],
    [
      'a backup',
      async ({ folder, run }) => {
        await run('backup', join(folder, 'backup.sqlite'));
        return join(folder, 'backup.sqlite');
      },
      /is a mirror/,
    ],
    ['the lock', async ({ database }) => `${database}.lock`, /is the lock of a mirror/],
    [
      'a lock under another name',
      async ({ database, folder }) => {
        writeFileSync(join(folder, 'lock'), readFileSync(`${database}.lock`));
        return join(folder, 'lock');
      },
      /is the lock of a mirror/,
    ],
    [
      'a key',
      async ({ folder, run }) => {
        await run('audit', 'keygen', join(folder, 'key.pem'));
        return join(folder, 'key.pem');
      },
      /is a private key/,
    ],
    ['a folder', async ({ folder }) => folder, /is a folder/],
    [
      'a name beside a database',
      async ({ folder }) => join(folder, 'x.sqlite-wal'),
      /is a name that SQLite uses/,
    ],
    ['no file', async () => ':memory:', /is not a file on a disk/],
  ])('%s is left alone by share and by runs: exit 2', async (_, place, words) => {
    await using scene = await setScene({}, { exports: 1 });
    await syncScene(scene);
    const path = await place(scene);
    const before = existsSync(path) && statSync(path).isFile() ? readFileSync(path) : null;
    const requests = scene.service.requests.length;
    for (const args of [
      ['share', path],
      ['sync', '--share', path],
      ['watch', '--share', path],
    ]) {
      const { code, stdout, stderr } = await scene.run(...args);
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
      expect(stderr).toMatch(words);
    }
    expect(scene.service.requests.length).toBe(requests);
    if (before !== null) expect(readFileSync(path).equals(before)).toBe(true);
  });
});
