import { chownSync, closeSync, openSync, statSync } from 'node:fs';
import { codeOf } from '../../errors.ts';

/** Who may read what docmirror writes: its owner alone. SQLite gives the files beside a database the mode of the database. */
export const privateFileMode = 0o600;

/** The rights of folders that docmirror makes: for their owner only. */
export const privateFolderMode = 0o700;

/**
 * Makes an empty file that only its owner can read, from its first moment on, whatever the umask is.
 *
 * @throws the file system's error; its code is EEXIST where anything lies there, also a symbolic link to nothing.
 */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'wx', privateFileMode));
}

/**
 * Gives a file to whom another one belongs, where that is somebody else and this process may: root may work on a mirror by hand, and
 * those that run it must still be able to.
 */
export function shareOwner(path: string, other: string): void {
  const [own, theirs] = [statSync(path), statSync(other, { throwIfNoEntry: false })];
  if (theirs === undefined || (own.uid === theirs.uid && own.gid === theirs.gid)) return;
  try {
    chownSync(path, theirs.uid, theirs.gid);
  } catch (error) {
    // Who is not root keeps what they made.
    if (codeOf(error) !== 'EPERM') throw error;
  }
}
