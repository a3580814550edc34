import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AtomicFile } from '../../../src/store/file/atomic-file.ts';
import { runProcess } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

/** A scene with a mirror, a signing key and somebody's notes. */
async function setKeyedScene(): Promise<Scene & { key: string; notes: string }> {
  const scene = await setScene();
  await scene.sync();
  const key = join(scene.folder, 'key.pem');
  await scene.run('audit', 'keygen', key);
  scene.env.DOCMIRROR_SIGNING_KEY_FILE = key;
  const notes = join(scene.folder, 'notes.txt');
  writeFileSync(notes, 'mine\n');
  return Object.assign(scene, { key, notes });
}

describe.concurrent('an output replaces a regular file, but never a mirror, a lock or a key', () => {
  test.each([
    ['a report', ['report', '--out']],
    ['a checkpoint', ['audit', 'checkpoint', '--out']],
  ])('(%s)', async (_what, command) => {
    await using scene = await setKeyedScene();
    const backup = join(scene.folder, 'backup.sqlite');
    await scene.run('backup', backup);
    const log = join(scene.folder, 'other.sqlite-wal');
    writeFileSync(log, 'a log');
    const remarked = join(scene.folder, 'remarked.pem');
    writeFileSync(remarked, `Bag Attributes\n${readFileSync(scene.key, 'utf8')}`);
    const [lock, { folder }] = [`${scene.database}.lock`, scene];
    for (const path of [scene.database, log, lock, scene.key, remarked, backup, folder]) {
      const before = path === folder ? null : readFileSync(path);
      const { code, stderr } = await scene.run(...command, path);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(path) });
      if (before !== null) expect(readFileSync(path).equals(before)).toBe(true);
    }
    const own = join(scene.folder, 'own');
    expect((await scene.run(...command, own)).code).toBe(0);
    expect(statSync(own).mode & 0o777).toBe(0o600);
    chmodSync(scene.notes, 0o644);
    expect((await scene.run(...command, scene.notes)).code).toBe(0);
    expect(readFileSync(scene.notes, 'utf8')).not.toBe('mine\n');
    // Its owner let others read it, so they still can.
    expect(statSync(scene.notes).mode & 0o777).toBe(0o644);
  });

  test('(an export)', async () => {
    await using scene = await setKeyedScene();
    const out = join(scene.folder, 'out');
    mkdirSync(out);
    const path = join(out, 'collections.ndjson');
    writeFileSync(path, 'mine\n');
    expect((await scene.run('export', '--out', out)).code).toBe(0);
    expect(readFileSync(path, 'utf8')).toContain('"id":1');
    writeFileSync(path, readFileSync(scene.key));
    const { code, stderr } = await scene.run('export', '--out', out);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(path) });
    expect(readFileSync(path).equals(readFileSync(scene.key))).toBe(true);
  });

  test('(a backup, which replaces an older backup of the same mirror)', async () => {
    await using scene = await setKeyedScene();
    const path = join(scene.folder, 'backup.sqlite');
    for (let times = 0; times < 2; times++) expect((await scene.run('backup', path)).code).toBe(0);
    const other = join(scene.folder, 'other.sqlite');
    await scene.run('sync', '--database', other);
    for (const taken of [other, scene.database, `${scene.database}.lock`, scene.key, scene.notes]) {
      const before = readFileSync(taken);
      const { code, stderr } = await scene.run('backup', taken);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(taken) });
      expect(readFileSync(taken).equals(before)).toBe(true);
    }
  });
});

describe.concurrent('a symbolic link', () => {
  test.each([
    ['a report', ['report', '--out']],
    ['a checkpoint', ['audit', 'checkpoint', '--out']],
  ])('means the file behind it: %s', async (_what, command) => {
    await using scene = await setKeyedScene();
    const [file, link] = [join(scene.folder, 'file'), join(scene.folder, 'link')];
    symlinkSync(file, link);
    expect(await scene.run(...command, link)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(link),
    });
    writeFileSync(file, '');
    expect(await scene.run(...command, link)).toMatchObject({ code: 0 });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(statSync(file).size).toBeGreaterThan(0);
    expect(await scene.run(...command, '/dev/null')).toMatchObject({ code: 2 });
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});

test('a file that is being written is no leftover of a killed process, whatever the clock says meanwhile', async () => {
  await using scene = await setScene();
  const path = join(scene.folder, 'one.ndjson');
  const one = new AtomicFile(path);
  const leftover = join(scene.folder, 'other.ndjson.01234567.docmirror-unfinished');
  writeFileSync(leftover, '{');
  for (const name of readdirSync(scene.folder).filter(each => each.endsWith('-unfinished')))
    utimesSync(join(scene.folder, name), 1, 1);
  new AtomicFile(join(scene.folder, 'two.ndjson')).discard();
  one.finish();
  one.putInPlace();
  expect([existsSync(path), existsSync(leftover)]).toEqual([true, false]);
});

test.each(['notes.docmirror-unfinished', 'a link'])(
  "somebody's old file that is named like a leftover of a killed process is left as it is (%s)",
  async what => {
    await using scene = await setScene();
    await scene.sync();
    const path = join(scene.folder, what === 'a link' ? 'x.01234567.docmirror-unfinished' : what);
    if (what === 'a link') symlinkSync(scene.database, path);
    else writeFileSync(path, 'mine');
    lutimesSync(path, 1, 1);
    if (what === 'a link') utimesSync(scene.database, 1, 1);
    expect(await scene.run('report', '--out', join(scene.folder, 'report.html'))).toMatchObject({ code: 0 });
    expect(readdirSync(scene.folder)).toContain(basename(path));
  },
);

describe.concurrent('backups that are rotated', () => {
  test('are those of the same mirror; nothing else of that name is removed', async () => {
    await using scene = await setKeyedScene();
    const folder = join(scene.folder, 'backups');
    const other = { DOCMIRROR_DATABASE: join(scene.folder, 'other.sqlite') };
    expect((await scene.run('backup', folder, '--keep', '1')).code).toBe(0);
    const [first = ''] = readdirSync(folder);
    const foreign = join(folder, 'docmirror-20200101T000000Z.sqlite');
    writeFileSync(foreign, 'mine\n');
    await scene.run('sync', '--database', other.DOCMIRROR_DATABASE);
    await new Promise(resolve => setTimeout(resolve, 1_100));
    const { stdout } = await scene.run(
      'backup',
      folder,
      '--keep',
      '1',
      '--database',
      other.DOCMIRROR_DATABASE,
    );
    expect(stdout).not.toContain('Removed');
    expect(readdirSync(folder)).toEqual(expect.arrayContaining([first, 'docmirror-20200101T000000Z.sqlite']));
  });

  test("are not put in another mirror's place", async () => {
    await using scene = await setKeyedScene();
    const backup = join(scene.folder, 'backup.sqlite');
    await scene.run('backup', backup);
    const other = join(scene.folder, 'other.sqlite');
    await scene.run('sync', '--database', other);
    const before = readFileSync(other);
    const { code, stderr } = await scene.run('backup', '--restore', backup, '--database', other);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('another mirror') });
    expect(readFileSync(other).equals(before)).toBe(true);
  });
});

describe.concurrent('a mirror', () => {
  test('in an empty file of other rights is its owner’s alone', async () => {
    await using scene = await setScene();
    writeFileSync(scene.database, '');
    chmodSync(scene.database, 0o644);
    expect((await scene.sync()).code).toBe(0);
    expect(statSync(scene.database).mode & 0o777).toBe(0o600);
  });

  test('with a value that docmirror did not write is named in a line', async () => {
    await using scene = await setScene();
    await scene.sync();
    const { default: Database } = await import('better-sqlite3');
    const other = new Database(scene.database);
    other.exec("UPDATE sync_runs SET started_at = 'x'; UPDATE collections SET _extra = '' WHERE id = 1");
    other.close();
    expect(await scene.run('runs')).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining(' – '),
    });
    const { code, stderr } = await scene.run('show', 'collections', '1');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^docmirror: [^\n]+verify[^\n]+\n$/),
    });
  });

  test('keeps each byte in a dry run', async () => {
    await using scene = await setScene();
    await scene.sync();
    scene.service.lists.collections.pop();
    const before = readFileSync(scene.database);
    const dry = await scene.sync('--dry-run', '--allow-mass-removal');
    expect(dry.of('collections')).toMatchObject({ removed: 1 });
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    expect(readdirSync(scene.folder).filter(name => /-(wal|shm|journal)$/.test(name))).toEqual([]);
  });

  test('that can’t last is refused by doctor, too', async () => {
    await using scene = await setScene();
    const env = { ...scene.env, DOCMIRROR_DATABASE: ':memory:' };
    const sync = await runProcess(['sync'], { env });
    expect(await runProcess(['doctor'], { env })).toMatchObject({
      code: sync.code,
      stdout: expect.stringContaining('is not a file on a disk'),
    });
  });

  test.each(['a pipe without a writer', 'a file without an end'])(
    'is not held up by %s where a small file is to be',
    async kind => {
      await using scene = await setKeyedScene();
      const path = kind === 'a file without an end' ? '/dev/zero' : join(scene.folder, 'pipe');
      if (path !== '/dev/zero') execFileSync('mkfifo', [path]);
      const commands = [
        ['audit', 'checkpoint', '--signing-key-file', path],
        ['verify', '--checkpoint', path],
        ['verify', '--checkpoint', scene.key, '--public-key', path],
      ];
      for (const command of commands) {
        const { code, stderr } = await scene.run(...command);
        // To an audit, what is empty is a difference.
        if (code !== 4) expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(path) });
      }
    },
  );

  test('that a run would refuse is refused by doctor, too', async () => {
    await using scene = await setScene();
    await scene.sync();
    // A backup is written without a log, so a reader does not mind its other names.
    const backup = join(scene.folder, 'backup.sqlite');
    await scene.run('backup', backup);
    linkSync(backup, join(scene.folder, 'second-name.sqlite'));
    scene.env.DOCMIRROR_DATABASE = backup;
    expect(await scene.run('doctor')).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('hard link'),
    });
    await using other = await setScene();
    writeFileSync(`${other.database}.lock`, 'mine\n');
    expect(await other.run('doctor')).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('is not a file that docmirror made'),
    });
  });
});
