import { existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { attempt, codeOf, DocmirrorError } from '../../errors.ts';
import { firstValue, type Sqlite } from '../tables/ask.ts';
import { assertNoMount } from './lock-trial.ts';
import { applicationIds, connect, kindOfOpen, kindWithin, refusal } from './open.ts';
import { makePrivateFile, shareOwner } from './rights.ts';
import { explaining } from './sqlite-errors.ts';

/** How long a run waits for a process that only checks whether the lock is held, in milliseconds. */
const lookMsMax = 300;

/** The path of a mirror's lock: beside the mirror's file itself, not beside a symbolic link to it. */
export function lockPath(file: string): string {
  return `${file}.lock`;
}

/** True if a run is using the mirror, or this user has no permission to look. It changes nothing. */
export function isHeld(file: string): boolean {
  const path = lockPath(file);
  return existsSync(path) && attempt(() => kindWithin(lookMsMax, path)) === null;
}

/** Makes sure that a run could take the lock now, or throws what the lock itself would. A run that begins meanwhile waits for it. */
export function assertFree(file: string): void {
  const path = lockPath(file);
  if (existsSync(path)) locking(path, () => assertLock(path, kindWithin(lookMsMax, path)));
}

function assertLock(path: string, kind: ReturnType<typeof kindOfOpen>): void {
  if (kind !== 'lock' && kind !== 'empty') throw refusal(path, kind);
}

/** As `explaining`, for a lock: what has it locked is another run. */
function locking<T>(path: string, work: () => T): T {
  try {
    return explaining(path, work);
  } catch (error) {
    if (codeOf(error) !== 'database_locked') throw error;
    const message = 'Another run is using this mirror. Wait until it is done, or stop it.';
    throw new DocmirrorError('mirror_busy', message);
  }
}

/** A mirror's lock: a file under an exclusive lock of SQLite, which ends with the process. It stays, because others might wait for it. */
export class MirrorLock implements Disposable {
  readonly #sqlite;

  /** @throws `mirror_busy` if another process has it; RefusedFileError if something else is at its path. */
  constructor(file: string) {
    const path = lockPath(file);
    assertNoMount(file);
    const opened = locking(path, () => {
      if (!existsSync(path)) makePrivateFile(path);
      return connect(path, { timeout: lookMsMax }, sqlite => {
        const kind = kindOfOpen(sqlite);
        assertLock(path, kind);
        for (const setting of ['query_only = OFF', 'locking_mode = EXCLUSIVE']) sqlite.pragma(setting);
        const table = 'CREATE TABLE IF NOT EXISTS mirror_mark (mark TEXT NOT NULL) STRICT';
        const made = kind === 'empty' ? `${table}; PRAGMA application_id = ${applicationIds.lock};` : '';
        sqlite.exec(`BEGIN EXCLUSIVE; ${made} COMMIT`);
      });
    });
    this.#sqlite = opened.sqlite;
    // Root can restore a mirror, and its usual owner must still be able to use the lock.
    shareOwner(path, file);
  }

  /** How the mirror's file looked when a run left it, see `markOf`; null if this is not known. */
  mark(): string | null {
    return firstValue(this.#sqlite, 'SELECT mark FROM mirror_mark');
  }

  /** Notes how a run leaves the mirror's file; null means that the next run must check the file. */
  setMark(mark: string | null): void {
    try {
      this.#sqlite.exec('DELETE FROM mirror_mark');
      if (mark !== null) this.#sqlite.prepare('INSERT INTO mirror_mark (mark) VALUES (?)').run(mark);
    } catch (error) {
      // If the disk is full, the next run reads every row, and nothing else is lost.
      if (!(error instanceof Database.SqliteError)) throw error;
    }
  }

  release(): void {
    this.#sqlite.close();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

/** How a mirror's file and its log look from outside. As long as this text is the same, nobody has written to the mirror. */
export function markOf(file: string): string {
  const marks = [file, `${file}-wal`].map(path => {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    // A reader creates an empty log.
    return !stat?.size ? 'none' : [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join('-');
  });
  return marks.join(' ');
}

/** Finds out whether other programs have committed to a database since the last question. */
export function otherWriters(sqlite: Sqlite): () => boolean {
  const versionNow = () => sqlite.pragma('data_version', { simple: true });
  let version = versionNow();
  return () => {
    const before = version;
    version = versionNow();
    return version !== before;
  };
}
