import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

const manifestOf = (path: string) => JSON.parse(readFileSync(`${path}.json`, 'utf8'));
/** By their times; the second one of a second has -2 in its name. */
const copiesIn = (folder: string) =>
  readdirSync(folder)
    .filter(name => name.endsWith('.sqlite'))
    .sort((a, b) => (a.replace('.sqlite', '-1') < b.replace('.sqlite', '-1') ? -1 : 1));

/** A scene with two mirrors, of two names, and a folder for backups. */
async function setTwo(): Promise<Scene & { other: string; backups: string }> {
  const scene = await setScene();
  await scene.sync();
  const other = join(scene.folder, 'other.sqlite');
  await scene.sync('--database', other);
  return Object.assign(scene, { other, backups: join(scene.folder, 'backups') });
}

describe('a backup', () => {
  test('is named by its mirror and has a manifest beside it', async () => {
    await using scene = await setTwo();
    const { backups } = scene;
    const args = ['backup', backups, '--keep', '3', '--labels', 'tenant=acme', '--json'];
    const { code, stdout } = await scene.run(...args);
    expect(code).toBe(0);
    const [name = ''] = copiesIn(backups);
    expect(name).toMatch(/^mirror-\d{8}T\d{6}Z\.sqlite$/);
    const path = join(backups, name);
    const [{ mirror_id: mirrorId } = {}] = sqlite(scene.database, 'SELECT mirror_id FROM _mirror');
    const [{ receipts } = {}] = sqlite(scene.database, 'SELECT count(*) AS receipts FROM sync_receipts');
    expect(receipts).toBe(1);
    const bytes = readFileSync(path);
    const manifest = manifestOf(path);
    expect(manifest).toEqual({
      mirrorId,
      baseUrl: scene.service.url,
      labels: { tenant: 'acme' },
      runId: 1,
      rootHash: expect.stringMatching(/^[\da-f]{64}$/),
      recordCounts: { 'document-exports': 130, collections: 7, webhooks: 3 },
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      docmirrorVersion: expect.stringMatching(/^\d+\.\d+\.\d+/),
      at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(JSON.parse(stdout)).toEqual({ path, removed: [], ...manifest });
    const synced = await scene.sync();
    expect(synced.summary.receipt).toBeDefined();
    expect((await scene.run('sync', '--json')).stdout).not.toContain(manifest.rootHash);
  });

  test('of one mirror is kept and removed apart from those of another one in the folder', async () => {
    await using scene = await setTwo();
    const { backups, other } = scene;
    expect(await scene.run('backup', backups, '--keep', '1')).toMatchObject({ code: 0 });
    expect(await scene.run('backup', backups, '--keep', '1', '--database', other)).toMatchObject({ code: 0 });
    const third = await scene.run('backup', backups, '--keep', '1');
    expect(third.stdout).toMatch(/^Removed mirror-/m);
    expect(copiesIn(backups).map(name => name.split('-')[0])).toEqual(['mirror', 'other']);
    expect(readdirSync(backups).filter(name => name.endsWith('.json'))).toHaveLength(2);
  });

  test('replaces no file of somebody at the place of its manifest', async () => {
    await using scene = await setScene();
    await scene.sync();
    writeFileSync(join(scene.folder, 'copy.sqlite.json'), '{"mine": true}');
    const { code, stderr } = await scene.run('backup', 'copy.sqlite');
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('copy.sqlite.json') });
    expect(existsSync(join(scene.folder, 'copy.sqlite'))).toBe(false);
  });
});

test('a backup of another mirror is neither replaced nor restored', async () => {
  await using scene = await setTwo();
  expect(await scene.run('backup', 'copy.sqlite', '--database', scene.other)).toMatchObject({ code: 0 });
  const bytes = () => [join(scene.folder, 'copy.sqlite'), scene.database].map(path => readFileSync(path));
  const before = bytes();
  const said = { code: 2, stderr: expect.stringContaining('copy.sqlite is of another mirror') };
  for (const words of ['backup copy.sqlite', 'backup --restore copy.sqlite'])
    expect(await scene.run(...words.split(' '))).toMatchObject(said);
  expect(bytes()).toEqual(before);
});

describe('backup --list', () => {
  test('lists backups mirror by mirror, and exits with 4 if the newest is too old or altered', async () => {
    await using scene = await setTwo();
    const { backups, other } = scene;
    await scene.run('backup', backups, '--keep', '3');
    await scene.run('backup', backups, '--keep', '3');
    await scene.run('backup', backups, '--keep', '3', '--database', other);
    const fresh = await scene.run('backup', '--list', backups, '--max-age', '26h');
    expect(fresh.code).toBe(0);
    expect(fresh.stdout.match(/ ok$/gm)).toHaveLength(2);
    expect(fresh.stdout.trimEnd().split('\n')).toHaveLength(4);
    const json = JSON.parse((await scene.run('backup', '--list', backups, '--json')).stdout);
    expect(json.backups).toHaveLength(3);
    expect(json.backups.filter(({ isNewest }: { isNewest: boolean }) => isNewest)).toHaveLength(2);
    expect(json.backups[0]).toMatchObject({ state: 'ok', isSound: true, runId: 1 });
    expect(await scene.run('backup', '--list', backups, '--max-age', '0')).toMatchObject({ code: 4 });
    const [oldest = ''] = copiesIn(backups);
    appendFileSync(join(backups, oldest), 'x');
    expect(await scene.run('backup', '--list', backups)).toMatchObject({ code: 0 });
    const [otherCopy = ''] = copiesIn(backups).filter(name => name.startsWith('other'));
    appendFileSync(join(backups, otherCopy), 'x');
    const altered = await scene.run('backup', '--list', backups);
    expect(altered).toMatchObject({ code: 4, stdout: expect.stringMatching(/other-.* altered$/m) });
  });
});

test('backup --list tells a backup of a clock that was ahead, and one whose file is missing, from old and altered ones', async () => {
  await using scene = await setScene();
  await scene.sync();
  await scene.run('backup', 'backups', '--keep', '3');
  const backups = join(scene.folder, 'backups');
  const path = join(backups, copiesIn(backups)[0] ?? '');
  const at = new Date(Date.now() + 3_600_000).toISOString();
  writeFileSync(`${path}.json`, JSON.stringify({ ...manifestOf(path), at }));
  const list = ['backup', '--list', backups, '--max-age', '26h'];
  expect(await scene.run(...list)).toMatchObject({
    code: 4,
    stdout: expect.stringMatching(/ in the future$/m),
  });
  rmSync(path);
  expect(await scene.run(...list)).toMatchObject({ code: 4, stdout: expect.stringMatching(/ missing$/m) });
});

test('a mirror is not restored from itself', async () => {
  await using scene = await setScene({}, { exports: 1 });
  await scene.sync();
  const { code, stderr } = await scene.run('backup', '--restore', scene.database);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is the mirror itself') });
});

test('a mirror that runs write to is not listed as a backup', async () => {
  await using scene = await setScene({}, { exports: 1 });
  await scene.sync('--database', 'live-20260101T000000Z.sqlite');
  const { stdout } = await scene.run('backup', '--list', '.', '--json');
  expect(JSON.parse(stdout)).toEqual({ backups: [], copies: [] });
});

describe('backup --restore', () => {
  test('says whose backup it is, and makes no mirror for another base URL than the setting', async () => {
    await using scene = await setScene();
    await scene.sync();
    await scene.run('backup', 'copy.sqlite');
    const fresh = join(scene.folder, 'fresh.sqlite');
    const args = ['backup', '--restore', 'copy.sqlite', '--database', fresh];
    const refused = await scene.run(...args, '--base-url', 'https://other.example');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(scene.service.url) });
    expect(refused.stderr).toContain('https://other.example');
    expect(existsSync(fresh)).toBe(false);
    const restored = await scene.run(...args);
    expect(restored).toMatchObject({ code: 0 });
    expect(restored.stdout).toContain(`It mirrors ${scene.service.url}.`);
    const again = await scene.run(...args, '--json', '--base-url', 'https://other.example');
    expect(JSON.parse(again.stdout)).toMatchObject({
      baseUrl: scene.service.url,
      runId: 1,
      isVerified: true,
    });
  });
});
