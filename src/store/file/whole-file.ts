import { appendFileSync, rmSync, statSync } from 'node:fs';
import { attempt, codeOf, MirrorFileError, RefusedFileError } from '../../errors.ts';
import type { Sqlite } from '../tables/ask.ts';
import { behindLink, isOpenFile } from './links.ts';
import { busyTimeoutMs, connect, isTooOld, kindOf, kindOfOpen } from './open.ts';
import { privateFileMode } from './rights.ts';
import { explaining } from './sqlite-errors.ts';
import { besides, Unfinished, writing } from './unfinished.ts';

/** An output that appears under its name only when it is complete. */
export class AtomicFile extends Unfinished {
  bytes = 0;

  /**
   * Prepares the file. Nothing is beside its path until the first piece is written: until then a signal can end the program at once. Throws
   * a RefusedFileError if a mirror, a lock or a folder is at the path, or it can't be written.
   */
  constructor(path: string, newMode = privateFileMode) {
    super(replaceable(path), newMode);
    this[Symbol.dispose]();
  }

  write(content: string | Uint8Array): void {
    writing(this.path, () => appendFileSync(this.unfinished, content, { mode: privateFileMode }));
    this.bytes += Buffer.byteLength(content);
  }

  override putInPlace(): void {
    // Nothing was written into an empty file.
    this.write('');
    super.putInPlace();
  }
}

/** A copy of a database that appears under its name only when it is complete. */
export class DatabaseCopy extends Unfinished {
  /** Copies one state of an open database, without free pages, and without bytes of other pages. The copy needs no log. */
  fill(source: Sqlite): void {
    // A reader of a mirror can't write, and SQLite takes this statement for a write. What is written waits for the disk at the end.
    for (const setting of ['query_only = OFF', 'synchronous = OFF', 'secure_delete = ON'])
      source.pragma(setting);
    explaining(this.path, () => source.prepare('VACUUM INTO ?').run(this.unfinished));
  }

  override putInPlace(path = this.path): void {
    // SQLite would use the files of an earlier database for the new one. Until the new one is here, the earlier one must be whole.
    foldLog(path);
    for (const beside of besides) rmSync(`${path}${beside}`, { force: true });
    super.putInPlace(path);
  }
}

/**
 * Writes the log of a database into its file, so that it is whole without it. One that is damaged, or no database, stays as it is. Throws a
 * MirrorFileError if a reader of a mirror is in the way, because its last runs would be lost if this process were killed.
 */
function foldLog(path: string): void {
  const hasLog = besides.some(beside => statSync(`${path}${beside}`, { throwIfNoEntry: false })?.size);
  if (!hasLog) return;
  const isBlocked = attempt(() => {
    using file = connect(path, { fileMustExist: true, timeout: busyTimeoutMs }, () => undefined);
    // To read it also takes back what a killed program left half done.
    const kind = kindOfOpen(file.sqlite);
    const [{ busy }] = file.sqlite.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
    return busy !== 0 && kind === 'mirror';
  });
  if (isBlocked !== true) return;
  throw new MirrorFileError(
    `Another program reads ${path}, whose log can't be written into it meanwhile. Nothing was put in its place; try again when the other program is done.`,
    { code: 'database_locked' },
  );
}

/** Writes an `AtomicFile` in one step: a reader finds the old text or the new one, never a part of either. */
export function writeWhole(path: string, content: string | Uint8Array, newMode = privateFileMode): void {
  using file = new AtomicFile(path, newMode);
  file.write(content);
  file.putInPlace();
}

/** The file that an output replaces, also behind a link. Throws a RefusedFileError if it is a mirror's, or no regular file. */
export function replaceable(path: string): string {
  const refuse = (what: string) =>
    new RefusedFileError(`${path} is ${what}. It was left as it is; name another file.`);
  return writing(path, () => {
    // What standard output is connected to would be replaced, and all that was written to it lost.
    if (isOpenFile(path)) throw refuse('an open file of this process');
    const file = behindLink(path);
    if (/(-(wal|shm|journal)|\.lock)$/.test(file))
      throw refuse('a name that SQLite or docmirror uses beside a mirror');
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) throw refuse('not a regular file');
    const kind = kindOfReadable(path, file);
    if (kind === 'mirror' || isTooOld(kind)) throw refuse('a mirror, or a backup of one');
    return file;
  });
}

/** SQLite opens it: if Node closed a file that SQLite has locked, this process would lose the lock. */
function kindOfReadable(path: string, file: string) {
  try {
    return kindOf(file);
  } catch (cause) {
    const code = codeOf(cause instanceof Error ? cause.cause : undefined);
    if (code !== 'SQLITE_CANTOPEN') throw cause;
    throw new RefusedFileError(
      `${path} can't be read by this user, so it might be a mirror. It was left as it is; correct its permissions, or name another file.`,
      { code: 'output_failed' },
    );
  }
}
