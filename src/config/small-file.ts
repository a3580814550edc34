import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { codeOf, DocmirrorError, UsageError } from '../errors.ts';

/** More than any file of settings, keys, certificates or SQL has, in bytes. */
const bytesMax = 4 * 1024 * 1024;

/** Reads a file that a person wrote. The error begins with `from`, names the file, and never shows its content. */
export function readSmallFile(from: string, path: string): string {
  return readSmallBytes(from, path).toString('utf8');
}

/** The same for a file with a secret. If it does not exist, the text might be the secret itself, so the error does not name it. */
export function readSecretFile(from: string, path: string): string {
  const hidden = 'what it names (not shown, because it might be the secret itself)';
  return readSmallBytes(from, path, existsSync(path) ? path : hidden).toString('utf8');
}

/** The same as `readSmallFile`, as bytes. */
export function readSmallBytes(from: string, path: string, name = path): Buffer {
  let bytes: Buffer;
  try {
    bytes = readUpTo(path, bytesMax + 1);
  } catch (error) {
    throw new UsageError(`${from}${name} can't be read (${codeOf(error)}).`);
  }
  if (bytes.length <= bytesMax) return bytes;
  const what = 'is too large: it has more than 4 MiB, or never ends';
  throw new TooLargeError(`${from}${name} ${what}. Name a file that contains only what is needed.`);
}

/** A file is larger than any that a person writes, so that it is another one than was meant. */
class TooLargeError extends UsageError {}

/** The end of a run whose settings are right: a file or command can work again at the next one. A file that never ends can't. */
export function laterPerhaps(error: unknown): unknown {
  if (!(error instanceof UsageError) || error instanceof TooLargeError) return error;
  return new DocmirrorError('token_unavailable', error.message, { cause: error });
}

/** Also a device or a pipe that never ends is read only so far. */
function readUpTo(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const room = Buffer.alloc(length);
    let end = 0;
    for (let read = length; read > 0; end += read) read = readSync(file, room, end, length - end, null);
    return room.subarray(0, end);
  } finally {
    closeSync(file);
  }
}
