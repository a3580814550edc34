import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tamper } from '../store/verify/tamper.ts';
import { syncScene } from '../support/in-process.ts';
import { temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection, type SampleItem } from '../support/stand-in.ts';

// A program that imports nothing of docmirror recomputes receipts as docs/audit.md says.

interface Recomputed {
  readonly checked: Readonly<Record<string, number>>;
  readonly wrong: readonly string[];
  readonly root: string;
  readonly knownAfter: number;
}

const recompute = (database: string): Recomputed =>
  JSON.parse(
    execFileSync(process.execPath, [join(import.meta.dirname, 'recompute.mjs'), database], {
      encoding: 'utf8',
    }),
  );

const hourMs = 3_600_000;
const first = Date.UTC(2030, 0, 1);
const at = (hour: number) => ({ now: new Date(first + hour * hourMs) });

let scene: Scene;
const copyNamed = (name: string) => join(scene.folder, `${name}.sqlite`);

/** Keeps a copy after each chapter: changed and erased, pruned, rebuilt. */
beforeAll(async () => {
  scene = await setScene({}, { exports: 12, collections: 12, webhooks: 3 });
  const { lists } = scene.service;
  const keep = (name: string) => copyFileSync(scene.database, copyNamed(name));
  const rename = (id: number, name: string) => {
    lists.collections = lists.collections.map(item =>
      (item as SampleItem).id === id ? { ...(item as SampleItem), name } : item,
    );
  };
  const remove = (id: number) => {
    lists.collections = lists.collections.filter(item => (item as SampleItem).id !== id);
  };
  await syncScene(scene, at(0));
  rename(2, 'tab\t, newline\n, "quotes", \u0001 and \u2028');
  rename(10, 'Zoë 😀');
  remove(1);
  lists['document-exports'] = lists['document-exports'].slice(1);
  lists.webhooks = [...lists.webhooks, '"no object"', '{"id":"x","name":"rejected"}'];
  await syncScene(scene, at(1));
  rename(2, 'second');
  remove(3);
  lists.collections.push(collection(20, { name: 'with more', pages: 12, note: null }));
  lists.collections.push(collection(1, { destinationConnection: { id: 4, name: 'Archive' } }));
  await syncScene(scene, at(2));
  await erase('collections', '2');
  keep('erased');
  rename(10, 'third');
  await syncScene(scene, { ...at(3), keepHistoryMs: 0.5 * hourMs });
  rename(4, 'after the pruning');
  await syncScene(scene, at(4));
  keep('pruned');
  tamper(
    scene.database,
    "UPDATE collections SET name = 'altered' WHERE id = 10; DELETE FROM collections WHERE id = 2",
  );
  for (const _ of [1, 2]) expect(await scene.sync()).toMatchObject({ code: 4 });
  expect(await scene.sync('--rebuild')).toMatchObject({ code: 3, summary: { rowsDropped: 1 } });
  rename(7, 'after the rebuild');
  rename(8, 'erased later');
  await syncScene(scene, at(6));
  await erase('collections', '8');
  await syncScene(scene, at(7));
  keep('rebuilt');
}, 60_000);
afterAll(() => scene[Symbol.asyncDispose]());

async function erase(...record: readonly string[]): Promise<void> {
  expect(await scene.run('erase', ...record)).toMatchObject({ code: 0, stderr: '' });
}

describe('docs/audit.md', () => {
  test.each([
    ['erased', 0],
    ['pruned', 2],
    ['rebuilt', 5],
  ])('is enough to recompute every receipt of a mirror that was %s', async (name, knownAfter) => {
    const recomputed = recompute(copyNamed(name));
    expect(recomputed).toMatchObject({ wrong: [], knownAfter });
    const { checked } = recomputed;
    const counted = ['leaf', 'books', 'changes', 'ended', ...(name === 'rebuilt' ? ['kept'] : [])];
    for (const what of counted) expect(checked[what]).toBeGreaterThan(2);
    const verified = JSON.parse((await scene.run('verify', '--database', copyNamed(name), '--json')).stdout);
    expect(verified.differences).toEqual([]);
    expect(
      (await scene.run('audit', 'checkpoint', '--unsigned', '--database', copyNamed(name))).stdout,
    ).toContain(Buffer.from(recomputed.root, 'hex').toString('base64'));
  });

  test.each([
    ['books', 'erased', 'UPDATE sync_run_resources SET requests = requests + 1 WHERE run_id = 2'],
    ['changes', 'erased', 'UPDATE collections SET _first_seen_run_id = 2 WHERE id = 10'],
    ['ended', 'erased', "UPDATE record_history SET record = '{}' WHERE record_id = 3"],
    ['ended', 'erased', 'UPDATE record_history SET record = NULL WHERE record_id = 3'],
    ['kept', 'rebuilt', 'UPDATE collections SET _changed_run_id = 2, _first_seen_run_id = 2 WHERE id = 9'],
    ['kept', 'rebuilt', 'DELETE FROM record_history'],
    ['kept', 'rebuilt', "UPDATE record_history SET ended_by = 'removal'"],
    [
      'leaf',
      'rebuilt',
      "UPDATE sync_receipts SET receipt = replace(receipt, '2030', '2031') WHERE run_id IS NULL",
    ],
  ])('%s is another after another program wrote to a mirror that was %s', async (what, name, sql) => {
    await using folder = temporaryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    copyFileSync(copyNamed(name), path);
    tamper(path, sql);
    expect(recompute(path).wrong.join()).toContain(`${what} of `);
  });
});
