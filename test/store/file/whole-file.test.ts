import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AtomicFile } from '../../../src/store/file/whole-file.ts';
import { inTurn } from '../../support/cases.ts';
import { syncScene } from '../../support/in-process.ts';
import { programPath } from '../../support/program.ts';
import { runCli, spawnCli, type TemporaryFolder, temporaryFolder } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';
import { whyNoStrangerHere } from '../../support/share.ts';

// Files that docmirror replaces, and what lies beside them.

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

let scene: Scene;
beforeAll(async () => {
  scene = await setScene({}, { exports: 3, collections: 2, webhooks: 1 });
  await syncScene(scene);
  (scene.service.lists.collections[0] as Record<string, unknown>).name = 'After';
  await syncScene(scene);
});
afterAll(() => scene[Symbol.asyncDispose]());

/** Runs docmirror, or another program, as another user, who can read the mirror and the program. */
async function asNobody(command: string, ...args: string[]) {
  chmodSync(scene.folder, 0o755);
  const child = spawn(command, args, {
    uid: nobody,
    gid: nobody,
    env: { PATH: process.env.PATH, HOME: '/nowhere' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

const docmirrorAsNobody = (...args: string[]) => asNobody(process.execPath, '--', programPath, ...args);

/** A folder with a file that is nobody's. */
function foreignFile(folder: TemporaryFolder, name: string, mode = 0o640): string {
  const path = join(folder.path, name);
  writeFileSync(path, 'old');
  chmodSync(path, mode);
  chownSync(path, nobody, nobody);
  return path;
}

const outputs: [name: string, write: (path: string) => string[]][] = [
  ['report.html', path => ['report', '--out', path]],
  ['rows.csv', path => ['query', 'SELECT 1 AS one', '--format', 'csv', '--out', path]],
  ['cursor', path => ['changes', '--cursor', `${path}.none`, '--next', path]],
  ['collections.ndjson', path => ['export', '--resource', 'collections', '--out', dirname(path)]],
  ['checkpoint', path => ['audit', 'checkpoint', '--unsigned', '--out', path]],
  ['mirror.prom', path => ['sync', '--metrics-file', path]],
];

describe.skipIf(!isRoot)('a file that root replaces', () => {
  test.each(outputs)('%s keeps its owner, its group and its mode', async (name, write) => {
    await using folder = temporaryFolder();
    const path = foreignFile(folder, name);
    expect(await scene.run(...write(path))).toMatchObject({ code: 0 });
    expect(readFileSync(path, 'utf8')).not.toBe('old');
    const { uid, gid, mode } = statSync(path);
    expect([uid, gid, mode & 0o777]).toEqual([nobody, nobody, 0o640]);
  });

  test.each([
    ['backup', 0o640],
    ['share', 0o600],
  ])('a %s keeps them, too', async (command, mode) => {
    await using folder = temporaryFolder();
    const path = join(folder.path, 'copy.sqlite');
    expect(await scene.run(command, path)).toMatchObject({ code: 0 });
    chownSync(path, nobody, nobody);
    chmodSync(path, mode);
    expect(await scene.run(command, path)).toMatchObject({ code: 0 });
    const stat = statSync(path);
    expect([stat.uid, stat.gid, stat.mode & 0o777]).toEqual([nobody, nobody, mode]);
  });
});

const skipped = whyNoStrangerHere === null ? '' : ` (skipped: ${whyNoStrangerHere})`;

describe.skipIf(whyNoStrangerHere !== null)(`as a user without rights${skipped}`, () => {
  test('a file of another group gives the own group no more than everybody has', async () => {
    await using folder = temporaryFolder();
    chmodSync(folder.path, 0o777);
    const path = join(folder.path, 'rows.csv');
    writeFileSync(path, 'old');
    chmodSync(path, 0o664);
    const { database } = await publicShare(folder);
    const query = ['query', 'SELECT 1 AS one', '--out', path, '--database', database];
    expect(await docmirrorAsNobody(...query)).toMatchObject({ code: 0 });
    const { uid, gid, mode } = statSync(path);
    expect([uid, gid, mode & 0o777]).toEqual([nobody, nobody, 0o644]);
  });

  test("others' leftovers, and a folder that can only be written, are in nobody's way", async () => {
    await using folder = temporaryFolder();
    const { database } = await publicShare(folder);
    // A drop folder like the system's: everybody can write, and nobody can remove what is another's.
    const drop = join(folder.path, 'drop');
    mkdirSync(drop);
    oldLeftover(join(drop, 'x.docmirror-unfinished'));
    const query = (out: string) =>
      docmirrorAsNobody('query', 'SELECT 1 AS one', '--out', out, '--database', database);
    for (const mode of [0o1777, 0o1733]) {
      chmodSync(drop, mode);
      expect(await query(join(drop, `${mode}.csv`))).toMatchObject({ code: 0, stderr: '' });
    }
    expect(readdirSync(drop).sort()).toEqual(['987.csv', '1023.csv', 'x.docmirror-unfinished'].sort());
  });

  test('the message names the file that is in the way, and not the mirror', async () => {
    await using folder = temporaryFolder();
    const { database } = await publicShare(folder);
    const closed = join(folder.path, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const html = join(folder.path, 'r.html');
    writeFileSync(html, 'of root', { mode: 0o600 });
    for (const [words, named] of [
      [['report', '--out', html, '--database', database], html],
      [['backup', '--list', closed], closed],
    ] as const) {
      const { code, stderr } = await docmirrorAsNobody(...words);
      expect(code, stderr).not.toBe(0);
      expect(stderr).toContain(`docmirror: ${named} can't be`);
      expect(stderr).not.toMatch(/mirror needs write permission|the mirror/);
    }
    expect(readFileSync(html, 'utf8')).toBe('of root');
  });
});

async function publicShare(folder: TemporaryFolder) {
  chmodSync(folder.path, 0o777);
  const database = join(folder.path, 'share.sqlite');
  expect(await scene.run('share', database)).toMatchObject({ code: 0 });
  return { database };
}

function oldLeftover(path: string): void {
  if (!existsSync(path)) writeFileSync(path, '');
  const longAgo = new Date(Date.now() - 3 * 86_400_000);
  utimesSync(path, longAgo, longAgo);
}

test("a folder with the name of a leftover is in nobody's way, and a killed run's leftover goes", async () => {
  await using folder = temporaryFolder();
  mkdirSync(join(folder.path, 'a.docmirror-unfinished'));
  for (const name of ['a', 'b']) oldLeftover(join(folder.path, `${name}.docmirror-unfinished`));
  // It can be of a process that goes on.
  writeFileSync(join(folder.path, 'c.docmirror-unfinished'), '');
  const { code, stderr } = await scene.run('query', 'SELECT 1', '--out', join(folder.path, 'rows'));
  expect(code, stderr).toBe(0);
  expect(readdirSync(folder.path).sort()).toEqual([
    'a.docmirror-unfinished',
    'c.docmirror-unfinished',
    'rows',
  ]);
});

const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n';
const slowToBegin = endless.replace('SELECT i FROM n', 'SELECT sum(i) FROM n');

test.each(['SIGINT', 'SIGTERM'] as const)('%s leaves nothing beside the target of a query', async signal => {
  await using folder = temporaryFolder();
  const out = join(folder.path, 'big.csv');
  const ended = { SIGINT: 130, SIGTERM: 143 }[signal];
  {
    await using cli = spawnCli(['query', endless, '--format', 'csv', '--out', out], { env: scene.env });
    while (!readdirSync(folder.path).some(name => statSync(join(folder.path, name)).size > 1_000_000))
      await wait(5);
    cli.child.kill(signal);
    expect(await cli.done).toMatchObject({ code: ended });
  }
  expect(readdirSync(folder.path)).toEqual([]);
  // Before the first row, SQLite can't be asked to stop: the signal itself ends the process, and nothing is there.
  await using cli = spawnCli(['query', slowToBegin, '--out', out], { env: scene.env });
  await wait(1_500);
  expect(readdirSync(folder.path)).toEqual([]);
  cli.child.kill(signal);
  expect(await cli.done).toMatchObject({ code: null, signal });
});

test.each(outputs.slice(1, 4))(
  '%s is not written, nor anything beside it, by a command that is told to stop',
  async (name, write) => {
    await using folder = temporaryFolder();
    const path = join(folder.path, name);
    const out = name === 'cursor' ? ['--format', 'ndjson', '--out', join(folder.path, 'changes')] : [];
    const options = { env: scene.env, signal: AbortSignal.abort(new Error('stop')) };
    expect((await runCli([...write(path), ...out], options)).code).not.toBe(0);
    expect(readdirSync(folder.path)).toEqual([]);
  },
);

test.each(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1', 'link'].map((out, at) => ({ out, at })))(
  '--out $out writes to standard output',
  async ({ out, at }) => {
    await using folder = temporaryFolder();
    const file = join(folder.path, 'f');
    symlinkSync('/dev/stdout', join(folder.path, 'link'));
    const program = '(echo before; "$0" -- "$@"; echo after) > f';
    const commands = [
      ['query', 'SELECT 7 AS seven', '--format', 'csv', '--out', out],
      ['changes', '--since-run', '0', '--format', 'ndjson', '--out', out],
      ['report', '--out', out],
      ['audit', 'checkpoint', '--unsigned', '--out', out],
    ];
    // Each of them is a process: some cases are one command with each output.
    for (const words of inTurn(commands, at)) {
      const env = { ...process.env, ...scene.env };
      execFileSync('bash', ['-c', program, process.execPath, programPath, ...words], {
        cwd: folder.path,
        env,
      });
      const said = readFileSync(file, 'utf8');
      expect(said).toMatch(/^before\n.+after\n$/s);
      expect(said.length).toBeGreaterThan('before\nafter\n'.length + 5);
    }
    // An open file that is not standard output can't be replaced either.
    const next = ['changes', '--cursor', 'none', '--next', '/dev/fd/2'];
    expect(await scene.run(...next)).toMatchObject({ code: 2, stderr: expect.stringContaining('open file') });
  },
);

test('a symbolic link to a file that is not there yet is followed, for outputs and the mirror', async () => {
  await using own = await setScene({}, { exports: 1, collections: 1, webhooks: 1 });
  await using folder = temporaryFolder();
  const [there, link] = [join(folder.path, 'there'), join(folder.path, 'link')];
  symlinkSync('there', link);
  expect(await scene.run('query', 'SELECT 1', '--out', link)).toMatchObject({ code: 0 });
  expect([readlinkSync(link), statSync(there).isFile()]).toEqual(['there', true]);
  const mirror = join(folder.path, 'm.sqlite');
  symlinkSync(join(folder.path, 'elsewhere.sqlite'), mirror);
  own.env.DOCMIRROR_DATABASE = mirror;
  expect((await own.sync()).code).toBe(0);
  expect(readdirSync(folder.path).sort()).toEqual(
    ['elsewhere.sqlite', 'elsewhere.sqlite.lock', 'link', 'm.sqlite', 'there'].sort(),
  );
  const lost = join(folder.path, 'lost');
  symlinkSync('/not/there/x', lost);
  for (const words of [
    ['query', 'SELECT 1', '--out', lost],
    ['sync', '--database', lost],
  ])
    expect(await own.run(...words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'is a symbolic link to /not/there/x, and there is no folder /not/there',
      ),
    });
  symlinkSync('round', join(folder.path, 'round'));
  const round = await own.run('query', 'SELECT 1', '--out', join(folder.path, 'round'));
  expect(round).toMatchObject({ code: 2, stderr: expect.not.stringContaining('internal') });
});

test('an output that is never written leaves what is there', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'x');
  writeFileSync(path, 'old');
  {
    using file = new AtomicFile(path);
    expect(readdirSync(folder.path)).toEqual(['x']);
    file.write('new');
    expect(readdirSync(folder.path)).toHaveLength(2);
  }
  expect([readdirSync(folder.path), readFileSync(path, 'utf8')]).toEqual([['x'], 'old']);
});
