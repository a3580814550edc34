import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tamper } from '../store/verify/tamper.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { documentExport, type SampleItem, webhook } from '../support/stand-in.ts';

const hostile = '\u001b]0;gone\u0007\u202ered';

let scene: Scene;
beforeAll(async () => {
  scene = await setScene({}, { exports: 4 });
  const { lists } = scene.service;
  lists.collections.push('{"id":40,"name":"digits","size":12345678901234567890}');
  lists.webhooks.push(
    webhook(50, { endpoint: 'https://me:hunter2@hooks.example.com/hunter2?key=hunter2', apiKey: 'hunter2' }),
  );
  const exports = lists['document-exports'] as SampleItem[];
  exports.push(
    documentExport(5, { sourceDocumentReference: 'INV-1', sourceDocumentVersion: '1' }),
    documentExport(6, { sourceDocumentReference: 'INV-1', sourceDocumentVersion: '2' }),
    documentExport(7, { sourceDocumentReference: 'GONE-1' }),
    documentExport(8, { sourceDocumentReference: '1' }),
    documentExport(9, { sourceDocumentReference: '001' }),
  );
  await scene.sync();
  (lists.collections[0] as SampleItem).name = 'second name';
  lists.collections[7] = '{"id":40,"name":"digits","size":12345678901234567891}';
  exports.splice(6, 1);
  await scene.sync();
  (lists.collections[0] as SampleItem).name = hostile;
  const [second] = lists.collections.splice(1, 1);
  await scene.sync();
  lists.collections.push(second as SampleItem);
  await scene.sync();
});
afterAll(() => scene[Symbol.asyncDispose]());

interface Shown {
  readonly matchedBy: string;
  readonly matchCount: number;
  readonly alsoReferenceOf: readonly number[];
  readonly records: readonly {
    readonly recordId: number;
    readonly stands: boolean;
    readonly record: Record<string, unknown> | null;
    readonly versions: readonly Record<string, unknown>[];
  }[];
}

async function shown(...args: string[]): Promise<Shown> {
  const { code, stdout, stderr } = await scene.run('show', ...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Shown;
}

describe('show', () => {
  test('shows a record, and each version with the runs between which it was current', async () => {
    const { code, stdout } = await scene.run('show', 'collections', '1');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^collections 1, unchanged since run 3 \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\):\n/);
    expect(stdout).toMatch(/ {2}~ name: second name → \\u001b\]0;gone\\u0007\\u202ered\n/);
    expect(stdout).toMatch(
      /\nFrom run 2 \(.*Z\) until run 3 \(.*Z\) replaced it\n {2}~ name: .* → second name\n/,
    );
    expect(stdout).toMatch(/\nFrom run 1 \(.*Z\) until run 2 \(.*Z\) replaced it\n {2}\+ new in the list:\n/);
    expect(stdout).not.toMatch(/(?!\n)\p{Cc}|\p{Bidi_Control}/u);
  });

  test('gives all values whole as JSON, in the same order', async () => {
    const { records } = await shown('collections', '1');
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ recordId: 1, stands: true, record: { id: 1, name: hostile } });
    expect(
      records[0]?.versions.map(({ fromRunId, toRunId, endedBy, isFirst }) => [
        fromRunId,
        toRunId,
        endedBy,
        isFirst,
      ]),
    ).toEqual([
      [3, null, null, false],
      [2, 3, 'update', false],
      [1, 2, 'update', true],
    ]);
  });

  test('keeps digits beyond those of a double, and compares them', async () => {
    const { stdout } = await scene.run('show', 'collections', '40');
    expect(stdout).toContain('~ size: 12345678901234567890 → 12345678901234567891');
    expect((await scene.run('show', 'collections', '40', '--json')).stdout).toContain(
      '"size":12345678901234567891',
    );
  });

  test('shows a record that is gone with what it last said', async () => {
    const { stdout, code } = await scene.run('show', 'document-exports', 'GONE-1');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^document-exports \d+, gone since run 2 \(.*\); its last text was:\n/);
    expect(stdout).toMatch(/sourceDocumentReference +GONE-1\n/);
    expect(stdout).toMatch(/From run 1 \(.*\) until run 2 \(.*\) removed it/);
    const { records, matchedBy } = await shown('document-exports', 'GONE-1');
    expect(matchedBy).toBe('reference');
    expect(records[0]).toMatchObject({ stands: false, record: null });
  });

  test('lists the exports of one reference if there are several', async () => {
    const { stdout, code } = await scene.run('show', 'document-exports', 'INV-1');
    expect(code).toBe(0);
    expect(stdout).toContain('2 records of document-exports have the reference INV-1');
    expect(stdout).toContain('"docmirror show document-exports ID" shows one of them');
    const { records, matchCount } = await shown('document-exports', 'INV-1');
    expect(matchCount).toBe(2);
    expect(records.map(({ record }) => record?.sourceDocumentVersion).sort()).toEqual(['1', '2']);
  });

  test('takes a number for an id first, and names the exports that have it as their reference', async () => {
    const { stdout } = await scene.run('show', 'document-exports', '1');
    expect(stdout).toMatch(/^document-exports 1, unchanged since/);
    expect(stdout).toMatch(/\n1 is also the sourceDocumentReference of the exports with these ids: \d+\.\n$/);
    const { matchedBy, records, alsoReferenceOf } = await shown('document-exports', '1');
    expect({ matchedBy, id: records[0]?.recordId }).toEqual({ matchedBy: 'id', id: 1 });
    expect(alsoReferenceOf).toHaveLength(1);
  });

  test('shows people no secret, and programs the whole endpoint', async () => {
    const { stdout } = await scene.run('show', 'webhooks', '50');
    expect(stdout).toMatch(/endpoint +https:\/\/hooks\.example\.com\/…\n/);
    expect(stdout).not.toContain('hunter2');
    const { records } = await shown('webhooks', '50');
    expect(records[0]?.record?.endpoint).toBe('https://me:hunter2@hooks.example.com/hunter2?key=hunter2');
  });

  test.each([
    [['collections', '4711'], 1, 'docmirror: The mirror has no record of collections with the id "4711"'],
    [['collections', '-57'], 1, 'with the id "-57"'],
    [['document-exports', 'no such'], 1, 'with the id or sourceDocumentReference "no such"'],
    [['collections', 'x'], 2, 'ID: the ids of collections are whole numbers up to 2^53 − 1, got "x".'],
    [['collections', '9007199254740993'], 2, 'are whole numbers up to 2^53'],
    [['folders', '1'], 2, 'document-exports, collections, webhooks, connections'],
  ])('says in one line what is wrong with %j', async (args, code, words) => {
    const result = await scene.run('show', ...args);
    expect(result.stdout).toBe('');
    expect(result.code).toBe(code);
    expect(result.stderr).toContain(words);
    expect(result.stderr.trim().split('\n')).toHaveLength(1);
  });

  test('names a version of its history that is no record any more', async () => {
    tamper(scene.database, "UPDATE record_history SET record = '{' WHERE resource = 'collections'");
    const { code, stderr } = await scene.run('show', 'collections', '1');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^docmirror: record_history \d+ contains a/)]);
    tamper(scene.database, `UPDATE record_history SET record = '{"id":"x"}' WHERE resource = 'collections'`);
    expect((await scene.run('export', '--out', 'then', '--as-of-run', '1')).stderr).toContain('not a record');
  });
});
