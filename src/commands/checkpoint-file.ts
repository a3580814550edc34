import type { KeyObject } from 'node:crypto';
import {
  type ReadCheckpoint,
  readCheckpoint,
  readPrivateKey,
  readPublicKey,
  signatureVerdict,
  signedCheckpoint,
} from '../audit/checkpoint.ts';
import { MalformedError } from '../audit/malformed-error.ts';
import { nameOfSecretFile, readSmallBytes } from '../config/small-file.ts';
import { UsageError } from '../errors.ts';
import { counted } from '../render/numbers.ts';
import { isRefused, type ShownCheckpoint } from '../render/verification.ts';
import { assertReplaceable } from '../store/file/atomic-file.ts';
import { checkpointOf } from '../store/read/checkpoint-of.ts';
import {
  type PinnedCheckpoint,
  type Verification,
  type VerifyOptions,
  verifyMirror,
} from '../store/verify/verify.ts';

/**
 * Audits a mirror and compares it with checkpoints: the receipts with each root, each signature with a public key. The default is the
 * public key of the key that signs here. A file that is no checkpoint at all is a difference, too.
 *
 * @throws UsageError if a file can't be read.
 */
export async function verifyWithCheckpoints(
  database: string,
  { checkpoints: paths, publicKey, signingKeyFile, ...options }: CheckpointOptions,
): Promise<Verification & { readonly checkpoints: readonly ShownCheckpoint[] }> {
  const publicKeyObject = await publicKeyFrom(publicKey, signingKeyFile);
  const files: CheckpointFile[] = [];
  for (const path of paths) files.push(readFile(path, await reading(path, each => each), publicKeyObject));
  const checkpoints = files.flatMap(({ pinned }) => pinned ?? []);
  const found = await verifyMirror(database, { ...options, checkpoints });
  const shown = files.map(file => file.shown);
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

/** The checkpoints to compare the mirror with, and the key whose signatures count. */
interface CheckpointOptions extends Omit<VerifyOptions, 'checkpoints'> {
  /** The files of the checkpoints. */
  readonly checkpoints: readonly string[];
  /** The file of the public key; null if none is named. */
  readonly publicKey: string | null;
  readonly signingKeyFile: string | null;
}

/** A file that was named as a checkpoint: what it pins, null if it is none, and what is said of it. */
interface CheckpointFile {
  readonly pinned: PinnedCheckpoint | null;
  readonly shown: ShownCheckpoint;
}

function readFile(file: string, bytes: Buffer, publicKey: KeyObject | null): CheckpointFile {
  try {
    const read = readCheckpoint(bytes);
    return { pinned: { file, ...read.checkpoint }, shown: checkSignature(file, read, publicKey) };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    const notes = [`${file}: ${error.message}`];
    return { pinned: null, shown: { file, size: 0, signature: 'forged', notes } };
  }
}

/**
 * Finds out, before there is anything to sign, whether a checkpoint can be signed and put there.
 *
 * @throws UsageError if the setting names no usable key.
 * @throws RefusedFileError if a mirror, a lock, a key or a folder is at the path.
 */
export async function assertCanSign(path: string, signingKeyFile: string): Promise<void> {
  assertReplaceable(path);
  await readSigningKey(signingKeyFile);
}

/**
 * The key that signs.
 *
 * @throws UsageError if the setting names no usable key.
 */
export function readSigningKey(path: string): Promise<KeyObject> {
  return reading(path, bytes => readPrivateKey(bytes.toString()), 'DOCMIRROR_SIGNING_KEY_FILE: ');
}

/** The signed checkpoint of all receipts of a mirror. */
export async function signedCheckpointOf(database: string, signingKeyFile: string): Promise<string> {
  return signedCheckpoint(checkpointOf(database), await readSigningKey(signingKeyFile));
}

/** Checks the signature on a checkpoint; `publicKey` is null where no key is known. */
function checkSignature(
  file: string,
  { checkpoint, note }: ReadCheckpoint,
  publicKey: KeyObject | null,
): ShownCheckpoint {
  const { size, origin } = checkpoint;
  const signature = publicKey === null ? 'unchecked' : signatureVerdict(note, { name: origin, publicKey });
  const isUnsigned = note.signatures.length === 0;
  const words = {
    verified: 'was signed by the key',
    forged: 'has a false signature',
    absent: 'was not signed by the key',
    unchecked: isUnsigned
      ? 'has no signature: nothing says who made it'
      : 'has a signature that was not checked; to know who made it, name its key: verify --public-key, or DOCMIRROR_SIGNING_KEY_FILE',
  };
  const said = `${file}: The checkpoint of ${counted(size, 'receipt')} ${words[signature]}.`;
  return { file, size, signature, notes: [said] };
}

async function publicKeyFrom(
  publicKeyFile: string | null,
  signingKeyFile: string | null,
): Promise<KeyObject | null> {
  if (publicKeyFile !== null) return reading(publicKeyFile, bytes => readPublicKey(bytes.toString()));
  return signingKeyFile === null ? null : readSigningKey(signingKeyFile);
}

/** Far more than a key or a checkpoint takes, in bytes. */
const bytesMax = 256 * 1024;

async function reading<T>(path: string, read: (bytes: Buffer) => T, prefix = ''): Promise<T> {
  // A setting is named for the key that signs alone.
  const name = prefix === '' ? path : nameOfSecretFile(path);
  const bytes = readSmallBytes(prefix, path, bytesMax, name);
  try {
    return read(bytes);
  } catch (error) {
    if (error instanceof MalformedError) throw new UsageError(`${prefix}${path}: ${error.message}`);
    throw error;
  }
}
