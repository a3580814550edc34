import type { KeyObject } from 'node:crypto';
import {
  type Checkpoint,
  readCheckpoint,
  readPrivateKey,
  readPublicKey,
  signatureVerdict,
  signedCheckpoint,
} from '../audit/checkpoint.ts';
import { MalformedError } from '../audit/receipt.ts';
import { nameOfSecretFile, readSmallBytes } from '../config/small-file.ts';
import { UsageError } from '../errors.ts';
import { counted } from '../render/numbers.ts';
import { isRefused, type ShownCheckpoint } from '../render/verification.ts';
import { checkpointOf } from '../store/read/checkpoint-of.ts';
import { type VerifyOptions, verifyMirror } from '../store/verify/verify.ts';

/** The checkpoints to compare the mirror with, and the key whose signatures count. */
interface CheckpointOptions extends Omit<VerifyOptions, 'checkpoints'> {
  /** The files of the checkpoints. */
  readonly checkpoints: readonly string[];
  /** The file of the public key; null if none is named. */
  readonly publicKey: string | null;
  readonly signingKeyFile: string | null;
}

/**
 * Audits a mirror and compares it with checkpoints: the receipts with each root, each signature with a public key. The default is the
 * public key of the key that signs here. A file that is no checkpoint at all is a difference, too.
 */
export async function verifyWithCheckpoints(
  database: string,
  { checkpoints: paths, publicKey, signingKeyFile, ...options }: CheckpointOptions,
) {
  let key = publicKey === null ? null : readKey('', publicKey, readPublicKey);
  if (key === null && signingKeyFile !== null && paths.length > 0) key = readSigningKey(signingKeyFile);
  const read = paths.map(file => ({ file, ...readOrRefuse(file, key) }));
  const checkpoints = read.flatMap(({ file, checkpoint }) =>
    checkpoint === null ? [] : [{ file, ...checkpoint }],
  );
  const found = await verifyMirror(database, { ...options, checkpoints });
  const shown = read.map(({ file, checkpoint, signature, notes }) => {
    return { file, size: checkpoint?.size ?? 0, signature, notes };
  });
  const differences = shown.filter(isRefused).map(({ notes }) => {
    return { table: null, id: null, what: notes.join(' '), severity: 'record of runs' } as const;
  });
  return {
    ...found,
    checkpoints: shown,
    differenceCount: found.differenceCount + differences.length,
    differences: [...differences, ...found.differences],
  };
}

/** The key that signs. It throws a UsageError if the setting names no usable one. */
export function readSigningKey(path: string): KeyObject {
  return readKey('DOCMIRROR_SIGNING_KEY_FILE: ', path, readPrivateKey);
}

/** The signed checkpoint of all receipts of a mirror. */
export function signedCheckpointOf(database: string, signingKeyFile: string): string {
  return signedCheckpoint(checkpointOf(database), readSigningKey(signingKeyFile));
}

/** A checkpoint of a file, null if it is none, and what is said of it and of its signature. */
function readOrRefuse(
  file: string,
  publicKey: KeyObject | null,
): Pick<ShownCheckpoint, 'signature' | 'notes'> & { readonly checkpoint: Checkpoint | null } {
  const bytes = readSmallBytes('', file, bytesMax);
  try {
    const { checkpoint, note } = readCheckpoint(bytes);
    const name = checkpoint.origin;
    const signature = publicKey === null ? 'unchecked' : signatureVerdict(note, { name, publicKey });
    const words = {
      verified: 'was signed by the key',
      forged: 'has a false signature',
      absent: 'was not signed by the key',
      unchecked:
        note.signatures.length === 0
          ? 'has no signature: nothing says who made it'
          : 'has a signature that was not checked; to know who made it, name its key: verify --public-key, or DOCMIRROR_SIGNING_KEY_FILE',
    };
    const said = `${file}: The checkpoint of ${counted(checkpoint.size, 'receipt')} ${words[signature]}.`;
    return { checkpoint, signature, notes: [said] };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return { checkpoint: null, signature: 'forged', notes: [`${file}: ${error.message}`] };
  }
}

/** Far more than a key or a checkpoint takes, in bytes. */
const bytesMax = 256 * 1024;

/** @param from the setting that names a key that signs, and a colon; empty for a public key. */
function readKey(from: string, path: string, read: (pem: string) => KeyObject): KeyObject {
  const name = from === '' ? path : nameOfSecretFile(path);
  try {
    return read(readSmallBytes(from, path, bytesMax, name).toString());
  } catch (error) {
    if (error instanceof MalformedError) throw new UsageError(`${from}${path}: ${error.message}`);
    throw error;
  }
}
