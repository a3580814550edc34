import { closeSync, openSync, readSync } from 'node:fs';

/** The first bytes of a file, fewer where it is shorter. */
export function firstBytes(path: string, count: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(count);
    return bytes.subarray(0, readSync(file, bytes, 0, count, 0));
  } finally {
    closeSync(file);
  }
}
