import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { MalformedError } from './receipt.ts';

// Checkpoints (C2SP tlog-checkpoint) are signed notes (C2SP signed-note), and the keys are Ed25519.

/** The state of a log at one size. A checkpoint that somebody keeps pins every receipt before it. */
export interface Checkpoint {
  /** The log's name, `docmirror/<mirrorId>`; the key signs under the same name. */
  readonly origin: string;
  /** The number of leaves. */
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** A text that ends in a newline, and its signatures. */
export interface Note {
  readonly text: string;
  /** Each with the name of its key, 4 bytes that identify the key together with the name, and the signature itself. */
  readonly signatures: readonly Signature[];
}

type Signature = { readonly name: string; readonly keyId: Uint8Array; readonly signature: Uint8Array };

/** 32 bytes are 44 characters in base64. */
const checkpointPattern = /^docmirror\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\n\d+\n[\w+/]{43}=\n$/;
const signatureLine = /^— ([^\p{White_Space}+]+) (\S+)$/u;
const keyIdBytes = 4;
const ed25519Type = Buffer.from([1]);
/** Bytes of an Ed25519 public key. They are the last ones of its DER form. */
const publicKeyBytes = 32;

/** The origin of a mirror's checkpoints. */
export function originOf(mirrorId: string): string {
  return `docmirror/${mirrorId}`;
}

/** An unsigned checkpoint: three lines. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`;
}

/** A signed checkpoint: the three lines, an empty one, and the line of the signature. */
export function signedCheckpoint(checkpoint: Checkpoint, privateKey: KeyObject): string {
  return noteText(signNote(checkpointText(checkpoint), checkpoint.origin, privateKey));
}

/** Reads a checkpoint, unsigned (its note has no signatures) or signed by anybody. `signatureVerdict` checks the signatures. */
export function readCheckpoint(bytes: Uint8Array): { readonly checkpoint: Checkpoint; readonly note: Note } {
  const written = Buffer.from(bytes).toString();
  const note = written.includes('\n\n') ? readNote(written) : { text: written, signatures: [] };
  const [origin = '', digits = '', base64 = ''] = note.text.split('\n');
  const checkpoint = { origin, size: Number(digits), root: Buffer.from(base64, 'base64') };
  const isOne = checkpointPattern.test(note.text) && Number.isSafeInteger(checkpoint.size);
  // The comparison refuses leading zeros and base64 with spare bits.
  if (!isOne || checkpointText(checkpoint) !== note.text)
    throw new MalformedError(
      'A checkpoint of docmirror has three lines before its signatures, and nothing else: docmirror/<the id of the mirror>, the number of receipts, and the root, 32 bytes in base64.',
    );
  return { checkpoint, note };
}

/** A note's text with a signature by a key under a name. */
export function signNote(text: string, name: string, privateKey: KeyObject): Note {
  const signature = sign(null, Buffer.from(text), privateKey);
  return { text, signatures: [{ name, keyId: keyIdOf(name, privateKey), signature }] };
}

/** The text of a note with its signatures, as it is stored. */
export function noteText({ text, signatures }: Note): string {
  const lines = signatures.map(({ name, keyId, signature }) => {
    return `— ${name} ${Buffer.concat([keyId, signature]).toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/** Reads a note: text, empty line, signature lines. It refuses every text that `noteText` would write in another way. */
export function readNote(written: string): Note {
  const end = written.lastIndexOf('\n\n') + 1;
  const lines = written.slice(end + 1, -1).split('\n');
  const signatures = lines.map(line => {
    const [, name = '', base64 = ''] = signatureLine.exec(line) ?? [];
    const bytes = Buffer.from(base64, 'base64');
    return { name, keyId: bytes.subarray(0, keyIdBytes), signature: bytes.subarray(keyIdBytes) };
  });
  const note = { text: written.slice(0, end), signatures };
  const isWhole = signatures.every(({ signature }) => signature.length > 0);
  // The comparison refuses a line of another form, base64 without its padding, and spare bits.
  if (isWhole && noteText(note) === written) return note;
  const form = 'A signature line is "— name signature", the signature in base64, with nothing else.';
  throw new MalformedError(form);
}

/** Checks the signatures of a note by one key: `forged` if a line names the key and is not by it, `absent` if no line names it. */
export function signatureVerdict(
  { text, signatures }: Note,
  { name, publicKey }: { readonly name: string; readonly publicKey: KeyObject },
): 'verified' | 'forged' | 'absent' {
  const keyId = keyIdOf(name, publicKey);
  const claimed = signatures.filter(line => line.name === name && keyId.equals(line.keyId));
  if (claimed.length === 0) return 'absent';
  const isGood = claimed.every(({ signature }) => verify(null, Buffer.from(text), publicKey, signature));
  return isGood ? 'verified' : 'forged';
}

/** The first 4 bytes of SHA-256(name, newline, 0x01, public key). `key` can be the private or the public part. */
export function keyIdOf(name: string, key: KeyObject): Buffer {
  const publicKey = publicPart(key).export({ type: 'spki', format: 'der' }).subarray(-publicKeyBytes);
  const bytes = Buffer.concat([Buffer.from(`${name}\n`), ed25519Type, publicKey]);
  return hash('sha256', bytes, 'buffer').subarray(0, keyIdBytes);
}

/** A new key: the private part as PKCS #8, the public one as SPKI, both in PEM. */
export function generateKey() {
  const { privateKey } = generateKeyPairSync('ed25519');
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { privatePem, publicPem: publicPem(privateKey) };
}

/** The key that signs, from PKCS #8 in PEM, without a passphrase. */
export function readPrivateKey(pem: string): KeyObject {
  return readKey(pem, 'private', createPrivateKey);
}

/** The key that checks signatures, from SPKI in PEM: what `openssl pkey -pubout` writes and `openssl pkey -pubin` reads. */
export function readPublicKey(pem: string): KeyObject {
  return readKey(pem, 'public', createPublicKey);
}

/** The public key in PEM, from either part. `openssl pkey -pubin -text -noout` shows its content. */
export function publicPem(key: KeyObject): string {
  return publicPart(key).export({ type: 'spki', format: 'pem' }).toString();
}

function publicPart(key: KeyObject): KeyObject {
  return key.type === 'private' ? createPublicKey(key) : key;
}

/** @param read makes a key of either part, but an auditor must not need the private one: so the first line must be the right one. */
function readKey(pem: string, part: 'private' | 'public', read: (pem: string) => KeyObject): KeyObject {
  const wanted = `-----BEGIN ${part.toUpperCase()} KEY-----`;
  const first = /^-----BEGIN [A-Z0-9 ]+-----$/m.exec(pem)?.[0];
  const why = `A ${part} key begins with "${wanted}", and is not locked by a passphrase; ${first === undefined ? 'it does not have that line' : `it begins with "${first}"`}. "docmirror audit keygen FILE" makes one.`;
  if (first !== wanted) throw new MalformedError(why);
  let key: KeyObject;
  try {
    key = read(pem);
  } catch (cause) {
    throw new MalformedError("The key can't be read: it is damaged.", { cause });
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  const other = `The key is of type ${key.asymmetricKeyType}; an Ed25519 key is needed, as "docmirror audit keygen FILE" makes one.`;
  throw new MalformedError(other);
}
