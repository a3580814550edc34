import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Checkpoint,
  checkpointText,
  originOf,
  readCheckpoint,
  signedCheckpoint,
} from '../../src/audit/checkpoint.ts';
import { generateKey, readPrivateKey, readPublicKey } from '../../src/audit/keys.ts';
import { MalformedError } from '../../src/audit/malformed-error.ts';
import { leafHash } from '../../src/audit/merkle.ts';
import { noteText, signatureVerdict } from '../../src/audit/note.ts';
import { temporaryFolder } from '../support/run-cli.ts';
import { logVerdict, rootOfFirst } from './log.ts';

const origin = originOf('0198c0de-5a11-7e57-8000-00c0ffee0042');
const key = generateKey();
const privateKey = readPrivateKey(key.privatePem);
const leafHashes = Array.from({ length: 9 }, (_, at) => leafHash(`receipt ${at}`));
const checkpoint = checkpointAt(7);
const text = checkpointText(checkpoint);
const anyCheckpoint = fc.record<Checkpoint>({
  origin: fc.uuid().map(originOf),
  size: fc.maxSafeInteger().map(Math.abs),
  root: fc.uint8Array({ minLength: 32, maxLength: 32 }),
});

test('a checkpoint is origin, size and root, an empty line, and a signature under the name of the origin', () => {
  const lines = signedCheckpoint(checkpoint, privateKey).split('\n');
  expect(lines).toEqual([
    'docmirror/0198c0de-5a11-7e57-8000-00c0ffee0042',
    '7',
    Buffer.from(checkpoint.root).toString('base64'),
    '',
    expect.stringMatching(/^— docmirror\/0198c0de-5a11-7e57-8000-00c0ffee0042 [A-Za-z0-9+/]{91}=$/),
    '',
  ]);
});

test('what was signed is read back, and verified by the public key', () => {
  fc.assert(
    fc.property(anyCheckpoint, written => {
      const signed = signedCheckpoint(written, privateKey);
      const { checkpoint: read, note } = readCheckpoint(Buffer.from(signed));
      expect({ ...read, root: [...read.root] }).toEqual({ ...written, root: [...written.root] });
      expect(noteText(note)).toBe(signed);
      const verdict = signatureVerdict(note, { name: read.origin, publicKey: readPublicKey(key.publicPem) });
      expect(verdict).toBe('verified');
    }),
    { numRuns: 50 },
  );
});

test('an unsigned checkpoint is the three lines alone, and has no signature of anyone', () => {
  const { checkpoint: read, note } = readCheckpoint(Buffer.from(text));
  expect(read).toEqual({ ...checkpoint, root: Buffer.from(checkpoint.root) });
  expect(note).toEqual({ text, signatures: [] });
  expect(signatureVerdict(note, { name: origin, publicKey: readPublicKey(key.publicPem) })).toBe('absent');
});

test('openssl verifies the signature over the first three lines', async () => {
  await using folder = temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  const [, base64 = ''] = /— \S+ (\S+)\n$/.exec(signedCheckpoint(checkpoint, privateKey)) ?? [];
  writeFileSync(path('text'), text);
  writeFileSync(path('signature'), Buffer.from(base64, 'base64').subarray(4));
  writeFileSync(path('key.pub'), key.publicPem);
  const verify = () =>
    execFileSync(
      'openssl',
      ['pkeyutl', '-verify', '-pubin', '-inkey', 'key.pub', '-rawin', '-in', 'text', '-sigfile', 'signature'],
      { cwd: folder.path, encoding: 'utf8', stdio: 'pipe' },
    );
  expect(verify()).toBe('Signature Verified Successfully\n');
  writeFileSync(path('text'), text.replace('\n7\n', '\n8\n'));
  expect(verify).toThrow();
});

describe('a log', () => {
  test('agrees with a checkpoint, however much it has grown', () => {
    for (let size = 0; size <= leafHashes.length; size++) {
      expect(logVerdict(checkpointAt(size), leafHashes)).toBe('holds');
    }
  });

  test('that lost leaves is shorter than its checkpoint', () => {
    expect(logVerdict(checkpoint, leafHashes.slice(0, 6))).toBe('shorter');
  });

  test('is altered if a leaf before the checkpoint is another, or two have changed places', () => {
    for (let at = 0; at < 7; at++) {
      expect(logVerdict(checkpoint, leafHashes.with(at, leafHash('another')))).toBe('altered');
    }
    const [first, second, ...rest] = leafHashes as [Buffer, Buffer, ...Buffer[]];
    expect(logVerdict(checkpoint, [second, first, ...rest])).toBe('altered');
    expect(logVerdict(checkpoint, [second, ...rest])).toBe('altered');
  });
});

describe('what is no checkpoint of docmirror is refused:', () => {
  const root = Buffer.from(checkpoint.root).toString('base64');
  test.each([
    ['nothing', ''],
    ['no size', `${origin}\n\n${root}\n`],
    ['a size with a zero before it', `${origin}\n07\n${root}\n`],
    ['a size beyond 2^53', `${origin}\n9007199254740993\n${root}\n`],
    ['a root without its padding', `${origin}\n7\n${root.slice(0, -1)}\n`],
    ['a root that is too short', `${origin}\n7\n${Buffer.alloc(31).toString('base64')}\n`],
    ['a further line', `${text}more\n`],
    ['another log', text.replace('docmirror/', 'example.com/')],
    ['an empty line and no signature', `${text}\n`],
    ['lines with a carriage return', text.replaceAll('\n', '\r\n')],
    [
      'far too much',
      `${signedCheckpoint(checkpoint, privateKey)}— witness.example ${'A'.repeat(1024 * 1024)}\n`,
    ],
  ])('%s', (_, written) => {
    expect(() => readCheckpoint(Buffer.from(written))).toThrow(MalformedError);
  });
});

function checkpointAt(size: number): Checkpoint {
  return { origin, size, root: rootOfFirst(size, leafHashes) ?? Buffer.alloc(32) };
}
