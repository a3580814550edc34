import { existsSync, readFileSync, statSync } from 'node:fs';
import { codeOf, UsageError } from '../errors.ts';

/** Reads a small file, for example one with a token. The error begins with `from`, calls the file `name`, and never shows its content. */
export function readSmallFile(from: string, path: string, bytesMax: number, name = path): string {
  return readSmallBytes(from, path, bytesMax, name).toString('utf8');
}

/** The same as `readSmallFile`, as bytes. */
export function readSmallBytes(from: string, path: string, bytesMax: number, name = path): Buffer {
  try {
    if (statSync(path).size > bytesMax) throw new Error(`has more than ${Math.round(bytesMax / 1024)} KiB`);
    return readFileSync(path);
  } catch (error) {
    const code = codeOf(error);
    const why = code === undefined ? (error as Error).message : `can't be read (${code})`;
    throw new UsageError(`${from}${name} ${why}.`);
  }
}

/** The name of a file with a secret, for messages. If the file does not exist, the text might be the secret itself. */
export function nameOfSecretFile(path: string): string {
  return existsSync(path) ? path : 'what it names (not shown, because it might be the secret itself)';
}
