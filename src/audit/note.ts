import { hash, type KeyObject, sign, verify } from 'node:crypto';
import { rawPublicKey } from './keys.ts';
import { MalformedError } from './malformed-error.ts';

/** One signature line of a note. */
interface NoteSignature {
  /** The name of the key, as the line has it. */
  readonly name: string;
  /** 4 bytes. Together with the name they identify the key. */
  readonly keyId: Uint8Array;
  /** The signature itself: 64 bytes if it is an Ed25519 signature. */
  readonly signature: Uint8Array;
}

/** A C2SP signed note: a text that ends in a newline, and its signatures. */
export interface Note {
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

interface NamedKey {
  readonly name: string;
  readonly publicKey: KeyObject;
}

/**
 * The result of checking a note's signatures for one key: `verified`; `forged` if a line that names the key is not by it; `absent`
 * if no line names the key. Lines of other keys are ignored.
 */
type SignatureVerdict = 'verified' | 'forged' | 'absent';

const keyIdBytes = 4;
const ed25519Type = Buffer.from([1]);
/** A note with more signatures is refused; the specification asks for at least 16. */
const signaturesMax = 100;
const signatureLine = /^— ([^\p{White_Space}+]+) (\S+)$/u;

/** A note's text with a signature by a key under a name. */
export function signNote(text: string, name: string, privateKey: KeyObject): Note {
  const signature = sign(null, Buffer.from(text), privateKey);
  return { text, signatures: [{ name, keyId: keyIdOf(name, privateKey), signature }] };
}

/** The text of a note with its signatures, as it is stored. */
export function noteText({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(lineOf).join('')}`;
}

/** Reads a note: text, empty line, signature lines. It refuses every text that `noteText` would write in another way. */
export function readNote(written: string): Note {
  const end = written.lastIndexOf('\n\n') + 1;
  if (end === 0 || !written.endsWith('\n')) {
    throw new MalformedError(
      'A signed note is a text, an empty line, and signature lines that each end in a newline.',
    );
  }
  const lines = written.slice(end + 1, -1).split('\n');
  if (lines.length > signaturesMax) {
    throw new MalformedError(`A signed note has ${signaturesMax} signatures at most.`);
  }
  return { text: written.slice(0, end), signatures: lines.map(readLine) };
}

/** The UTF-8 text of a note's bytes. The only control character that it can contain is the newline. */
export function decodeNote(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new MalformedError('A note is UTF-8 text.', { cause });
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the specification forbids.
  if (/[\0-\x09\x0b-\x1f]/.test(text)) {
    throw new MalformedError(
      'A note has no control characters: its lines end in a newline alone, without a carriage return.',
    );
  }
  return text;
}

/** Tells if a key signed a note. Each line that names the key must be a valid signature. */
export function signatureVerdict(
  { text, signatures }: Note,
  { name, publicKey }: NamedKey,
): SignatureVerdict {
  const keyId = keyIdOf(name, publicKey);
  const claimed = signatures.filter(line => line.name === name && keyId.equals(line.keyId));
  if (claimed.length === 0) return 'absent';
  const isGood = claimed.every(({ signature }) => verify(null, Buffer.from(text), publicKey, signature));
  return isGood ? 'verified' : 'forged';
}

/** The first 4 bytes of SHA-256(name, newline, 0x01, public key). `key` can be the private or the public part. */
export function keyIdOf(name: string, key: KeyObject): Buffer {
  const bytes = Buffer.concat([Buffer.from(`${name}\n`), ed25519Type, rawPublicKey(key)]);
  return hash('sha256', bytes, 'buffer').subarray(0, keyIdBytes);
}

function lineOf({ name, keyId, signature }: NoteSignature): string {
  return `— ${name} ${Buffer.concat([keyId, signature]).toString('base64')}\n`;
}

function readLine(line: string): NoteSignature {
  const [, name, base64] = signatureLine.exec(line) ?? [];
  const bytes = base64 === undefined ? null : fromBase64(base64);
  if (name === undefined || bytes === null || bytes.length <= keyIdBytes) {
    throw new MalformedError(
      'A signature line is "— name signature", the signature in base64, with nothing else.',
    );
  }
  return { name, keyId: bytes.subarray(0, keyIdBytes), signature: bytes.subarray(keyIdBytes) };
}

/** The bytes of a text in standard base64, with its padding and no spare bit set; null if the text is anything else. */
export function fromBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
