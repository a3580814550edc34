import { existsSync, readFileSync, statSync } from 'node:fs';
import { codeOf, UsageError } from '../errors.ts';

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
  try {
    if (statSync(path).size > bytesMax) throw new Error('is too large');
    return readFileSync(path);
  } catch (error) {
    const code = codeOf(error);
    const why = code === undefined ? (error as Error).message : `can't be read (${code})`;
    throw new UsageError(`${from}${name} ${why}.`);
  }
}
