import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Checkpoint,
  checkpointText,
  generateKey,
  keyIdOf,
  type Note,
  noteText,
  originOf,
  publicPem,
  readCheckpoint,
  readNote,
  readPrivateKey,
  readPublicKey,
  signatureVerdict,
  signedCheckpoint,
  signNote,
} from '../../src/audit/checkpoint.ts';
import { leafHash } from '../../src/audit/hashes.ts';
import { MalformedError } from '../../src/audit/receipt.ts';
import { temporaryFolder } from '../support/run-cli.ts';
import { rootOfFirst } from './log.ts';

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
    ['bytes that are not UTF-8', Buffer.from('d\xe9j\xe0\n', 'latin1')],
  ] as [string, string | Buffer][])('%s', (_, written) => {
    expect(() => readCheckpoint(Buffer.from(written))).toThrow(MalformedError);
  });
});

function checkpointAt(size: number): Checkpoint {
  return { origin, size, root: rootOfFirst(size, leafHashes) ?? Buffer.alloc(32) };
}

/** The example of the C2SP signed-note specification. */
const poem = `Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=
`;

/** The note, the key and the key's id with which implementations of the format are commonly tried. */
const peter = {
  name: 'PeterNeumann',
  keyId: 'c74f20a3',
  privateKey: 'AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  line: '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
};
const petersPrivateKey = readPrivateKey(petersPem());
const petersKey = { name: peter.name, publicKey: createPublicKey(petersPrivateKey) };
const petersNote = `${peter.text}\n${peter.line}`;

test('a published note is read, printed again byte for byte, verified by its key, and signed again the same', () => {
  const note = readNote(poem);
  expect(note.signatures.map(({ name }) => name)).toEqual(['quasimodo.example/salvatore']);
  expect(noteText(note)).toBe(poem);
  expect(signatureVerdict(readNote(petersNote), petersKey)).toBe('verified');
  expect(keyIdOf(peter.name, petersKey.publicKey).toString('hex')).toBe(peter.keyId);
  expect(noteText(signNote(peter.text, peter.name, petersPrivateKey))).toBe(petersNote);
});

describe('a signature', () => {
  const other = generateKeyPairSync('ed25519');
  const note = readNote(petersNote);
  const withLines = (change: Partial<Note['signatures'][number]>): Note => ({
    ...note,
    signatures: note.signatures.map(line => ({ ...line, ...change })),
  });

  test('by an unknown key is ignored, before and after a known one', () => {
    const stranger = { name: peter.name, publicKey: other.publicKey };
    expect(signatureVerdict(note, stranger)).toBe('absent');
    expect(signatureVerdict(note, { ...petersKey, name: 'Peter' })).toBe('absent');
    expect(signatureVerdict(withLines({ name: 'Peter' }), petersKey)).toBe('absent');
    const lineOf = (name: string) =>
      noteText(signNote(peter.text, name, other.privateKey)).slice(peter.text.length + 1);
    const lines = [lineOf('witness.example/a'), peter.line, lineOf('witness.example/b')];
    expect(signatureVerdict(readNote(`${peter.text}\n${lines.join('')}`), petersKey)).toBe('verified');
  });

  test('is forged for another text, or if any of its bits is another, even beside a good one', () => {
    expect(signatureVerdict(readNote(petersNote.replace('know', 'Know')), petersKey)).toBe('forged');
    for (let bit = 0; bit < 64 * 8; bit += 7) {
      const signature = Buffer.from(note.signatures[0]?.signature ?? []);
      signature[bit >> 3] = (signature[bit >> 3] as number) ^ (1 << (bit & 7));
      const forged = withLines({ signature });
      expect(signatureVerdict(forged, petersKey), `bit ${bit}`).toBe('forged');
      const both = { ...note, signatures: [...note.signatures, ...forged.signatures] };
      expect(signatureVerdict(both, petersKey)).toBe('forged');
    }
  });
});

/** The published private key in the form that docmirror reads: the fixed beginning of PKCS #8 for Ed25519, and the seed. */
function petersPem(): string {
  const seed = Buffer.from(peter.privateKey, 'base64').subarray(1);
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  return `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
}

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const spki = { type: 'spki', format: 'pem' } as const;
const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
const ed25519 = generateKeyPairSync('ed25519');

test('openssl reads both parts, derives the same public one, and makes keys that are read', () => {
  const { privatePem, publicPem: printed } = generateKey();
  expect(publicPem(readPublicKey(printed))).toBe(printed);
  expect(openssl(['pkey', '-pubout'], privatePem)).toBe(printed);
  expect(openssl(['pkey', '-pubin', '-text', '-noout'], printed)).toMatch(/^ED25519 Public-Key/);
  const made = openssl(['genpkey', '-algorithm', 'ed25519'], '');
  expect(publicPem(readPrivateKey(made))).toBe(openssl(['pkey', '-pubout'], made));
});

const damaged = '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n';

const locked = { ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'p' };

test.each<[string, typeof readPrivateKey, string | Buffer, RegExp]>([
  ['an RSA key signs', readPrivateKey, rsa.privateKey.export(pkcs8), /of type rsa; an Ed25519 key is needed/],
  ['a locked key signs', readPrivateKey, ed25519.privateKey.export(locked), /locked by a passphrase/],
  [
    'a public key signs',
    readPrivateKey,
    ed25519.publicKey.export(spki),
    /begins with "-----BEGIN PUBLIC KEY-----"/,
  ],
  ['any text signs', readPrivateKey, 'hello', /it does not have that line/],
  ['a private key checks', readPublicKey, ed25519.privateKey.export(pkcs8), /"-----BEGIN PRIVATE KEY-----"/],
  ['a damaged key checks', readPublicKey, damaged, /it is damaged/],
])('it is not so that %s', (_, read, pem, message) => {
  expect(() => read(String(pem))).toThrow(MalformedError);
  expect(() => read(String(pem))).toThrow(message);
});

function openssl(args: readonly string[], input: string): string {
  return execFileSync('openssl', args, { input, encoding: 'utf8' });
}
