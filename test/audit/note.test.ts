import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { rawPublicKey, readPrivateKey } from '../../src/audit/keys.ts';
import { MalformedError } from '../../src/audit/malformed-error.ts';
import {
  decodeNote,
  keyIdOf,
  type Note,
  noteText,
  readNote,
  signatureVerdict,
  signNote,
} from '../../src/audit/note.ts';

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
  publicKey: 'ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
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
    expect(rawPublicKey(petersKey.publicKey)).toEqual(Buffer.from(peter.publicKey, 'base64').subarray(1));
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
    ['too many signatures', petersNote + peter.line.repeat(100)],
  ])('%s', (_, written) => {
    expect(() => readNote(written)).toThrow(MalformedError);
  });

  test('bytes that are not UTF-8', () => {
    expect(() => decodeNote(Buffer.from('d\xe9j\xe0\n', 'latin1'))).toThrow(MalformedError);
  });
});

/** The published private key in the form that docmirror reads: the fixed beginning of PKCS #8 for Ed25519, and the seed. */
function petersPem(): string {
  const seed = Buffer.from(peter.privateKey, 'base64').subarray(1);
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  return `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
}
