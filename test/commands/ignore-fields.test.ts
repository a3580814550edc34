import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tamper } from '../store/verify/tamper.ts';
import { runCli, sqlite, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { documentExport, type SampleItem } from '../support/stand-in.ts';

const variable = 'DOCMIRROR_IGNORE_FIELDS';
const address = 'document-exports.downloadUrl';

const exportsOf = ({ service }: Scene) => service.lists['document-exports'] as SampleItem[];

/** A service whose exports have a signed address, another one in each answer. */
async function setSigned(exports: number): Promise<Scene> {
  const scene = await setScene({}, { exports });
  scene.service.onRequest = ({ n }) => {
    for (const item of exportsOf(scene)) item.downloadUrl = `https://files.example/a?signature=${n}`;
  };
  return scene;
}

/** A service of which so many exports have a field of their own. */
async function setSome(exports: number, count: number): Promise<Scene> {
  const scene = await setScene({}, { exports });
  for (const item of exportsOf(scene).slice(0, count)) item.downloadUrl = 'https://files.example/a';
  return scene;
}

async function expectSound(scene: Scene): Promise<void> {
  const { code, stdout } = await scene.run('verify');
  expect(code, stdout).toBe(0);
}

const extras = ({ database }: Scene) =>
  sqlite(database, 'SELECT id, _extra FROM document_exports ORDER BY id');
const history = ({ database }: Scene) => sqlite(database, 'SELECT * FROM record_history');

describe('a field that differs in every answer', () => {
  test('makes no version if it is ignored, and stays as it came first', async () => {
    await using scene = await setSigned(60);
    scene.env[variable] = address;
    const first = await scene.sync('--page-size', '25');
    expect(first.of('document-exports')).toMatchObject({ completeness: 'proven', inserted: 60 });
    const before = extras(scene);
    expect(before[0]?._extra).toMatch(/^\{"downloadUrl":"https:\/\/files\.example\/a\?signature=\d+"\}$/);
    for (const flags of [[], ['--full'], ['--full', '--page-size', '25']]) {
      const again = await scene.sync(...flags);
      expect(again).toMatchObject({ code: 0, status: 'completed' });
      const same = { inserted: 0, updated: 0, removed: 0, completeness: 'proven', restlessFields: [] };
      expect(again.of('document-exports')).toMatchObject({ ...same, ignoredFields: ['downloadUrl'] });
      expect(again.of('webhooks')).toMatchObject({ ignoredFields: [] });
    }
    expect(extras(scene)).toEqual(before);
    expect(history(scene)).toEqual([]);
    expect(await scene.run('sync', '--dry-run')).toMatchObject({
      stdout: expect.stringContaining('Nothing new'),
    });
    await expectSound(scene);
    // The mirror says what was ignored, wherever it is.
    delete scene.env[variable];
    await expectSound(scene);
    await using folder = temporaryFolder();
    copyFileSync(scene.database, join(folder.path, 'copy.sqlite'));
    const elsewhere = await runCli(['verify', '--database', 'copy.sqlite'], { cwd: folder.path });
    expect(elsewhere).toMatchObject({ code: 0 });
  });

  test('is named with the setting that ignores it', async () => {
    await using scene = await setSigned(60);
    await scene.sync();
    const { stdout } = await scene.run('sync', '--full');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`DOCMIRROR_IGNORE_FIELDS=${address}`);
  });

  test('gets the value that a new version comes with', async () => {
    await using scene = await setSigned(60);
    scene.env[variable] = address;
    await scene.sync();
    for (const item of exportsOf(scene).slice(0, 40)) item.sourceDocumentTitle = 'Another';
    const news = { updated: 40, restlessFields: ['sourceDocumentTitle'] };
    expect((await scene.sync()).of('document-exports')).toMatchObject(news);
    const [version] = history(scene);
    const row = sqlite(
      scene.database,
      `SELECT _extra FROM document_exports WHERE id = ${version?.record_id}`,
    );
    const [then, now] = [JSON.parse(`${version?.record}`), JSON.parse(`${row[0]?._extra}`)];
    expect(then.downloadUrl).toMatch(/signature=/);
    expect(now.downloadUrl).toMatch(/signature=/);
    expect(now.downloadUrl).not.toBe(then.downloadUrl);
    await expectSound(scene);
  });
});

describe('to ignore a field, and to stop ignoring it,', () => {
  test('is one update for each record that has it, and none for others', async () => {
    // So many pages are read from their growing end alone, if that is enough.
    await using scene = await setSome(500, 50);
    const flags = ['--page-size', '40'];
    await scene.sync(...flags);
    for (const [ignored, updated] of [
      [address, 50],
      [address, 0],
      ['', 50],
      ['', 0],
      [`${address},document-exports.other`, 50],
      [`${address},document-exports.other`, 0],
      ['document-exports.other', 50],
      ['document-exports.other', 0],
    ] as const) {
      const synced = await scene.sync(...flags, '--ignore-fields', ignored);
      const counts = { status: 'completed', inserted: 0, updated, removed: 0 };
      expect(synced.of('document-exports'), ignored).toMatchObject(counts);
      expect(synced.of('document-exports').mode, ignored).toBe(updated === 0 ? 'incremental' : 'full');
      await expectSound(scene);
    }
    const runs = JSON.parse((await scene.run('runs', '--json')).stdout) as { resources: object[] }[];
    const both = ['downloadUrl', 'other'];
    const said = [[], ['downloadUrl'], ['downloadUrl'], [], [], both, both, ['other'], ['other']];
    expect(runs.map(({ resources }) => resources[0]).reverse()).toMatchObject(
      said.map(ignoredFields => ({ ignoredFields })),
    );
    const status = JSON.parse((await scene.run('status', '--json')).stdout);
    expect(status.resources[0].lastRun.ignoredFields).toEqual(['other']);
    const receipts = (await scene.run('audit', 'receipts', '--json')).stdout.trimEnd().split('\n');
    expect(receipts.map(line => JSON.parse(line).lists[0].ignoredFields ?? [])).toEqual(said);
    expect(receipts.filter(line => line.includes('ignoredFields'))).toHaveLength(6);
  });

  test('is an update of each record that has lost it meanwhile, too', async () => {
    await using scene = await setSome(40, 25);
    await scene.sync('--ignore-fields', address);
    for (const item of exportsOf(scene)) delete item.downloadUrl;
    expect((await scene.sync('--ignore-fields', address)).of('document-exports')).toMatchObject({
      updated: 0,
    });
    expect(extras(scene).filter(({ _extra }) => _extra !== null)).toHaveLength(25);
    for (const updated of [25, 0]) {
      expect((await scene.sync()).of('document-exports')).toMatchObject({ updated, removed: 0 });
      expect(extras(scene).filter(({ _extra }) => _extra !== null)).toHaveLength(0);
      await expectSound(scene);
    }
  });

  test('counts the copies of an export as before', async () => {
    await using scene = await setSome(40, 0);
    const copy = documentExport(500, { downloadUrl: 'a' });
    const more = () => exportsOf(scene).push(structuredClone(copy), structuredClone(copy));
    more();
    await scene.sync('--ignore-fields', address);
    for (const item of exportsOf(scene)) delete item.downloadUrl;
    delete copy.downloadUrl;
    more();
    for (const inserted of [2, 0]) {
      expect((await scene.sync()).of('document-exports')).toMatchObject({ inserted, removed: 0 });
      await expectSound(scene);
    }
  });
});

describe('what is done to a mirror with ignored fields', () => {
  test('is found by verify if it alters another field, or which fields were ignored', async () => {
    await using scene = await setSome(40, 25);
    for (const item of exportsOf(scene)) item.language = 'de';
    scene.env[variable] = address;
    await scene.sync();
    await expectSound(scene);
    await using folder = temporaryFolder();
    const database = join(folder.path, 'copy.sqlite');
    for (const [sql, said] of [
      [
        "UPDATE document_exports SET _extra = json_set(_extra, '$.language', 'fr') WHERE id = 3",
        'document_exports 3: ',
      ],
      [
        "UPDATE document_exports SET _extra = json_remove(_extra, '$.language') WHERE id = 3",
        'document_exports 3: ',
      ],
      [
        'UPDATE sync_run_resources SET ignored_fields = NULL',
        'document-exports: ignoredFields is ["downloadUrl"]',
      ],
      [
        `UPDATE sync_run_resources SET ignored_fields = 'no JSON'`,
        'document-exports: ignoredFields is ["downloadUrl"]',
      ],
      [
        `UPDATE sync_run_resources SET ignored_fields = '["a"]' WHERE resource = 'webhooks'`,
        'webhooks: ignoredFields is nothing',
      ],
    ] as const) {
      copyFileSync(scene.database, database);
      tamper(database, sql);
      const { code, stdout } = await runCli(['verify', '--database', database]);
      expect({ code, stdout }).toEqual({ code: 4, stdout: expect.stringContaining(said) });
    }
  });

  test('leaves it sound: an erasure, a rebuild, a pruning, a backup, a share', async () => {
    await using scene = await setSigned(30);
    scene.env[variable] = address;
    await scene.sync();
    for (const item of exportsOf(scene).slice(0, 3)) item.sourceDocumentTitle = 'Another';
    await scene.sync();
    exportsOf(scene).splice(5, 1);
    await scene.sync();
    delete scene.env[variable];
    const erased = sqlite(scene.database, 'SELECT min(record_id) AS id FROM record_history')[0]?.id;
    expect(await scene.run('erase', 'document-exports', `${erased}`)).toMatchObject({ code: 0 });
    await expectSound(scene);
    expect(await scene.run('backup', 'copy.sqlite')).toMatchObject({ code: 0 });
    expect(await scene.run('share', 'share.sqlite')).toMatchObject({ code: 0 });
    expect(
      sqlite(join(scene.folder, 'share.sqlite'), 'SELECT DISTINCT ignored_fields FROM sync_run_resources'),
    ).toEqual([{ ignored_fields: null }, { ignored_fields: '["downloadUrl"]' }]);
    scene.env[variable] = address;
    tamper(scene.database, "UPDATE collections SET name = 'another' WHERE id = 2");
    expect(await scene.run('sync')).toMatchObject({ code: 4 });
    const rebuilt = await scene.sync('--rebuild');
    expect(rebuilt.summary).toMatchObject({ rowsDropped: 1 });
    expect(rebuilt.of('document-exports')).toMatchObject({ updated: 0, inserted: 0 });
    await expectSound(scene);
    await scene.sync('--keep-history', '1ms');
    await scene.sync('--keep-history', '1ms');
    await expectSound(scene);
  });
});
