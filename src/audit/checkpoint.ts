import type { KeyObject } from 'node:crypto';
import { MalformedError } from './malformed-error.ts';
import { merkleHashBytes } from './merkle.ts';
import { decodeNote, fromBase64, type Note, noteText, readNote, signNote } from './note.ts';

/** The state of a log at one size (C2SP tlog-checkpoint). A checkpoint that somebody keeps pins every receipt before it. */
export interface Checkpoint {
  /** The log's name, `docmirror/<mirrorId>`; the key signs under the same name. */
  readonly origin: string;
  /** The number of leaves. */
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** A checkpoint that was read, with its note. If the checkpoint is unsigned, `note` has no signatures. */
export interface ReadCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly note: Note;
}

/** A checkpoint is a few hundred bytes, and a line of 100 bytes or so for each witness. */
const checkpointBytesMax = 1024 * 1024;
const originPattern = /^docmirror\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

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

/** Reads a checkpoint, unsigned or signed by anybody. `signatureVerdict` checks the signatures. */
export function readCheckpoint(bytes: Uint8Array): ReadCheckpoint {
  if (bytes.length > checkpointBytesMax) {
    throw new MalformedError(`A checkpoint has ${checkpointBytesMax} bytes at most.`);
  }
  const written = decodeNote(bytes);
  const note = written.includes('\n\n') ? readNote(written) : { text: written, signatures: [] };
  return { checkpoint: readText(note.text), note };
}

function readText(text: string): Checkpoint {
  const [origin = '', digits = '', base64 = ''] = text.split('\n');
  const size = Number(digits);
  const root = fromBase64(base64);
  if (!originPattern.test(origin)) {
    throw new MalformedError(
      'A checkpoint of docmirror begins with the line docmirror/<the id of the mirror>.',
    );
  }
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new MalformedError('The second line of a checkpoint is the number of receipts.');
  }
  if (root?.length !== merkleHashBytes) {
    throw new MalformedError(
      `The third line of a checkpoint is the root: ${merkleHashBytes} bytes in base64.`,
    );
  }
  const checkpoint = { origin, size, root };
  // This refuses an empty number, leading zeros, spaces and further lines.
  if (checkpointText(checkpoint) !== text) {
    throw new MalformedError(
      'A checkpoint is three lines and nothing else, before the empty line and the signatures.',
    );
  }
  return checkpoint;
}
