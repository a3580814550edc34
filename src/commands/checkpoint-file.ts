import type { KeyObject } from 'node:crypto';
import {
  checkpointText,
  readCheckpoint,
  readPrivateKey,
  readPublicKey,
  signatureVerdict,
  signedCheckpoint,
} from '../audit/checkpoint.ts';
import { MalformedError } from '../audit/receipt.ts';
import { named } from '../config/resolve.ts';
import { readSecretFile, readSmallBytes, readSmallFile } from '../config/small-file.ts';
import { counted } from '../render/numbers.ts';
import { isRefused } from '../render/verification.ts';
import { checkpointOf } from '../store/read/runs/receipts.ts';
import { type VerifyOptions, verifyMirror } from '../store/verify/verify.ts';

interface CheckpointOptions extends Omit<VerifyOptions, 'checkpoints'> {
  readonly checkpoints: readonly string[];
  /** The file of the public key; null if none is named. */
  readonly publicKey: string | null;
  readonly signingKeyFile: string | null;
}

/** Audits a mirror and compares it with checkpoints by a public key, usually the signing key's. A file that is none is a difference. */
export async function verifyWithCheckpoints(database: string, given: CheckpointOptions) {
  const { checkpoints: files, publicKey, signingKeyFile, ...options } = given;
  const signingKey = files.length > 0 && signingKeyFile !== null ? readSigningKey(signingKeyFile) : null;
  const readKey = (path: string) => named(path, () => readPublicKey(readSmallFile('', path)));
  const key = publicKey === null ? signingKey : readKey(publicKey);
  const read = files.map(file => readOrRefuse(file, key));
  const pinned = read.flatMap(({ checkpoint }) => checkpoint ?? []);
  const found = await verifyMirror(database, { ...options, checkpoints: pinned });
  const checkpoints = read.map(({ checkpoint: _, ...shown }) => shown);
  const differences = checkpoints.filter(isRefused).map(({ notes }) => {
    return { table: null, id: null, what: notes.join(' '), severity: 'record of runs' } as const;
  });
  const differenceCount = found.differenceCount + differences.length;
  return { ...found, checkpoints, differenceCount, differences: [...differences, ...found.differences] };
}

/** The key that signs. It throws a UsageError if the setting names no usable one. */
export function readSigningKey(path: string): KeyObject {
  const from = 'DOCMIRROR_SIGNING_KEY_FILE: ';
  const pem = readSecretFile(from, path);
  return named(`${from}${path}`, () => readPrivateKey(pem));
}

/** The checkpoint of all receipts of a mirror, signed if there is a key. */
export function checkpointIn(database: string, signingKeyFile: string | null): string {
  const checkpoint = checkpointOf(database);
  if (signingKeyFile === null) return checkpointText(checkpoint);
  return signedCheckpoint(checkpoint, readSigningKey(signingKeyFile));
}

const words = {
  verified: 'was signed by the key',
  forged: 'has a false signature',
  absent: 'was not signed by the key',
  unchecked:
    'was not checked for a signature; to know who made it, name its key: verify --public-key, or DOCMIRROR_SIGNING_KEY_FILE',
};

function readOrRefuse(file: string, publicKey: KeyObject | null) {
  const bytes = readSmallBytes('', file);
  try {
    const { checkpoint, note } = readCheckpoint(bytes);
    const { origin: name, size } = checkpoint;
    const signature: keyof typeof words =
      publicKey === null ? 'unchecked' : signatureVerdict(note, { name, publicKey });
    const said = `${file}: The checkpoint of ${counted(size, 'receipt')} ${words[signature]}.`;
    return { file, size, signature, notes: [said], checkpoint: { file, ...checkpoint } };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    const notes = [`${file}: ${error.message}`];
    return { file, size: 0, signature: 'forged' as const, notes, checkpoint: null };
  }
}
