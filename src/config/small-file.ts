import { closeSync, constants, openSync, readSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** How long a pipe may take to say what it holds, in milliseconds. */
const pipeMsMax = 500;
const pipeLookMs = 10;

/**
 * Reads a file that is known to be small, such as one that holds a token. Whatever lies at the path, this comes back within a
 * second and takes no more memory than the file may have.
 *
 * @throws Error whose message completes "PATH …" in words, and shows nothing of what the file holds.
 */
export async function readSmallFile(path: string, bytesMax: number): Promise<string> {
  return (await readSmallBytes(path, bytesMax)).toString('utf8');
}

/**
 * The same, as bytes.
 *
 * @throws Error as `readSmallFile` does.
 */
export async function readSmallBytes(path: string, bytesMax: number): Promise<Buffer> {
  let file: number;
  try {
    // Without waiting, for a pipe that nobody writes to would otherwise never be open.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw new Error(`can't be read (${codeOf(error)})`);
  }
  try {
    return await readAll(file, bytesMax);
  } finally {
    closeSync(file);
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
    if (length > bytesMax) throw tooLarge(bytesMax);
    if (count !== null) continue;
    if (performance.now() > deadlineMs) throw new Error('is a pipe to which nobody writes');
    await wait(pipeLookMs);
  }
}

/** How many bytes were read: 0 at the end, null where a pipe has nothing to say yet. */
function readMore(file: number, bytes: Buffer, at: number): number | null {
  try {
    return readSync(file, bytes, at, bytes.length - at, null);
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return null;
    throw new Error(`can't be read (${codeOf(error)})`);
  }
}

function tooLarge(bytesMax: number): Error {
  return new Error(`holds more than ${Math.round(bytesMax / 1024)} KiB`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no reason given';
}
