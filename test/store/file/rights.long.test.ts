import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { sqlite } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

/** Watches the rights of a group and of others to all files of a folder, also to files that come and go while a command runs. */
class Watcher {
  readonly #folder: string;
  readonly #timer: NodeJS.Timeout;
  readonly #seen = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
    this.#timer = setInterval(() => this.#look(), 1);
  }

  /** Each path with its mode, if others have any right; and all names that were seen. */
  end(): { open: string[]; names: string[] } {
    this.#look();
    clearInterval(this.#timer);
    const open = [...this.#seen].filter(([, mode]) => !mode.endsWith('00'));
    return { open: open.map(entry => entry.join(' ')), names: [...this.#seen.keys()] };
  }

  #look(): void {
    for (const name of readdirSync(this.#folder, { recursive: true, encoding: 'utf8' })) {
      const mode = statSync(join(this.#folder, name), { throwIfNoEntry: false })?.mode;
      const before = this.#seen.get(name);
      if (mode !== undefined && (before === undefined || before.endsWith('00')))
        this.#seen.set(name, (mode & 0o777).toString(8).padStart(3, '0'));
    }
  }
}

/** Runs docmirror under a umask that lets everybody read, wherever the tests are run. */
async function run(scene: Scene, ...args: string[]): Promise<number | null> {
  const command = 'umask 000; exec "$0" "$@"';
  const child = spawn('sh', ['-c', command, process.execPath, 'src/cli.ts', ...args], {
    env: { ...process.env, ...scene.env },
    stdio: 'ignore',
  });
  const [code] = await once(child, 'exit');
  return code;
}

test('all that docmirror makes can be read by its owner only, at every moment, under any umask', async () => {
  await using scene = await setScene({ maxPageSize: 50, latencyMs: 2 }, { exports: 1_500 });
  const watcher = new Watcher(scene.folder);
  expect(await run(scene, 'sync')).toBe(0);
  scene.service.lists.collections.pop();
  for (const args of [
    ['sync', '--full', '--accept-new-base-url'],
    ['backup', join(scene.folder, 'one.sqlite')],
    ['backup', join(scene.folder, 'many'), '--keep', '2'],
    ['backup', '--restore', join(scene.folder, 'one.sqlite')],
    ['report', '--out', join(scene.folder, 'report.html')],
    ['export', '--out', join(scene.folder, 'lists')],
    ['changes', '--out', join(scene.folder, 'feed.parquet'), '--format', 'parquet'],
    ['verify'],
  ])
    expect([args, await run(scene, ...args)]).toEqual([args, 0]);
  const { open, names } = watcher.end();
  expect(open).toEqual([]);
  const kinds = ['mirror.sqlite', 'mirror.sqlite.lock', 'mirror.sqlite-wal', 'mirror.sqlite.lock-journal'];
  expect(names).toEqual(
    expect.arrayContaining([...kinds, 'one.sqlite', 'report.html', 'lists', 'feed.parquet']),
  );
  expect(names.some(name => name.endsWith('.docmirror-unfinished'))).toBe(true);
});

test('the note of a watch is for the owner only', async () => {
  await using scene = await setScene();
  const folder = join(scene.folder, 'old');
  mkdirSync(folder);
  scene.env.DOCMIRROR_DATABASE = join(folder, 'mirror.sqlite');
  const watcher = new Watcher(folder);
  const command = 'umask 000; exec "$0" "$@"';
  const child = spawn('sh', ['-c', command, process.execPath, 'src/cli.ts', 'watch', '--run-now'], {
    env: { ...process.env, ...scene.env },
    stdio: 'ignore',
  });
  await expect.poll(() => readdirSync(folder), { timeout: 20_000 }).toContain('mirror.sqlite.watch');
  child.kill('SIGTERM');
  await once(child, 'exit');
  expect(watcher.end().open).toEqual([]);
});

test('a mirror that its owner opened to others stays so, with its log', async () => {
  await using scene = await setScene();
  await scene.sync();
  chmodSync(scene.database, 0o640);
  await scene.sync();
  expect(statSync(scene.database).mode & 0o777).toBe(0o640);
  expect(relative(scene.folder, scene.database)).toBe('mirror.sqlite');
  expect(sqlite(scene.database, 'SELECT count(*) AS n FROM sync_runs')).toEqual([{ n: 2 }]);
});
