import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCheckpoint, readPublicKey, signatureVerdict } from '../../src/audit/checkpoint.ts';
import { leafHash } from '../../src/audit/hashes.ts';
import { tamper } from '../store/verify/tamper.ts';
import { sqlite, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

let scene: Scene;
let first: Record<string, unknown>;
const file = (name: string) => join(scene.folder, name);

beforeAll(async () => {
  scene = await setScene({}, { exports: 30, collections: 5, webhooks: 2 });
  const { stdout } = await scene.run('audit', 'keygen', file('key.pem'));
  writeFileSync(file('key.pub'), stdout);
  Object.assign(scene.env, { DOCMIRROR_ACTOR: 'nightly job' });
  first = (await scene.sync()).summary;
  await scene.run('audit', 'checkpoint', '--signing-key-file', file('key.pem'), '--out', file('checkpoint'));
  scene.service.lists.collections.pop();
  await scene.sync();
});
afterAll(() => scene[Symbol.asyncDispose]());

const verify = (...args: string[]) => scene.run('verify', '--checkpoint', file('checkpoint'), ...args);

describe('audit', () => {
  test('keygen writes a private key for its owner alone, and never over an existing file', async () => {
    expect(statSync(file('key.pem')).mode & 0o777).toBe(0o600);
    expect(() => readPublicKey(readFileSync(file('key.pub'), 'utf8'))).not.toThrow();
    const before = readFileSync(file('key.pem'), 'utf8');
    const again = await scene.run('audit', 'keygen', file('key.pem'));
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(readFileSync(file('key.pem'), 'utf8')).toBe(before);
    const below = await scene.run('audit', 'keygen', file('key.pem/below'));
    expect(below).toMatchObject({ code: 2, stderr: expect.stringContaining("can't be written") });
  });

  test('receipts --json prints the stored texts, and their hashes are those of the log', async () => {
    const { stdout } = await scene.run('audit', 'receipts', '--json');
    const stored = sqlite(scene.database, 'SELECT * FROM sync_receipts ORDER BY leaf_index');
    expect(stdout.trimEnd().split('\n')).toEqual(stored.map(({ receipt }) => receipt));
    expect(stored.map(row => leafHash(String(row.receipt)).toString('hex'))).toEqual(
      stored.map(row => row.leaf_hash),
    );
    expect(JSON.parse(stdout.split('\n')[0] as string)).toMatchObject({
      kind: 'run',
      runId: 1,
      actor: 'nightly job',
    });
    expect((await scene.run('audit', 'receipts')).stdout).toMatch(/run 1, completed/);
  });

  test.each([
    [
      'a receipt is not what its hash says',
      "UPDATE sync_receipts SET receipt = replace(receipt, 'nightly', 'Nightly')",
    ],
    [
      'a hash is not that of its receipt',
      'UPDATE sync_receipts SET leaf_hash = substr(leaf_hash, 2) || substr(leaf_hash, 1, 1)',
    ],
    ['a receipt is missing', 'DELETE FROM sync_receipts WHERE leaf_index = 0'],
  ])('checkpoint signs nothing if %s', async (_what, sql) => {
    const altered = file('altered.sqlite');
    copyFileSync(scene.database, altered);
    expect(tamper(altered, sql)).toBe(true);
    const key = ['--signing-key-file', file('key.pem')];
    expect(await scene.run('audit', 'checkpoint', ...key, '--database', altered)).toEqual(
      expect.objectContaining({ code: 1, stdout: '', stderr: expect.stringContaining('nothing to sign') }),
    );
  });

  test('an altered receipt is named in words, and --json prints it as it is', async () => {
    const spoilt = file('spoilt.sqlite');
    copyFileSync(scene.database, spoilt);
    tamper(spoilt, "UPDATE sync_receipts SET receipt = '{}' WHERE leaf_index = 0");
    const { code, stderr } = await scene.run('audit', 'receipts', '--database', spoilt);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^docmirror: Receipt 0 in .* is not as docmirror writes one\..*\n$/),
    });
    const printed = await scene.run('audit', 'receipts', '--json', '--database', spoilt);
    expect(printed.stdout.split('\n')[0]).toBe('{}');
  });

  test('a checkpoint is signed, and pins the receipts of its time, which the run has shown', () => {
    const { checkpoint, note } = readCheckpoint(readFileSync(file('checkpoint')));
    const publicKey = readPublicKey(readFileSync(file('key.pub'), 'utf8'));
    expect(signatureVerdict(note, { name: checkpoint.origin, publicKey })).toBe('verified');
    const [leafHash] = sqlite(scene.database, 'SELECT leaf_hash FROM sync_receipts ORDER BY leaf_index');
    const rootHash = Buffer.from(checkpoint.root).toString('hex');
    expect(first.receipt).toEqual({ leafIndex: 0, leafHash: leafHash?.leaf_hash, treeSize: 1, rootHash });
  });

  test('without a key a checkpoint is printed only if it is asked for unsigned', async () => {
    expect(await scene.run('audit', 'checkpoint')).toMatchObject({ code: 2, stdout: '' });
    const { stdout } = await scene.run('audit', 'checkpoint', '--unsigned');
    expect(stdout).toMatch(/^docmirror\/[\da-f-]{36}\n2\n[A-Za-z0-9+/]{43}=\n$/);
  });

  test('SQL refuses to change, replace or delete a receipt, and says why', () => {
    const database = new Database(scene.database);
    try {
      expect(() => database.exec("UPDATE sync_receipts SET receipt = '{}'")).toThrow(
        /A receipt never changes/,
      );
      expect(() => database.exec('DELETE FROM sync_receipts')).toThrow(/A receipt never changes/);
      const copy =
        "SELECT leaf_index, run_id, receipt || ' ', leaf_hash FROM sync_receipts WHERE leaf_index = 0";
      for (const taken of ['leaf_index', 'run_id']) {
        const other = copy.replace(taken, taken === 'run_id' ? 'NULL' : '99');
        expect(() => database.exec(`INSERT OR REPLACE INTO sync_receipts ${other}`)).toThrow(
          /A receipt never changes/,
        );
      }
    } finally {
      database.close();
    }
  });
});

describe('verify --checkpoint', () => {
  test('a sound mirror with newer runs passes', async () => {
    const { code, stdout } = await verify('--public-key', file('key.pub'));
    expect(stdout).toContain('The checkpoint of 1 receipt was signed by the key.');
    expect(code).toBe(0);
    const unchecked = await verify();
    expect(unchecked).toMatchObject({ code: 0, stdout: expect.stringContaining('was not checked') });
    const json = JSON.parse((await verify('--json', '--signing-key-file', file('key.pem'))).stdout);
    expect(json).toMatchObject({ ok: true, checkpoints: [{ size: 1, signature: 'verified' }] });
  });

  test('another key, a changed checkpoint and what is none are differences', async () => {
    const other = await scene.run('audit', 'keygen', file('other.pem'));
    writeFileSync(file('other.pub'), other.stdout);
    expect((await verify('--public-key', file('other.pub'))).code).toBe(4);
    const text = readFileSync(file('checkpoint'), 'utf8');
    // A mail has changed its line ends: that says nothing against the mirror.
    writeFileSync(file('mailed'), text.replaceAll('\n', '\r\n'));
    const mailed = await scene.run('verify', '--checkpoint', file('mailed'), '--public-key', file('key.pub'));
    expect(mailed.code).toBe(4);
    expect(mailed.stdout).toContain('not every checkpoint can be relied on');
    expect(mailed.stdout).not.toContain('is NOT as docmirror wrote it');
    writeFileSync(file('forged'), text.replace(/\n1\n/, '\n2\n'));
    const forged = await scene.run('verify', '--checkpoint', file('forged'), '--public-key', file('key.pub'));
    expect(forged).toMatchObject({ code: 4, stdout: expect.stringContaining('false signature') });
    writeFileSync(file('noise'), 'noise');
    expect((await scene.run('verify', '--checkpoint', file('noise'))).code).toBe(4);
    expect((await scene.run('verify', '--checkpoint', file('none'))).code).toBe(2);
  });

  test('of several files each is checked, and each difference names its file', async () => {
    writeFileSync(file('noise'), 'noise');
    const files = ['--checkpoint', file('checkpoint'), '--checkpoint', file('noise')];
    const { code, stdout } = await scene.run('verify', '--json', ...files);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      differences: [{ what: expect.stringContaining(file('noise')) }],
      checkpoints: [
        { file: file('checkpoint'), size: 1, signature: 'unchecked' },
        { file: file('noise'), signature: 'forged' },
      ],
    });
  });

  test('another mirror is a difference', async () => {
    await using other = await setScene({}, { exports: 30, collections: 5, webhooks: 2 });
    await other.sync();
    const { code, stdout } = await other.run('verify', '--checkpoint', file('checkpoint'));
    expect({ code, stdout }).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('the checkpoint is of'),
    });
  });

  test('a file that was rewritten so that it agrees with itself is found', async () => {
    await using folder = temporaryFolder();
    const path = join(folder.path, 'copy.sqlite');
    copyFileSync(scene.database, path);
    const text = String(sqlite(path, 'SELECT receipt FROM sync_receipts WHERE leaf_index = 0')[0]?.receipt);
    const rewritten = text.replace('nightly job', 'someone else');
    tamper(
      path,
      `UPDATE sync_receipts SET receipt = '${rewritten}', leaf_hash = '${leafHash(rewritten).toString('hex')}' WHERE leaf_index = 0`,
    );
    const { code, stdout } = await scene.run(
      'verify',
      '--checkpoint',
      file('checkpoint'),
      '--database',
      path,
    );
    expect(stdout).toContain('one of the first 1 receipts is not what the checkpoint pins');
    expect(code).toBe(4);
  });
});

test('backup writes a checkpoint beside its copy, and --check compares the copy with it', async () => {
  const copy = file('copy.sqlite');
  const key = ['--signing-key-file', file('key.pem')];
  expect((await scene.run('backup', copy, ...key)).code).toBe(0);
  expect(existsSync(`${copy}.checkpoint`)).toBe(true);
  expect(await scene.run('backup', '--check', copy, ...key)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('was signed by the key'),
  });
  copyFileSync(file('checkpoint'), `${copy}.checkpoint`);
  writeFileSync(`${copy}.checkpoint`, readFileSync(`${copy}.checkpoint`, 'utf8').replace(/\n1\n/, '\n3\n'));
  expect((await scene.run('backup', '--check', copy)).code).toBe(4);
});
