import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';

/** The device and the inode of the file that a path leads to now; null if there is none. */
export function fileKey(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}-${stat.ino}`;
}

/** True if both paths lead to one file. */
export function isSameFile(path: string, other: string): boolean {
  const key = fileKey(path);
  return key !== null && key === fileKey(other);
}

/**
 * How a mirror's file and its write-ahead log look from outside: inode, size, times. As long as this text is the same, nobody has
 * written to the mirror.
 */
export function markOf(file: string): string {
  const marks = [file, `${file}-wal`].map(path => {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    // A reader creates an empty log.
    if (stat === undefined || stat.size === 0n) return 'none';
    return [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join('-');
  });
  return marks.join(' ');
}

/** Finds out whether another program has written to a database since the last question. Writes of this connection do not count. */
export class OtherWriters {
  readonly #sqlite: Database.Database;
  #version: unknown;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.haveWritten();
  }

  /**
   * True if others have committed since the last call, or since this object was made; the next call answers for later commits only.
   */
  haveWritten(): boolean {
    const before = this.#version;
    this.#version = this.#sqlite.pragma('data_version', { simple: true });
    return this.#version !== before;
  }
}
