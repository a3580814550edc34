import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { bytesText, counted } from '../render/numbers.ts';
import { isBinary } from '../render/table-file.ts';
import { AtomicFile } from '../store/file/atomic-file.ts';
import { TimeSlice } from '../time-slice.ts';
import type { Output } from './io.ts';

/** Pieces are collected up to this length before they are written, because one call for each line is slow. */
const chunkLength = 64 * 1024;

/** Writes pieces as fast as the reader takes them, and ends with false if nobody reads them any more. */
async function streamOut(stream: Writable, pieces: Iterable<string | Uint8Array>): Promise<boolean> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  let isLost = false;
  const lose = () => {
    isLost = true;
  };
  const flush = async () => {
    if (!stream.write(Buffer.concat(waiting))) await once(stream, 'drain').catch(lose);
    // A write that failed is reported on the next turn.
    else await nextTurn();
    waiting = [];
    length = 0;
  };
  stream.once('error', lose);
  for (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    waiting.push(bytes);
    length += bytes.length;
    if (length >= chunkLength) await flush();
    if (isLost) break;
  }
  if (!isLost) await flush();
  stream.off('error', lose);
  return !isLost;
}

/** @throws UsageError if a format that is not text would go to a terminal. */
export function assertNoTerminal(format: string, out: string | null, stdout: Output): void {
  if (isBinary(format) && out === null && stdout.isTTY)
    throw new UsageError(`--format ${format} is not for a terminal. Name a file with --out.`);
}

/** Writes pieces into a file, and makes sure that they are on the disk. */
export async function fill(file: AtomicFile, pieces: Iterable<string | Uint8Array>): Promise<void> {
  const slice = new TimeSlice(null);
  for (const piece of pieces) {
    file.write(piece);
    if (slice.isOver) await slice.next();
  }
  file.finish();
}

/** Writes pieces to standard output or, whole or not at all, to the file that --out names; false if nobody read them to the end. */
export async function deliver(
  pieces: Iterable<string | Uint8Array>,
  { out, stdout }: { readonly out: string | null; readonly stdout: Output },
  rowCount: () => number,
): Promise<boolean> {
  if (out === null) return streamOut(stdout, pieces);
  using file = new AtomicFile(out);
  await fill(file, pieces);
  file.putInPlace();
  stdout.write(`${printable(out)}: ${counted(rowCount(), 'row')}, ${bytesText(file.bytes)}.\n`);
  return true;
}
