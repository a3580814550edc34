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

describe('a published note', () => {
  test('is read, and printed again byte for byte', () => {
    const note = readNote(poem);
    expect(note.text).toBe(poem.slice(0, poem.indexOf('\n— ')));
    expect(note.signatures.map(({ name }) => name)).toEqual(['quasimodo.example/salvatore']);
    expect(note.signatures[0]?.signature).toHaveLength(64);
    expect(noteText(note)).toBe(poem);
  });

  test('is verified by its key', () => {
    expect(signatureVerdict(readNote(petersNote), petersKey)).toBe('verified');
    expect(keyIdOf(peter.name, petersKey.publicKey).toString('hex')).toBe(peter.keyId);
  });

  test('comes out the same if the same key signs the same text', () => {
    expect(noteText(signNote(peter.text, peter.name, petersPrivateKey))).toBe(petersNote);
  });
});

describe('a signature', () => {
  const other = generateKeyPairSync('ed25519');

  test('by an unknown key is ignored', () => {
    const stranger = { name: peter.name, publicKey: other.publicKey };
    expect(signatureVerdict(readNote(petersNote), stranger)).toBe('absent');
    expect(signatureVerdict(readNote(petersNote), { ...petersKey, name: 'Peter' })).toBe('absent');
    const renamed = withLines(readNote(petersNote), { name: 'Peter' });
    expect(signatureVerdict(renamed, petersKey)).toBe('absent');
    expect(signatureVerdict(readNote(poem), petersKey)).toBe('absent');
  });

  test('is found among those of others, before and after it', () => {
    const lines = [lineOf('witness.example/a'), peter.line, lineOf('witness.example/b')];
    expect(signatureVerdict(readNote(`${peter.text}\n${lines.join('')}`), petersKey)).toBe('verified');
  });

  test('is not valid for another text', () => {
    const altered = petersNote.replace('know', 'Know');
    expect(signatureVerdict(readNote(altered), petersKey)).toBe('forged');
  });

  test('is forged if any of its bits is another', () => {
    const note = readNote(petersNote);
    const [line] = note.signatures;
    for (let bit = 0; bit < 64 * 8; bit += 7) {
      const signature = Buffer.from(line?.signature ?? []);
      signature[bit >> 3] = (signature[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(signatureVerdict(withLines(note, { signature }), petersKey), `bit ${bit}`).toBe('forged');
    }
  });

  test('that is forged makes the note invalid, even beside a good one by the same key', () => {
    const note = readNote(petersNote);
    const forged = withLines(note, { signature: Buffer.alloc(64) });
    const both = { text: note.text, signatures: [...note.signatures, ...forged.signatures] };
    expect(signatureVerdict(both, petersKey)).toBe('forged');
  });

  function lineOf(name: string): string {
    return noteText(signNote(peter.text, name, other.privateKey)).slice(peter.text.length + 1);
  }

  function withLines(note: Note, change: Partial<Note['signatures'][number]>): Note {
    return { ...note, signatures: note.signatures.map(line => ({ ...line, ...change })) };
  }
});

describe('what is no signed note is refused:', () => {
  const base64 = peter.line.trim().split(' ')[2] as string;
  const line = (signature: string, name = peter.name) => `${peter.text}\n— ${name} ${signature}\n`;

  test.each([
    ['nothing', ''],
    ['a text alone', peter.text],
    ['a text before the dash', `x${peter.line}`],
    ['a last line without its newline', petersNote.slice(0, -1)],
    ['something after the signatures', `${petersNote}more\n`],
    ['no name', `${peter.text}\n— ${base64}\n`],
    ['base64 without its padding', line(base64.replace(/=+$/, ''))],
    ['base64 with a spare bit', line(base64.replace(/M=$/, 'N='))],
    ['a signature of the key id alone', line('x08gow==')],
  ])('%s', (_, written) => {
    expect(() => readNote(written)).toThrow(MalformedError);
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

const damaged = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';

test.each<[string, string, RegExp]>([
  ['an RSA key', rsa.privateKey.export(pkcs8).toString(), /of type rsa; an Ed25519 key is needed/],
  [
    'an old RSA key',
    rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    /"-----BEGIN RSA PRIVATE KEY-----"/,
  ],
  [
    'a locked key',
    ed25519.privateKey.export({ ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'p' }).toString(),
    /locked by a passphrase/,
  ],
  ['a public key', ed25519.publicKey.export(spki).toString(), /it begins with "-----BEGIN PUBLIC KEY-----"/],
  ['a damaged key', damaged, /it is damaged/],
  ['any text', 'hello', /it does not have that line/],
])('%s does not sign', (_, pem, message) => {
  expect(() => readPrivateKey(pem)).toThrow(MalformedError);
  expect(() => readPrivateKey(pem)).toThrow(message);
});

test.each<[string, string, RegExp]>([
  ['an RSA key', rsa.publicKey.export(spki).toString(), /of type rsa; an Ed25519 key is needed/],
  [
    'a private key',
    ed25519.privateKey.export(pkcs8).toString(),
    /it begins with "-----BEGIN PRIVATE KEY-----"/,
  ],
  ['a damaged key', damaged.replaceAll('PRIVATE', 'PUBLIC'), /it is damaged/],
  ['any text', '', /it does not have that line/],
])('%s checks no signature', (_, pem, message) => {
  expect(() => readPublicKey(pem)).toThrow(MalformedError);
  expect(() => readPublicKey(pem)).toThrow(message);
});

function openssl(args: readonly string[], input: string): string {
  return execFileSync('openssl', args, { input, encoding: 'utf8' });
}
