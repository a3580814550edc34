import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import canonicalize from 'canonicalize';
import { describe, expect, test } from 'vitest';
import { ChangesHash, type Operation } from '../../src/audit/changes-hash.ts';
import { originOf, signedCheckpoint } from '../../src/audit/checkpoint.ts';
import { generateKey, readPrivateKey } from '../../src/audit/keys.ts';
import { leafHash, MerkleTree } from '../../src/audit/merkle.ts';
import { receiptText } from '../../src/audit/receipt.ts';
import { type TemporaryFolder, temporaryFolder } from '../run-cli.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/audit.md'), 'utf8');
const procedure = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join('\n');
const mirrorId = '0198c0de-5a11-7e57-8000-00c0ffee0042';

const steps = ['receipts', 'root', 'records', 'changes'];

interface Collection {
  readonly id: number;
  readonly name?: string;
  readonly sourceConnection?: { readonly id: number };
  readonly destinationConnection?: { readonly id: number };
}

/** Names that JSON must escape, and fields that are not there. */
const first: readonly Collection[] = [
  { id: 1, name: 'Invoices "2026" \\ 100 %', sourceConnection: { id: 3 }, destinationConnection: { id: 4 } },
  { id: 2, name: 'a\ttab, a\nnewline, \u0001, \u001f and \u2028', sourceConnection: { id: 3 } },
  { id: 12, destinationConnection: { id: 4 } },
];
const removed = first[0] as Collection;
const added: Collection = { id: 3, name: 'Zoë 😀 / </b>', sourceConnection: { id: 9 } };
const renamed: Collection = { id: 2, name: 'plain', sourceConnection: { id: 3 } };
const second: readonly Collection[] = [renamed, first[2] as Collection, added];

const runs: readonly {
  records: readonly Collection[];
  changes: readonly (readonly [Operation, Collection])[];
}[] = [
  { records: first, changes: first.map(record => ['insert', record]) },
  {
    records: second,
    changes: [
      ['update', renamed],
      ['removal', removed],
      ['insert', added],
    ],
  },
  { records: second, changes: [] },
];

describe('the procedure of docs/audit.md', () => {
  test('finds signature, receipts, root, records and changes of a sound mirror in order', async () => {
    await using folder = temporaryFolder();
    makeMirror(folder);
    const answers = readAnswers(follow(folder).stdout);
    expect(answers.map(({ step }) => step)).toEqual(steps);
    for (const { by, inMirror } of answers) expect(inMirror).toBe(by);
  });

  test.each<[string, string[], string]>([
    [
      'a receipt was changed',
      ['root'],
      `UPDATE sync_receipts SET receipt = replace(receipt, 'ops', 'eve') WHERE leaf_index = 0`,
    ],
    ['a receipt is gone', ['receipts', 'root'], 'DELETE FROM sync_receipts WHERE leaf_index = 0'],
    [
      'two receipts changed places',
      ['root'],
      'UPDATE sync_receipts SET leaf_index = (CASE leaf_index WHEN 1 THEN -1 ELSE 0 END) WHERE leaf_index < 2',
    ],
    ['a record was changed', ['records'], `UPDATE collections SET name = 'another' WHERE id = 12`],
    ['a record was deleted', ['records'], 'DELETE FROM collections WHERE id = 12'],
    [
      'a change was changed',
      ['changes'],
      `UPDATE changes SET operation = 'update' WHERE run_id = 2 AND operation = 'insert'`,
    ],
  ])('finds that %s', async (_, steps, tampering) => {
    await using folder = temporaryFolder();
    makeMirror(folder, tampering);
    const answers = readAnswers(follow(folder).stdout);
    expect(answers.filter(({ by, inMirror }) => by !== inMirror).map(({ step }) => step)).toEqual(steps);
  });

  test('ends at a checkpoint that the key did not sign', async () => {
    await using folder = temporaryFolder();
    makeMirror(folder);
    writeFileSync(join(folder.path, 'key.pub'), generateKey().publicPem);
    expect(follow(folder)).toMatchObject({ status: 1, stdout: 'Signature Verification Failure\n' });
  });
});

/** Runs the procedure in a folder. A sound mirror makes no error message. */
function follow(folder: TemporaryFolder) {
  const { status, stdout, stderr } = spawnSync('sh', ['-eu', '-c', procedure], {
    cwd: folder.path,
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect(stderr.replace(/^Could not .*\n/, '')).toBe('');
  return { status, stdout };
}

/** What the steps after the signature print: the value by checkpoint or receipt, and the one in the mirror. */
function readAnswers(stdout: string): { step: string; by: string; inMirror: string }[] {
  const [verdict, ...lines] = stdout
    .trim()
    .replace(' by the checkpoint, ', ' by the checkpoint\n')
    .split('\n');
  expect(verdict).toBe('Signature Verified Successfully');
  expect(lines).toHaveLength(2 * steps.length);
  return steps.map((step, at) => {
    const pair = lines.slice(2 * at, 2 * at + 2);
    const found = (pattern: RegExp) => pair.flatMap(line => pattern.exec(line)?.[1] ?? []).join();
    return { step, by: found(/^(\S+) (?:receipts )?by the /), inMirror: found(/^(\S+) in the mirror$/) };
  });
}

/** A file with the few tables that the procedure reads, of three runs, and the checkpoint and the key beside it. */
function makeMirror(folder: TemporaryFolder, tampering = ''): void {
  const database = new Database(join(folder.path, 'mirror.sqlite'));
  database.exec(`
    CREATE TABLE sync_receipts (leaf_index INTEGER PRIMARY KEY, run_id INTEGER, receipt TEXT, leaf_hash TEXT);
    CREATE TABLE collections
      (id INTEGER PRIMARY KEY, name TEXT, source_connection_id INTEGER, destination_connection_id INTEGER);
    CREATE TABLE changes (run_id INTEGER, resource TEXT, record_id INTEGER, operation TEXT, record TEXT)`);
  const tree = new MerkleTree();
  const addReceipt = database.prepare('INSERT INTO sync_receipts VALUES (?, ?, ?, ?)');
  const addChange = database.prepare(`INSERT INTO changes VALUES (?, 'collections', ?, ?, ?)`);
  for (const [at, { changes }] of runs.entries()) {
    const receipt = receiptOf(at + 1);
    const leaf = leafHash(receipt);
    addReceipt.run(at, at + 1, receipt, leaf.toString('hex'));
    tree.append(leaf);
    for (const [operation, record] of changes)
      addChange.run(at + 1, record.id, operation, JSON.stringify(record));
  }
  const addRow = database.prepare('INSERT INTO collections VALUES (?, ?, ?, ?)');
  for (const { id, name, sourceConnection, destinationConnection } of second) {
    addRow.run(id, name ?? null, sourceConnection?.id ?? null, destinationConnection?.id ?? null);
  }
  database.exec(tampering);
  database.close();
  const key = generateKey();
  const checkpoint = { origin: originOf(mirrorId), size: tree.size, root: tree.root() };
  const signed = signedCheckpoint(checkpoint, readPrivateKey(key.privatePem));
  writeFileSync(join(folder.path, 'checkpoint'), `${signed}— witness.example/w1 ${'A'.repeat(88)}\n`);
  writeFileSync(join(folder.path, 'key.pub'), key.publicPem);
}

function receiptOf(runId: number): string {
  const { records, changes } = runs[runId - 1] as (typeof runs)[number];
  const hash = new ChangesHash();
  for (const [operation, record] of changes) hash.add(operation, record.id, contentOf(record));
  const count = (wanted: Operation) => changes.filter(([operation]) => operation === wanted).length;
  const sum = records.reduce((total, record) => total + BigInt(`0x${contentOf(record).toString('hex')}`), 0n);
  return receiptText({
    kind: 'run',
    mirrorId,
    runId,
    status: 'completed',
    trigger: 'manual',
    startedAt: `2026-11-21T10:0${runId}:00.000Z`,
    completedAt: `2026-11-21T10:0${runId}:01.000Z`,
    actor: 'ops',
    baseUrl: 'https://service.example/%20\\',
    docmirrorVersion: '0.2.0',
    lists: [
      {
        resource: 'collections',
        status: 'completed',
        completeness: 'proven',
        recordCount: records.length,
        inserted: count('insert'),
        updated: count('update'),
        removed: count('removal'),
        rejected: 0,
        removalsWithheld: 0,
        checksum: BigInt.asUintN(128, sum).toString(16).padStart(32, '0'),
        changes: hash.digest(),
      },
    ],
  });
}

function contentOf(record: Collection): Buffer {
  return hash('sha256', canonicalize(record) ?? '', 'buffer').subarray(0, 16);
}
