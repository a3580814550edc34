import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateKey, readPrivateKey, signedCheckpoint } from '../../src/audit/checkpoint.ts';
import { leafHash } from '../../src/audit/hashes.ts';
import { keptResources } from '../../src/contract/lists.ts';
import { hash16 } from '../../src/contract/sum.ts';
import { openForWriting } from '../../src/store/file/open-to-write.ts';
import { checkpointOf } from '../../src/store/read/runs/receipts.ts';
import { tamper } from '../store/verify/tamper.ts';
import { syncScene } from '../support/in-process.ts';
import { sqlite, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection, type SampleItem } from '../support/stand-in.ts';

// docs/audit.sh takes the steps that docs/audit.md prints; test/audit/procedure.test.ts takes each by itself.

const docs = join(import.meta.dirname, '../../docs');
const keys = generateKey();

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
  keep('early');
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
  for (const colour of ['red', 'blue']) {
    lists.collections.push(collection(30, { colour, pages: [1, 2.5] }), '{"id":"y"}');
    await syncScene(scene, { ...at(8), ignoreFields: { collections: ['colour'] } });
    lists.collections = lists.collections.slice(0, -2);
  }
  keep('with ignored fields');
}, 60_000);
afterAll(() => scene[Symbol.asyncDispose]());

async function erase(...record: readonly string[]): Promise<void> {
  expect(await scene.run('erase', ...record)).toMatchObject({ code: 0, stderr: '' });
}

/** Runs docs/audit.sh on a mirror, with a checkpoint of it or of another. */
function audit(folder: string, path: string, checkpointOfPath = path) {
  copyFileSync(path, join(folder, 'mirror.sqlite'));
  const checkpoint = signedCheckpoint(checkpointOf(checkpointOfPath), readPrivateKey(keys.privatePem));
  writeFileSync(join(folder, 'checkpoint'), checkpoint);
  writeFileSync(join(folder, 'key.pub'), keys.publicPem);
  symlinkSync(docs, join(folder, 'docs'));
  const { status, stdout, stderr } = spawnSync('sh', ['docs/audit.sh'], { cwd: folder, encoding: 'utf8' });
  const [, compared] = /^(\d+) comparisons, of which \d+ differ\.$/m.exec(stdout) ?? [];
  return { status, stdout, stderr, compared: Number(compared) };
}

/** @param kept the lists of what a pruning left. */
const comparisons = (runs: number, runsAfter: number, kept = 0) =>
  4 + runs + keptResources.length * (1 + 2 * runsAfter) + kept;

test.each([
  ['erased', comparisons(3, 3), 'erase', 0],
  ['pruned', comparisons(5, 3, keptResources.length), 'erase,prune', 2],
  ['rebuilt', comparisons(8, 3), 'erase,prune,rebuild', 5],
  ['with ignored fields', comparisons(10, 5), 'erase,prune,rebuild', 5],
])(
  'docs/audit.md is enough to recompute every receipt of a mirror that was %s',
  async (name, compared, kinds, after) => {
    await using folder = temporaryFolder();
    const stdout = `Receipts of other kinds: ${kinds}. Steps 5 and 6 can be taken for the runs after ${after}.
${compared} comparisons, of which 0 differ.\n`;
    expect(audit(folder.path, copyNamed(name))).toEqual({ status: 0, stdout, stderr: '', compared });
    const verified = JSON.parse((await scene.run('verify', '--database', copyNamed(name), '--json')).stdout);
    expect(verified.differences).toEqual([]);
  },
);

const kept = readdirSync(join(import.meta.dirname, '../support')).filter(name =>
  /^mirror-0\.5.*\.gz$/.test(name),
);

test.each(kept)('docs/audit.sh raises no alarm about %s, brought up to date', async name => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'older.sqlite');
  writeFileSync(path, gunzipSync(readFileSync(join(import.meta.dirname, '../support', name))));
  openForWriting(path).close();
  const { status, stdout, stderr, compared } = audit(folder.path, path);
  expect([status, stderr], stdout).toEqual([0, '']);
  expect(compared).toBeGreaterThan(10);
});

const contentOf = (json: string) => `x'${hash16(json).toString('hex')}'`;
const collection12 =
  '{"destinationConnection":{"id":101},"id":12,"name":"forged","sourceConnection":{"id":3}}';
const renaming = `UPDATE collections SET name = 'forged', _content = ${contentOf(collection12)} WHERE id = 12`;
const rewriting = `UPDATE record_history SET record = '{"id":10,"name":"forged"}', content = ${contentOf('{"id":10,"name":"forged"}')}
  WHERE resource = 'collections' AND record_id = 10`;

test.each<[what: string, sql: string, found: unknown]>([
  [
    'a collection was renamed, with its content',
    renaming,
    ['4, list collections', '5, list collections, run 1'],
  ],
  [
    'a connection was renamed, with its content',
    `UPDATE connections SET name = 'forged', _content = ${contentOf('{"id":4,"name":"forged"}')} WHERE id = 4`,
    ['4, list connections', '5, list connections, run 1'],
  ],
  [
    'an ended version was rewritten, with its content',
    rewriting,
    ['5, list collections, run 1', '6, list collections, run 2'],
  ],
  [
    'a run has another verdict',
    "UPDATE sync_run_resources SET completeness = 'unproven' WHERE run_id = 2 AND resource = 'webhooks'",
    ['7, run 2'],
  ],
  [
    'the ids of two exports were swapped',
    'UPDATE document_exports SET id = -id WHERE id IN (5, 6); UPDATE document_exports SET id = 11 + id WHERE id < 0',
    ['5, list document-exports, run 1'],
  ],
  [
    'the runs of two rows were swapped',
    `UPDATE collections SET _first_seen_run_id = 4 - _first_seen_run_id, _changed_run_id = 4 - _changed_run_id
     WHERE id IN (5, 20)`,
    ['5, list collections, run 1', '5, list collections, run 3'],
  ],
  [
    'times as numbers were moved by a year',
    'UPDATE document_exports SET exported_at_ms = exported_at_ms - 31536000000 WHERE id < 5',
    ['9'],
  ],
  [
    'a table can not be read',
    'DROP TABLE record_history',
    expect.arrayContaining(['5, list connections, run 2', '6, list connections, run 2']),
  ],
  [
    'a view hides a destination',
    `DROP VIEW document_exports_named;
     CREATE VIEW document_exports_named AS SELECT * FROM document_exports WHERE destination_connection_id <> 101`,
    ['10'],
  ],
  [
    'the last run is gone',
    `DELETE FROM sync_receipts WHERE leaf_index >= 2; DELETE FROM sync_run_resources WHERE run_id = 3;
     DELETE FROM rejected_records WHERE run_id = 3; DELETE FROM record_history WHERE valid_to_run_id = 3;
     DELETE FROM collections WHERE _changed_run_id = 3; DELETE FROM sync_runs WHERE id = 3`,
    expect.arrayContaining(['2', '3']),
  ],
])('docs/audit.sh finds that %s', async (_what, sql, found) => {
  expect(await differencesOf(forged(sql))).toEqual(found);
});

test('docs/audit.sh finds a mirror that was rewritten with its receipts', async () => {
  const path = forged(rewriting);
  await using folder = temporaryFolder();
  const { stdout } = audit(folder.path, path, copyNamed('erased'));
  const hashes = [...stdout.matchAll(/^(\w{64}) in the mirror\n(\w{64}) by the receipt$/gm)];
  expect(hashes).toHaveLength(2);
  for (const { leaf_index, receipt } of sqlite(path, 'SELECT * FROM sync_receipts')) {
    const rewritten = hashes.reduce(
      (text, [, mine = '', said = '']) => text.replace(said, mine),
      `${receipt}`,
    );
    const leaf = leafHash(rewritten).toString('hex');
    tamper(
      path,
      `UPDATE sync_receipts SET receipt = '${rewritten}', leaf_hash = '${leaf}' WHERE leaf_index = ${leaf_index}`,
    );
  }
  expect(await differencesOf(path)).toEqual(['3']);
});

test('docs/audit.sh finds that an old backup was put in the place of the mirror', async () => {
  expect(await differencesOf(copyNamed('early'))).toEqual(expect.arrayContaining(['2', '3']));
});

test('docs/audit.sh ends at a checkpoint that the key did not sign', async () => {
  await using folder = temporaryFolder();
  audit(folder.path, copyNamed('early'));
  writeFileSync(join(folder.path, 'key.pub'), generateKey().publicPem);
  const ended = spawnSync('sh', ['docs/audit.sh'], { cwd: folder.path, encoding: 'utf8' });
  expect([ended.status, ended.stdout]).toEqual([1, 'Signature Verification Failure\n']);
});

/** A copy of the mirror, altered by somebody who knows how it is made. */
function forged(sql: string): string {
  const path = copyNamed(`forged-${createHash('sha256').update(sql).digest('hex')}`);
  copyFileSync(copyNamed('erased'), path);
  expect(tamper(path, sql)).toBe(true);
  return path;
}

/** The steps that differ, by a checkpoint that was made before the mirror was forged. */
async function differencesOf(path: string): Promise<string[]> {
  await using folder = temporaryFolder();
  const { status, stdout, stderr } = audit(folder.path, path, copyNamed('erased'));
  expect([status, stderr]).toEqual([1, '']);
  return [...stdout.matchAll(/^Step (\d+) differs(.*):$/gm)].map(([, step, where]) => `${step}${where}`);
}

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
