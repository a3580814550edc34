import { basename } from 'node:path';
import { UsageError } from '../errors.ts';
import { printable, printableLines } from '../printable.ts';
import { bytesText, counted } from '../render/numbers.ts';
import { isStandardOutput } from '../store/file/links.ts';
import { AtomicFile, writeWhole } from '../store/file/whole-file.ts';
import { TimeSlice } from '../time-slice.ts';
import type { Context } from './command.ts';
import { typed } from './flags.ts';

/** Pieces are collected up to this length before they are written, because one call for each line is slow. */
const chunkLength = 64 * 1024;

type Outside = Pick<Context, 'stdout' | 'signal' | 'line'>;

type Pieces = Iterable<string | Uint8Array>;
type Asked = { readonly format: string; readonly out: string | null };

function* chunksOf(pieces: Pieces): Generator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    waiting.push(bytes);
    length += bytes.length;
    if (length < chunkLength) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    length = 0;
  }
  yield Buffer.concat(waiting);
}

/** Counts rows as they are read. */
export class Tally {
  count = 0;

  /** The same rows. The count begins again. */
  *of<T>(rows: Iterable<T>): Generator<T> {
    this.count = 0;
    for (const row of rows) {
      this.count++;
      yield row;
    }
  }
}

/** Writes pieces into a file. From the first one on a signal ends this with an error, so that the unfinished file is removed. */
export async function fill(file: AtomicFile, pieces: Pieces, io: Omit<Outside, 'stdout'>): Promise<void> {
  let slice: TimeSlice | null = null;
  const said = () => io.line.work(`writing ${basename(file.path)}, ${bytesText(file.bytes)}`);
  said();
  for (const chunk of chunksOf(pieces)) {
    // The process is told of signals from here on, and not before: until the first row, only the signal itself can end a statement.
    slice ??= new TimeSlice(io.signal);
    file.write(chunk);
    if (!slice.isOver) continue;
    said();
    await slice.next();
  }
  await slice?.next();
}

/** The flag that names a file for the output. */
export const outFlag = {
  ...typed('FILE'),
  help: 'write to this file instead; it gets its name when it is complete',
};

/** A text for standard output: the one that is given or, if it goes into a file, that it was written there. Throws a RefusedFileError. */
export function put(text: string, out: string | null): string {
  if (out === null || out === '-' || isStandardOutput(out)) return text;
  writeWhole(out, text);
  return `Wrote ${printable(out)} (${bytesText(Buffer.byteLength(text))}).\n`;
}

/** Writes pieces to standard output, or whole or not at all to a file; false if nobody read them to the end. Throws a UsageError. */
export async function deliver(pieces: Pieces, rows: Tally, { format, out }: Asked, io: Outside) {
  const { stdout } = io;
  if (out !== null && out !== '-' && !isStandardOutput(out)) {
    using file = new AtomicFile(out);
    await fill(file, pieces, io);
    file.putInPlace();
    await io.line.clear();
    stdout.write(`${printable(out)}: ${counted(rows.count, 'row')}, ${bytesText(file.bytes)}.\n`);
    return true;
  }
  if ((format === 'parquet' || format === 'xlsx') && stdout.isTTY)
    throw new UsageError(`--format ${format} is not for a terminal. Name a file with --out.`);
  io.line.work('asking the mirror');
  // Files and other programs get the texts as they are. A terminal would obey them.
  const isObeyed = stdout.isTTY === true && format === 'csv';
  const shown = isObeyed ? Iterator.from(pieces).map(piece => printableLines(String(piece))) : pieces;
  for (const chunk of chunksOf(shown)) {
    await io.line.clear();
    const error = await new Promise(resolve => stdout.write(chunk, resolve));
    if (error instanceof Error) return false;
  }
  return true;
}
