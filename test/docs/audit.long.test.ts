import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keptResources } from '../../src/contract/lists.ts';
import { tamper } from '../store/verify/tamper.ts';
import { syncScene } from '../support/in-process.ts';
import { sqlite, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection, type SampleItem } from '../support/stand-in.ts';

// The steps of docs/audit.md, for every run and every list of a mirror; test/audit/procedure.test.ts shows that they find alterations.

const page = readFileSync(join(import.meta.dirname, '../../docs/audit.md'), 'utf8');
const [, receipts = '', root = '', , changes = '', ended = '', books = '', kept = ''] = [
  ...page.matchAll(/```sh\n(.*?)```/gs),
].map(([, block]) => block);

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
  const idOf = (item: unknown) => (item as SampleItem).id;
  const rename = (id: number, name: string) =>
    Object.assign(lists.collections.find(item => idOf(item) === id) as SampleItem, { name });
  const remove = (id: number) => {
    lists.collections = lists.collections.filter(item => idOf(item) !== id);
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

/** All steps but those of the records, each in a shell of its own, for the runs whose versions are all there; the last if it was pruned. */
function script(runs: readonly number[], isPruned: boolean): string {
  const ofList = (step: string, resource: string) =>
    step
      .replaceAll("'collections'", `'${resource}'`)
      .replace('FROM collections', `FROM ${resource.replace('-', '_')}`);
  const ofRun = (run: number) =>
    [...keptResources.flatMap(resource => [ofList(changes, resource), ofList(ended, resource)]), books].map(
      step => step.replace('run=2', `run=${run}`),
    );
  const left = isPruned ? keptResources.map(resource => ofList(kept, resource)) : [];
  return [receipts, root, ...runs.flatMap(ofRun), ...left].map(step => `(\n${step})\necho`).join('\n');
}

test.each([
  ['erased', 0],
  ['pruned', 2],
  ['rebuilt', 5],
])('docs/audit.md is enough to recompute every receipt of a mirror that was %s', async (name, knownAfter) => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  copyFileSync(copyNamed(name), path);
  const checkpoint = join(folder.path, 'checkpoint');
  await scene.run('audit', 'checkpoint', '--unsigned', '--database', path, '--out', checkpoint);
  const runs = sqlite(path, `SELECT id FROM sync_runs WHERE id > ${knownAfter}`).map(({ id }) => Number(id));
  const options = { cwd: folder.path, encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  const { stdout, stderr } = spawnSync('sh', ['-eu', '-c', script(runs, name === 'pruned')], options);
  expect(stderr).toBe('');
  const answers = stdout.replace(' by the checkpoint, ', ' by the checkpoint\n').trim().split('\n\n');
  expect(answers).toHaveLength(2 + 9 * runs.length + (name === 'pruned' ? keptResources.length : 0));
  let compared = 0;
  for (const answer of answers) {
    const [mine, other] = answer.split('\n').map(line => line.split(' ')[0]);
    // A receipt names the connections only if the run changed some.
    expect(other ?? nothing, answer).toBe(mine);
    if (mine !== nothing) compared++;
  }
  expect(compared).toBeGreaterThan(2 * runs.length);
  const verified = JSON.parse((await scene.run('verify', '--database', path, '--json')).stdout);
  expect(verified.differences).toEqual([]);
});

const nothing = createHash('sha256').digest('hex');

test('docs/audit.md is enough to recompute what a rebuild kept', () => {
  const path = copyNamed('rebuilt');
  const query = "SELECT receipt FROM sync_receipts WHERE receipt ->> 'kind' = 'rebuild'";
  const { kept } = JSON.parse(String(sqlite(path, query)[0]?.receipt));
  expect(kept).toHaveLength(keptResources.length);
  for (const { resource, count, sum } of kept) {
    const texts = sqlite(
      path,
      `SELECT concat_ws(' ', id, _first_seen_run_id, _changed_run_id, lower(hex(_content))) AS version
       FROM ${resource.replace('-', '_')} WHERE _changed_run_id <= 5 UNION ALL
       SELECT concat_ws(' ', record_id, first_seen_run_id, valid_from_run_id, lower(hex(content)),
         iif(valid_to_run_id <= 5, valid_to_run_id || ' ' || ended_by, NULL))
       FROM record_history WHERE resource = '${resource}' AND valid_from_run_id <= 5`,
    ).map(({ version }) => createHash('sha256').update(String(version)).digest('hex').slice(0, 32));
    const total = texts.reduce((all, hash) => all + BigInt(`0x${hash}`), 0n) % 2n ** 128n;
    expect([resource, texts.length, total.toString(16).padStart(32, '0')]).toEqual([resource, count, sum]);
  }
});
