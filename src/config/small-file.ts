import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, UsageError } from '../errors.ts';

/** How long to wait for the data of a pipe, in milliseconds. */
const pipeMsMax = 500;
const pipeLookMs = 10;

/**
 * Reads a small file, for example one with a token. It returns or throws within a second and needs about `bytesMax` bytes of memory,
 * even if the path is a pipe or a large file.
 *
 * @param from the start of the error message: the flag or variable that named the file, and a colon.
 * @param name the name of the file in messages.
 * @throws UsageError that never shows the content of the file.
 */
export async function readSmallFile(
  from: string,
  path: string,
  bytesMax: number,
  name = path,
): Promise<string> {
  return (await readSmallBytes(from, path, bytesMax, name)).toString('utf8');
}

/**
 * The name of a file with a secret, for messages. If the file does not exist, the text might be the secret itself. Then it is
 * shown only if it is clearly a path.
 */
export function nameOfSecretFile(path: string): string {
  const isPath = existsSync(path) || /^((~|\.{0,2})\/.*|[\w-]+\.(txt|pem|key|token))$/.test(path);
  return isPath ? path : 'what it names (not shown, because it might be the secret itself)';
}

/**
 * The same, as bytes.
 *
 * @param name the name of the file in messages.
 * @throws UsageError as `readSmallFile` does.
 */
export async function readSmallBytes(
  from: string,
  path: string,
  bytesMax: number,
  name = path,
): Promise<Buffer> {
  try {
    // Non-blocking, because opening a pipe that nobody writes to would otherwise never return.
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    return await readAll(file, bytesMax).finally(() => closeSync(file));
  } catch (error) {
    const code = codeOf(error);
    const why = code === undefined ? (error as Error).message : `can't be read (${code})`;
    throw new UsageError(`${from}${name} ${why}.`);
  }
}

async function readAll(file: number, bytesMax: number): Promise<Buffer> {
  const bytes = Buffer.alloc(bytesMax + 1);
  const deadlineMs = performance.now() + pipeMsMax;
  let length = 0;
  for (;;) {
    const count = readMore(file, bytes, length);
    length += count ?? 0;
    if (count === 0) return bytes.subarray(0, length);
    if (length > bytesMax) throw new Error(`has more than ${Math.round(bytesMax / 1024)} KiB`);
    if (count !== null) continue;
    if (performance.now() > deadlineMs) throw new Error('is a pipe that nobody writes to');
    await wait(pipeLookMs);
  }
}

/** How many bytes were read: 0 at the end, null if a pipe has no data yet. */
function readMore(file: number, bytes: Buffer, at: number): number | null {
  try {
    return readSync(file, bytes, at, bytes.length - at, null);
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return null;
    throw error;
  }
}
