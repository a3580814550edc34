import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, UsageError } from '../errors.ts';

/** How long a pipe may take to say what it holds, in milliseconds. */
const pipeMsMax = 500;
const pipeLookMs = 10;

/**
 * Reads a file that is known to be small, such as one that holds a token. Whatever lies at the path, this comes back within a
 * second and takes no more memory than the file may have.
 *
 * @param from what the error begins with: the flag or variable that named the file, and a colon.
 * @param name what the file is called in messages.
 * @throws UsageError that shows nothing of what the file holds.
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
 * Names a file that holds a secret, in messages: where there is none of that name, the secret itself may have been put there, so only
 * what is plainly a path is shown.
 */
export function nameOfSecretFile(path: string): string {
  const isPath = existsSync(path) || /^((~|\.{0,2})\/.*|[\w-]+\.(txt|pem|key|token))$/.test(path);
  return isPath ? path : 'what it names (not shown, because it might be the secret itself)';
}

/**
 * The same, as bytes.
 *
 * @param name what the file is called in messages.
 * @throws UsageError as `readSmallFile` does.
 */
export async function readSmallBytes(
  from: string,
  path: string,
  bytesMax: number,
  name = path,
): Promise<Buffer> {
  try {
    // Without waiting, for a pipe that nobody writes to would otherwise never be open.
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

/** How many bytes were read: 0 at the end, null where a pipe has nothing to say yet. */
function readMore(file: number, bytes: Buffer, at: number): number | null {
  try {
    return readSync(file, bytes, at, bytes.length - at, null);
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return null;
    throw error;
  }
}
