import { type MirrorFile, openForReading } from '../file/open.ts';
import type { Sqlite } from '../tables/ask.ts';
import { registerFold } from './records/filter.ts';

export type { Sqlite };

/** Reads a mirror from one state of the file, even if a run writes meanwhile. */
export function readMirror<T>(path: string, read: (sqlite: Sqlite) => T): T {
  using file = opened(path);
  return file.sqlite.transaction(() => read(file.sqlite))();
}

/** Reads rows one at a time, from one state of the file. It is closed when the last is taken, or nobody takes more. */
export function* iterateMirror<T>(path: string, read: (sqlite: Sqlite) => Iterable<T>): Generator<T> {
  using file = opened(path);
  file.sqlite.exec('BEGIN');
  yield* read(file.sqlite);
}

/** The page cache of a connection that only reads, in KiB. A larger one makes nothing faster, and a server has several connections. */
const readingCacheKib = 4 * 1024;

function opened(path: string): MirrorFile {
  const file = openForReading(path);
  registerFold(file.sqlite);
  file.sqlite.pragma(`cache_size = -${readingCacheKib}`);
  return file;
}
