import { hash } from 'node:crypto';
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putKept } from '../support/kept.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene, startingFrom } from '../support/scene.ts';
import { readable, textsIn } from '../support/share.ts';
import { documentExport, type SampleItem } from '../support/stand-in.ts';

/** Texts that a reader of the share must not be able to confirm. */
const secrets = {
  title: 'Merger of Alpha and Beta',
  oldTitle: 'Letter to Gamma',
  path: 'hook-path-77',
  why: 'the owner of Delta asked for it',
  erased: 'Erika Mustermann',
  rejected: 'a record of nobody',
};

let base: Scene;
beforeAll(async () => {
  const scene = await setScene({}, { exports: 6, collections: 3, webhooks: 2 });
  const at = scene.service.lists;
  (at['document-exports'][2] as SampleItem).sourceDocumentTitle = secrets.oldTitle;
  (at.webhooks[0] as SampleItem).endpoint = `https://hooks.example.com/${secrets.path}`;
  (at.collections[0] as SampleItem).name = secrets.erased;
  at.webhooks.push(`{"endpoint":"${secrets.rejected}"}`);
  await scene.sync();
  (at['document-exports'][2] as SampleItem).sourceDocumentTitle = secrets.title;
  (at.webhooks[0] as SampleItem).description = 'another';
  (at.collections[0] as SampleItem).name = 'Somebody';
  await scene.sync();
  at['document-exports'].push(documentExport(90));
  await scene.sync();
  expect(await scene.run('erase', 'collections', '1')).toMatchObject({ code: 0 });
  const accepted = ['accept', 'webhooks', 'record_rejected', '--why', secrets.why, '--anyway'];
  const { code, stderr } = await scene.run(...accepted);
  expect(code, stderr).toBe(0);
  await scene.sync();
  base = scene;
});
afterAll(() => base[Symbol.asyncDispose]());

/** Every hash in some values: BLOBs of 16 bytes and more, and 32 and more hexadecimal digits in texts. */
function hashesIn(values: Iterable<unknown>): Set<string> {
  const found = new Set<string>();
  for (const value of values) {
    if (Buffer.isBuffer(value) && value.length >= 16) found.add(value.toString('hex'));
    if (typeof value === 'string')
      for (const digits of value.match(/[0-9a-f]{32,}/g) ?? []) found.add(digits);
  }
  return found;
}

const valuesOf = (path: string, query: string) => sqlite(path, query).flatMap(row => Object.values(row));

/** Every hash of all tables of a file. */
function allHashes(path: string): Set<string> {
  const tables = sqlite(path, "SELECT name FROM sqlite_schema WHERE type = 'table'");
  const values = tables.flatMap(({ name }) => valuesOf(path, `SELECT * FROM "${name}"`));
  return hashesIn(values);
}

/** The hashes that somebody computes whose guess of what a share lacks is right: the mirror has them all. */
function guessesOf({ database }: Scene, lacking: readonly string[], withHistory: boolean) {
  const named = `(${lacking.map(each => `'${each}'`).join(', ')})`;
  const tableOf = (resource: string) => resource.replace('-', '_');
  const values = [
    ...lacking.flatMap(each => valuesOf(database, `SELECT _content FROM ${tableOf(each)}`)),
    ...valuesOf(database, `SELECT content FROM record_history WHERE resource IN ${named} OR record IS NULL`),
    ...valuesOf(database, `SELECT checksum FROM sync_run_resources WHERE resource IN ${named}`),
    ...valuesOf(database, 'SELECT content, identity FROM rejected_records'),
    ...valuesOf(database, 'SELECT leaf_hash FROM sync_receipts'),
    ...(withHistory ? [] : valuesOf(database, 'SELECT content FROM record_history')),
  ];
  const inReceipts = hashesIn(valuesOf(database, 'SELECT receipt FROM sync_receipts'));
  const sums = hashesIn(valuesOf(database, 'SELECT checksum FROM sync_run_resources'));
  const texts = Object.values(secrets).map(text => hash('sha256', text));
  const all = [...hashesIn(values), ...inReceipts.difference(sums), ...texts];
  return new Set([...all, ...texts.map(text => text.slice(0, 32))]);
}

const mod128 = 2n ** 128n;
const numberOf = (digits: string) => BigInt(`0x${digits}`);

/**
 * What a reader computes of contents and checksums, which are numbers modulo 2^128: each sum and difference of two, and what the difference
 * of two checksums makes of each.
 */
function* computed(hashes: ReadonlySet<string>, checksums: ReadonlySet<string>): Generator<string> {
  const [numbers, sums] = [hashes, checksums].map(all =>
    [...all].filter(digits => digits.length === 32).map(numberOf),
  ) as [bigint[], bigint[]];
  const differences = sums.flatMap(one => sums.map(other => one - other));
  for (const one of numbers)
    for (const result of [
      ...numbers.flatMap(other => [one - other, one + other]),
      ...differences.map(each => one + each),
    ])
      yield (((result % mod128) + mod128) % mod128).toString(16).padStart(32, '0');
}

const all = ['document-exports', 'collections', 'webhooks', 'connections'];

describe.each([
  ['that has all that a share can have', [], ['webhooks'], true],
  ['without titles', ['--without', 'sourceDocumentTitle'], ['webhooks', 'document-exports'], true],
  ['without the history', ['--without-history'], ['webhooks'], false],
  ['that statements have changed', ['--sql', 'redact.sql'], all, true],
] as const)('with a share %s', (_, options, lacking, withHistory) => {
  let shared: string;
  beforeAll(async () => {
    shared = join(base.folder, 'share.sqlite');
    const statements = join(base.folder, 'redact.sql');
    writeFileSync(statements, 'UPDATE document_exports SET source_document_title = NULL');
    const words = options.map(word => (word === 'redact.sql' ? statements : word));
    const { code, stderr } = await base.run('share', shared, ...words);
    expect(code, stderr).toBe(0);
  });

  test('no hash, no byte and no sum of two confirms a right guess of what it lacks', () => {
    const guesses = guessesOf(base, lacking, withHistory);
    expect(guesses.size).toBeGreaterThan(20);
    const own = allHashes(shared);
    // What it has, a reader can compute from it: no secret.
    const known = hashesIn(
      all
        .filter(each => !(lacking as readonly string[]).includes(each))
        .flatMap(each => valuesOf(shared, `SELECT _content FROM ${each.replace('-', '_')}`)),
    );
    const isSecret = (digits: string) => guesses.has(digits) && !known.has(digits);
    expect([...own].filter(isSecret)).toEqual([]);
    const checksums = hashesIn(valuesOf(shared, 'SELECT checksum FROM sync_run_resources'));
    expect([...computed(own, checksums)].filter(isSecret)).toEqual([]);
    const bytes = readFileSync(shared);
    const inBytes = [...guesses]
      .filter(isSecret)
      .filter(digits => bytes.includes(Buffer.from(digits, 'hex')));
    expect(inBytes).toEqual([]);
    expect(textsIn(shared, [secrets.path, secrets.why, secrets.erased, secrets.rejected])).toEqual([]);
  });

  test('its hashes that are left out are null, and every view can be read', () => {
    for (const resource of lacking)
      expect(valuesOf(shared, `SELECT DISTINCT _content FROM ${resource.replace('-', '_')}`)).toEqual([null]);
    const sums = `SELECT DISTINCT checksum FROM sync_run_resources WHERE resource = '${lacking[0]}'`;
    expect(valuesOf(shared, sums)).toEqual([null]);
    expect(Object.keys(readable(shared))).toContain('changes');
    expect(sqlite(shared, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });

  test('its receipts are listed, and each has a hash with the key', async () => {
    const texts = await base.run('audit', 'receipts', '--database', shared);
    const ofMirror = await base.run('audit', 'receipts');
    expect(texts, texts.stderr).toMatchObject({ code: 0, stdout: ofMirror.stdout });
    const stored = (path: string) => valuesOf(path, 'SELECT leaf_hash FROM sync_receipts');
    expect(new Set(stored(shared)).size).toBe(stored(base.database).length);
    expect(stored(shared)).not.toEqual(expect.arrayContaining(stored(base.database).slice(0, 1)));
  });

  test('its changes, its lists and their state of an earlier run can be read', async () => {
    const out = join(base.folder, `out-${options.join('')}`);
    const words = ['export', '--format', 'csv', '--out', out, ...(withHistory ? ['--as-of-run', '4'] : [])];
    for (const command of [['changes', '--since-run', '4'], ['status'], words]) {
      const { code, stderr } = await base.run(...command, '--database', shared);
      expect({ code, stderr }).toMatchObject({ code: command[0] === 'status' ? expect.any(Number) : 0 });
    }
  });
});

describe('a cursor', () => {
  /** A mirror with its share, and the cursor of a reader of one of them. */
  const read = async (scene: Scene, database: string) => {
    const [cursor, next] = ['cursor', 'next'].map(name => join(scene.folder, name)) as [string, string];
    const words = ['changes', '--cursor', cursor, '--next', next, '--format', 'ndjson'];
    const { code, stdout, stderr } = await scene.run(...words, '--database', database);
    if (code === 0) renameSync(next, cursor);
    return { code, stderr, count: stdout.split('\n').length - 1 };
  };
  const shareOf = async (scene: Scene) => {
    const path = join(scene.folder, 'share.sqlite');
    expect(await scene.run('share', path)).toMatchObject({ code: 0 });
    return path;
  };
  /** The cursor that docmirror 0.5 would have written, with the hashes of receipts as they are. */
  const asOf05 = (scene: Scene) => {
    const cursor = join(scene.folder, 'cursor');
    const { isKeyed: _, ...rest } = JSON.parse(readFileSync(cursor, 'utf8'));
    const [stored] = valuesOf(
      scene.database,
      `SELECT leaf_hash FROM sync_receipts WHERE run_id = ${rest.runId}`,
    );
    const earlier = rest.earlier.map(([run]: [number]) => [
      run,
      String(valuesOf(scene.database, `SELECT leaf_hash FROM sync_receipts WHERE run_id = ${run}`)[0]).slice(
        0,
        16,
      ),
    ]);
    writeFileSync(cursor, `${JSON.stringify({ ...rest, leafHash: stored, earlier })}\n`);
  };
  const change = async (scene: Scene, n: number) => {
    scene.service.lists['document-exports'].push(documentExport(n));
    await scene.sync();
  };

  test.each([
    ['of a share in the mirror', true, false],
    ['of the mirror in a share', false, false],
    ['of 0.5 in the mirror', false, true],
    ['of 0.5 in a share', true, true],
  ])('%s goes on where it was', async (_, isFirst, isOld) => {
    await using scene = startingFrom(base)();
    // What the tests before have changed in the service.
    await scene.sync();
    const first = isFirst ? await shareOf(scene) : scene.database;
    expect((await read(scene, first)).count).toBeGreaterThan(10);
    if (isOld) asOf05(scene);
    await change(scene, 91);
    const shared = await shareOf(scene);
    const second = isOld === isFirst ? shared : scene.database;
    expect(await read(scene, second)).toMatchObject({ code: 0, count: 1 });
    expect(await read(scene, scene.database)).toMatchObject({ code: 0, count: 0 });
  });

  test('of a run that a restore took away is refused by the mirror and by its share; the key stays', async () => {
    await using scene = startingFrom(base)();
    const key = () => valuesOf(scene.database, 'SELECT hex(share_key) FROM _mirror')[0];
    const before = key();
    const backup = join(scene.folder, 'backup.sqlite');
    await scene.run('backup', backup);
    await change(scene, 91);
    await read(scene, await shareOf(scene));
    const cursor = join(scene.folder, 'cursor');
    copyFileSync(cursor, `${cursor}.kept`);
    expect(await scene.run('backup', '--restore', backup)).toMatchObject({ code: 0 });
    expect(key()).toBe(before);
    await change(scene, 92);
    for (const database of [scene.database, await shareOf(scene)]) {
      copyFileSync(`${cursor}.kept`, cursor);
      const { code, stderr } = await read(scene, database);
      expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining('[cursor_lost]') });
    }
    new Database(scene.database).exec("UPDATE collections SET name = 'x'").close();
    await scene.sync('--rebuild');
    expect(key()).toBe(before);
    expect(before).toMatch(/^[0-9A-F]{64}$/);
  });
});

test('the share of a mirror is replaced after a backup of 0.5 was restored, which has no key yet', async () => {
  await using scene = await setScene();
  const old = join(scene.folder, 'old.sqlite');
  for (const path of [scene.database, old]) putKept('mirror-0.5.0', path);
  const shared = join(scene.folder, 'share.sqlite');
  // The service of that mirror is gone; the run brings it up to date all the same.
  const begin = () => scene.run('sync', '--give-up-after', '0', '--accept-new-base-url');
  await begin();
  expect(await scene.run('share', shared)).toMatchObject({ code: 0 });
  const before = valuesOf(scene.database, 'SELECT hex(share_key) FROM _mirror');
  const restored = await scene.run('backup', '--restore', old);
  expect(restored, restored.stderr).toMatchObject({ code: 0 });
  await begin();
  expect(valuesOf(scene.database, 'SELECT hex(share_key) FROM _mirror')).not.toEqual(before);
  const again = await scene.run('share', shared);
  expect(again, again.stderr).toMatchObject({ code: 0 });
});
