import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { docmirrorShell } from '../support/docmirror-shell.ts';
import { type Scene, setScene } from '../support/scene.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'backup.md'), 'utf8');
const isInstalled = (program: string) => spawnSync(program, ['version']).status === 0;

/** The commands below a heading of the page. */
function blocksOf(heading: string): string[] {
  const [, section = ''] = page.split(`## ${heading}\n`);
  return [...(section.split('\n## ')[0] ?? '').matchAll(/```sh\n(.*?)```/gs)].map(([, typed = '']) => typed);
}

/** Runs it to the first failure, with a folder in the place of the machine's. */
async function machine() {
  const scene = await setScene();
  scene.env.DOCMIRROR_DATABASE = join(scene.folder, 'docmirror.sqlite');
  const shell = docmirrorShell(scene.folder);
  const at = (path: string) => join(scene.folder, path);
  mkdirSync(at('backups'));
  writeFileSync(at('restic-password'), 'password');
  const offsite = { RCLONE_CONFIG_OFFSITE_TYPE: 'alias', RCLONE_CONFIG_OFFSITE_REMOTE: at('offsite') };
  const others = { ...offsite, RCLONE_CONFIG: at('rclone.conf'), HOME: scene.folder };
  const type = (typed: string) => {
    const places: Record<string, string> = {
      '/tmp/restored/backups': `${at('tmp')}/restored${at('backups')}`,
      '/tmp': at('tmp'),
      '/backups': at('backups'),
      '/srv/restic': at('restic'),
      '/etc/docmirror/restic-password': at('restic-password'),
    };
    const known =
      /\/tmp\/restored\/backups|\/tmp|(?<= )\/backups|\/srv\/restic|\/etc\/docmirror\/restic-password/g;
    const here = typed.replace(known, place => places[place] ?? '');
    return shell(`set -e\n${here}`, { ...scene.env, ...others });
  };
  return { scene, at, type };
}

function damageTheNewest(folder: string): void {
  const newest =
    readdirSync(folder)
      .filter(name => name.endsWith('.sqlite'))
      .sort()
      .at(-1) ?? '';
  const bytes = readFileSync(join(folder, newest));
  bytes[bytes.length - 5_000] = 1 ^ (bytes[bytes.length - 5_000] ?? 0);
  writeFileSync(join(folder, newest), bytes);
}

async function growAndSync(scene: Scene): Promise<void> {
  scene.service.lists.webhooks.pop();
  expect(await scene.sync()).toMatchObject({ code: 0 });
}

describe.skipIf(!isInstalled('restic'))('with restic, as docs/backup.md has one type', () => {
  test('backups leave the machine, come back whole, and a copy that was damaged is found', async () => {
    const { scene, at, type } = await machine();
    await using _ = scene;
    const [once = '', nightly = '', back = '', ...more] = blocksOf('Off the machine with restic');
    expect(more).toEqual([]);
    expect(await type(once)).toMatchObject({ code: 0 });
    for (const _night of [1, 2]) {
      await growAndSync(scene);
      expect(await type(nightly)).toMatchObject({ code: 0 });
    }
    const returned = await type(back);
    expect(returned).toMatchObject({ code: 0, output: expect.stringMatching(/ ok$/m) });
    expect(readdirSync(join(at('tmp'), 'restored', at('backups')))).toEqual(readdirSync(at('backups')));
    damageTheNewest(join(at('tmp'), 'restored', at('backups')));
    expect(await type(back.replace(/^restic restore.*\n/m, ''))).toMatchObject({ code: 4 });
  });
});

describe.skipIf(!isInstalled('rclone'))('with rclone, as docs/backup.md has one type', () => {
  test('backups leave the machine, stay there when they go here, come back whole, and damage is found', async () => {
    const { scene, at, type } = await machine();
    await using _ = scene;
    const [nightly = '', back = '', ...more] = blocksOf('Off the machine with rclone');
    expect(more).toEqual([]);
    for (const _night of [1, 2]) {
      await growAndSync(scene);
      expect(await type(nightly.replace('--keep 14', '--keep 1'))).toMatchObject({ code: 0 });
    }
    const copiesIn = (folder: string) => readdirSync(folder).filter(name => name.endsWith('.sqlite'));
    expect(copiesIn(at('backups'))).toHaveLength(1);
    expect(copiesIn(at('offsite/docmirror'))).toHaveLength(2);
    expect(await type(back)).toMatchObject({ code: 0, output: expect.stringMatching(/ ok$/m) });
    damageTheNewest(at('offsite/docmirror'));
    expect(await type(nightly.replace(/^(docmirror|rclone copy).*\n/gm, ''))).toMatchObject({ code: 1 });
    expect(await type(back)).toMatchObject({ code: 4 });
  });
});

test('the restore drill brings a copy up to date, and touches nothing of production', async () => {
  const { scene, at, type } = await machine();
  await using _ = scene;
  await scene.sync();
  expect(await scene.run('backup', at('backups/mirror.sqlite'))).toMatchObject({ code: 0 });
  const production = {
    SHARE: at('share.sqlite'),
    METRICS_FILE: at('acme.prom'),
    PING_URL: `${scene.service.url}/%c`,
  };
  for (const [name, value] of Object.entries(production)) scene.env[`DOCMIRROR_${name}`] = value;
  await growAndSync(scene);
  const pings = () => scene.service.requests.filter(({ method }) => method === 'POST').length;
  const stateOf = () => [
    pings(),
    ...[production.SHARE, production.METRICS_FILE, at('docmirror.sqlite')].map(path => readFileSync(path)),
  ];
  const before = stateOf();
  expect(before[0]).toBeGreaterThan(0);
  scene.service.lists.webhooks.pop();
  mkdirSync(at('tmp'));
  const [drill = '', ...more] = blocksOf('The restore drill');
  expect(more).toEqual([]);
  // The first comparison finds what has changed since the backup.
  expect(
    await type(drill.replace(/^(docmirror verify.*?)#.*since.*$/m, '$1 && exit 1 || test $? -eq 4')),
  ).toMatchObject({ code: 0 });
  expect(stateOf()).toEqual(before);
});
