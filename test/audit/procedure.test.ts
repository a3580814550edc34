import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateKey, readPrivateKey, signedCheckpoint } from '../../src/audit/checkpoint.ts';
import { keptResources, lists } from '../../src/contract/lists.ts';
import { hash16, Sum } from '../../src/contract/sum.ts';
import { checkpointOf } from '../../src/store/read/runs/receipts.ts';
import { tamper } from '../store/verify/tamper.ts';
import { casesOf } from '../support/cases.ts';
import { syncScene } from '../support/in-process.ts';
import { sqlite, type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection, type SampleItem } from '../support/stand-in.ts';

const docs = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(docs, 'audit.md'), 'utf8');
/** `audit.sh` and step 8 are left to test/docs/audit.long.test.ts. */
const typed = [...page.matchAll(/^### \d+\. (.*?)(?=^##)/gms)].flatMap(([, section = '']) =>
  [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block),
);
const [
  signature = '',
  receipts = '',
  root = '',
  ,
  records = '',
  changes = '',
  ended = '',
  books = '',
  ,
  times = '',
  views = '',
] = typed;
const blocks = [signature, receipts, root, records, changes, ended, books, times, views];
const steps = ['receipts', 'root', 'records', 'changes', 'ended', 'books', 'times', 'views'];
/** The list and the run that the page chooses. */
const [, choice = ''] = /```sh\n(size=.*?)```/s.exec(page) ?? [];

/** An alteration of the mirror, made without the triggers. */
type Tampering = (database: string) => void;
const by =
  (sql: string): Tampering =>
  database => {
    tamper(database, sql);
  };

let scene: Scene;
let keys: { readonly privatePem: string; readonly publicPem: string };

/** Names that JSON must escape, fields that are null or ignored, updates, a removal and a return. */
beforeAll(async () => {
  scene = await setScene({}, { exports: 12, collections: 0, webhooks: 2 });
  keys = generateKey();
  const at = scene.service.lists;
  const items: SampleItem[] = [
    collection(1, { name: 'Invoices "2026" \\ 100 %' }),
    collection(2, { name: 'a\ttab, a\nnewline, \u0001, \u001f and \u2028', destinationConnection: null }),
    { id: 12, destinationConnection: { id: 4, name: 'Archive' }, pages: 7, colour: 'red', note: null },
  ];
  at.collections = [...items];
  await syncScene(scene);
  at.webhooks = [...at.webhooks, '{"id":"no number","description":"\\u0001"}'];
  at.collections = [
    { ...items[1], name: 'plain' },
    items[2] as SampleItem,
    collection(3, { name: 'Zoë 😀 / </b>', big: '12345678901234567890', 'a b': [1, 2.5] }),
  ];
  await syncScene(scene);
  await syncScene(scene, { ignoreFields: { collections: ['colour'] } });
});
afterAll(() => scene[Symbol.asyncDispose]());

describe('the procedure of docs/audit.md', () => {
  test('gives the values of the receipts of a sound mirror, each step in a shell of its own', async () => {
    await using folder = temporaryFolder();
    makeMirror(folder);
    const answers = readAnswers(follow(folder).stdout);
    expect(answers.map(({ step }) => step)).toEqual(steps);
    for (const { by, inMirror } of answers) expect(inMirror).toBe(by);
    expect(answers[2]?.by).toMatch(/^[\da-f]{32}$/);
  });

  const tamperings: readonly [what: string, steps: string[], tampering: Tampering][] = [
    [
      'a receipt was changed',
      ['root'],
      by(`UPDATE sync_receipts SET receipt = replace(receipt, 'manual', 'schedule') WHERE leaf_index = 0`),
    ],
    ['a receipt is gone', ['receipts', 'root'], by('DELETE FROM sync_receipts WHERE leaf_index = 0')],
    [
      'two receipts changed places',
      ['root'],
      by(`UPDATE sync_receipts SET leaf_index = -1 WHERE leaf_index = 1;
        UPDATE sync_receipts SET leaf_index = 1 WHERE leaf_index = 0;
        UPDATE sync_receipts SET leaf_index = 0 WHERE leaf_index = -1`),
    ],
    ['a record was changed', ['records'], by(`UPDATE collections SET name = 'another' WHERE id = 12`)],
    ['a record was deleted', ['records'], by('DELETE FROM collections WHERE id = 12')],
    ['a change was changed', ['changes'], by(`UPDATE collections SET _first_seen_run_id = 1 WHERE id = 3`)],
    [
      'an ended version was changed',
      ['ended'],
      by(`UPDATE record_history SET record = replace(record, '2026', '2027') WHERE record_id = 1`),
    ],
    [
      'a record was changed, and a receipt that says so was added',
      ['receipts', 'records'],
      database => {
        const one = (name: string) =>
          Sum.of(hash16(`{"destinationConnection":{"id":4},"id":12,${name}"pages":7}`));
        const list =
          "SELECT receipt -> '$.lists[1]' AS list FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1";
        const { checksum, recordCount } = JSON.parse(String(sqlite(database, list)[0]?.list));
        const sum = Sum.from(recordCount, checksum).minus(one('')).plus(one('"name":"another",'));
        const added = "SELECT leaf_index + 1, replace(receipt, receipt ->> '$.lists[1].checksum'";
        tamper(
          database,
          `UPDATE collections SET name = 'another' WHERE id = 12;
           INSERT INTO sync_receipts (leaf_index, receipt, leaf_hash)
           ${added}, '${sum}'), leaf_hash FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1`,
        );
      },
    ],
    ['what a run says of itself was changed', ['books'], by('UPDATE sync_run_resources SET requests = 9')],
    ['a time as a number was changed', ['times'], by('UPDATE document_exports SET exported_at_ms = 9')],
    ['a time as a number is gone', ['times'], by('UPDATE document_exports SET exported_at_ms = NULL')],
    [
      'an export without a time has a number',
      ['times'],
      by('UPDATE document_exports SET exported_at = NULL WHERE id = 1'),
    ],
    ['a view is gone', ['views'], by('DROP VIEW latest_versions')],
    ['a rejected record was changed', ['books'], by(`UPDATE rejected_records SET reason = 'another'`)],
  ];

  test.each(casesOf(tamperings, 2))('finds that %s', async (_, steps, tampering) => {
    await using folder = temporaryFolder();
    makeMirror(folder, tampering);
    const answers = readAnswers(follow(folder).stdout);
    expect(answers.filter(({ by, inMirror }) => by !== inMirror).map(({ step }) => step)).toEqual(steps);
  });

  test.each(keptResources)('adds up %s', async resource => {
    await using folder = temporaryFolder();
    makeMirror(folder);
    const chosen = `${choice}\nlist=${resource} table=${resource.replace('-', '_')}\n${records}`;
    const { stdout } = spawnSync('sh', ['-eu', '-c', chosen], { cwd: folder.path, encoding: 'utf8' });
    const [inMirror, byReceipt] = stdout.split('\n').map(line => line.split(' ')[0]);
    expect(inMirror).toBe(byReceipt);
  });

  test('knows every list, and every field of it in the order of names', () => {
    const script = readFileSync(join(docs, 'audit.sh'), 'utf8');
    expect(script).toContain(`for list in ${keptResources.join(' ')}; do`);
    for (const { resource, identity, fields } of lists) {
      const [, record = ''] = new RegExp(`^${resource}\\) record="(.*?)" ;;$`, 'ms').exec(records) ?? [];
      const names = [...fields.map(({ name }) => name), ...(identity.by === 'id' ? ['id'] : [])];
      expect([...record.matchAll(/'(\w+)'/g)].map(([, name]) => name)).toEqual(names.sort());
    }
  });

  test('ends at a checkpoint that the key did not sign', async () => {
    await using folder = temporaryFolder();
    makeMirror(folder);
    writeFileSync(join(folder.path, 'key.pub'), generateKey().publicPem);
    expect(follow(folder)).toMatchObject({ status: 1, stdout: 'Signature Verification Failure\n' });
  });
});

/** Runs the steps in a folder, each in a new shell, up to the first that fails. A sound mirror makes no error message. */
function follow(folder: TemporaryFolder) {
  let stdout = '';
  for (const block of blocks) {
    const options = { cwd: folder.path, encoding: 'utf8', timeout: 30_000 } as const;
    const step = spawnSync('sh', ['-eu', '-c', `${choice}\n${block}`], options);
    expect(step.stderr.replace(/^Could not .*\n/, '')).toBe('');
    stdout += step.stdout;
    if (step.status !== 0) return { status: step.status, stdout };
  }
  return { status: 0, stdout };
}

/** The output of the steps after the signature: the value by checkpoint or receipt, and the one in the mirror. */
function readAnswers(stdout: string): { step: string; by: string; inMirror: string }[] {
  const [verdict, ...lines] = stdout.trim().split('\n');
  expect(verdict).toBe('Signature Verified Successfully');
  expect(lines).toHaveLength(2 * steps.length);
  return steps.map((step, at) => {
    const pair = lines.slice(2 * at, 2 * at + 2);
    const found = (pattern: RegExp) => pair.flatMap(line => pattern.exec(line)?.[1] ?? []).join();
    const by = found(/^(\S+) (?:(?:receipts )?by |is right)/);
    return { step, by, inMirror: found(/^(\S+) (?:receipts )?in the mirror$/) };
  });
}

/** A copy of the mirror, with the checkpoint that was made before it was tampered with, and the key, beside it. */
function makeMirror(folder: TemporaryFolder, tampering: Tampering = () => undefined): void {
  const path = join(folder.path, 'mirror.sqlite');
  copyFileSync(scene.database, path);
  const signed = signedCheckpoint(checkpointOf(path), readPrivateKey(keys.privatePem));
  tampering(path);
  writeFileSync(join(folder.path, 'checkpoint'), `${signed}— witness.example/w1 ${'A'.repeat(88)}\n`);
  writeFileSync(join(folder.path, 'key.pub'), keys.publicPem);
  symlinkSync(docs, join(folder.path, 'docs'));
}
