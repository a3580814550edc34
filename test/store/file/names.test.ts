import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CliResult, runCli, temporaryFolder } from '../../support/run-cli.ts';
import { setScene } from '../../support/scene.ts';

const publish = 'publish clickhouse --url http://127.0.0.1:9 --tenant acme --give-up-after 0';
const commands = [
  'sync',
  'sync --dry-run',
  'status',
  'runs',
  'changes',
  'show webhooks 1',
  'verify',
  'verify --live',
  'doctor',
  'serve --port 0',
  'report --out report.html',
  'export --out lists',
  'backup copy.sqlite',
  'share share.sqlite',
  'audit receipts',
  'audit checkpoint --unsigned',
  publish,
];

/** In bytes; what nearly every file system takes. */
const nameBytesMax = 255;

/** One line that names the setting and the path, and exit code 2; doctor says it among its checks. */
function expectRefused({ code, stdout, stderr }: CliResult, setting: string, path: string, words: string) {
  const isDoctor = words.startsWith('doctor');
  const [said, other] = isDoctor ? [stdout, stderr] : [stderr, stdout];
  expect({ words, code, other, said }).toEqual({
    words,
    code: 2,
    other: '',
    said: isDoctor ? expect.anything() : expect.stringMatching(/^docmirror: [^\n]+\n$/),
  });
  expect(said, words).toContain(`${setting}: `);
  // The path itself, or its folder.
  expect(said, words).toContain(dirname(path));
}

describe.concurrent("a name that can't be a mirror's", () => {
  const names: [what: string, nameIn: (folder: string) => string][] = [
    ['longer than the file system takes', folder => join(folder, 'm'.repeat(300))],
    ['too long for what lies beside it', folder => join(folder, 'm'.repeat(nameBytesMax - 10))],
    ["a folder's that is not there", folder => `${join(folder, 'newdir')}/`],
    ["a mirror's, as if it were a folder", folder => `${join(folder, 'mirror.sqlite')}/`],
    ['through a folder that is not there', folder => `${folder}/nosub/../mirror.sqlite`],
    ["below a mirror's", folder => join(folder, 'mirror.sqlite', 'other.sqlite')],
    ['a link to itself', folder => join(folder, 'loop')],
    ['below a link to itself', folder => join(folder, 'loop', 'other.sqlite')],
  ];

  test.each(names)('(%s) is refused by every command', async (_what, nameIn) => {
    await using scene = await setScene();
    await scene.sync();
    symlinkSync('loop', join(scene.folder, 'loop'));
    const before = readdirSync(scene.folder);
    const path = nameIn(scene.folder);
    const named = path.replace(/(mirror\.sqlite)\/other.*/, '$1');
    scene.env.DOCMIRROR_DATABASE = path;
    for (const words of commands)
      expectRefused(await scene.run(...words.split(' ')), 'DOCMIRROR_DATABASE', named, words);
    expect(readdirSync(scene.folder)).toEqual(before);
  });
});

test('a name below a file is not said to want a folder that could be made', async () => {
  await using scene = await setScene();
  await scene.sync();
  const { stderr } = await scene.run('status', '--database', join(scene.database, 'other.sqlite'));
  expect(stderr).toContain('leads through a file');
});

describe.concurrent("a name that can't be written to", () => {
  const long = 'x'.repeat(300);
  const inFolder: [words: string, setting: string, name: string][] = [
    ['export --out', '--out', long],
    ['export --out', '--out', `${long}/below`],
    ['export --changes --out', '--out', long],
    ['export --out', '--out', 'loop/below'],
    ['export --out', '--out', 'mirror.sqlite/below'],
    ['report --out', '--out', long],
    ['report --out', '--out', 'missing/report.html'],
    ['audit checkpoint --unsigned --out', '--out', long],
    ['audit checkpoint --unsigned --out', '--out', 'missing/checkpoint'],
    ['audit keygen', 'FILE', long],
    ['audit keygen', 'FILE', 'missing/key.pem'],
    ['backup', 'DEST', long],
    ['backup', 'DEST', 'loop'],
    ['backup', 'DEST', 'mirror.sqlite/copy.sqlite'],
    ['backup --keep 2', 'DEST', long],
    ['backup --keep 2', 'DEST', 'mirror.sqlite/below'],
    ['backup --restore', '--restore', long],
    ['backup --check', '--check', long],
  ];

  test.each(inFolder)('%s is refused, and named by %s: %s', async (words, setting, name) => {
    await using scene = await setScene();
    await scene.sync();
    symlinkSync('loop', join(scene.folder, 'loop'));
    const path = join(scene.folder, name);
    expectRefused(await scene.run(...words.split(' '), path), setting, path, words);
  });

  test.each([
    ['report --out', '--out'],
    ['audit checkpoint --unsigned --out', '--out'],
    ['audit keygen', 'FILE'],
  ])('is refused if it is empty: %s', async (words, setting) => {
    await using scene = await setScene();
    await scene.sync();
    expectRefused(await scene.run(...words.split(' '), ''), setting, 'it is empty', words);
  });
});

test('a mirror whose name is as long as can be is kept, read and backed up', async () => {
  await using folder = temporaryFolder();
  await using scene = await setScene();
  mkdirSync(join(folder.path, 'backups'));
  const path = join(folder.path, 'm'.repeat(nameBytesMax - '.lock-journal'.length));
  scene.env.DOCMIRROR_DATABASE = path;
  for (const words of ['sync', 'status', 'verify', 'doctor', `backup ${folder.path}/backups/copy.sqlite`]) {
    const { code, stderr } = await scene.run(...words.split(' '));
    expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
  }
});

test.each(['export --out', 'export --changes --out', 'backup --keep 2'])(
  '%s ends in words if the system takes no folder and says that one is missing',
  async words => {
    await using scene = await setScene();
    await scene.sync();
    for (const path of ['/proc/docmirror', '/proc/docmirror/below/it']) {
      const result = await runCli([...words.split(' '), path], { env: scene.env, timeoutMs: 15_000 });
      expectRefused(result, words.startsWith('backup') ? 'DEST' : '--out', path, words);
    }
  },
);
