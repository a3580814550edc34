import { chownSync, closeSync, openSync, statSync } from 'node:fs';
import { codeOf } from '../../errors.ts';

/**
 * The mode of docmirror's files: only their owner can read them. SQLite gives the files beside a database the mode of the database.
 */
export const privateFileMode = 0o600;

/** The mode of docmirror's folders: only their owner can use them. */
export const privateFolderMode = 0o700;

/**
 * Makes an empty file that only its owner can read, from its first moment on, whatever the umask is.
 *
 * @throws the file system's error; its code is EEXIST if anything is there, even a symbolic link to nothing.
 */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'wx', privateFileMode));
}

/**
 * Gives a file the owner of another one, if the owners differ and this process can do so. Root can run docmirror by hand, and the
 * mirror's usual owner must still be able to use it.
 */
export function shareOwner(path: string, other: string): void {
  const [own, theirs] = [statSync(path), statSync(other, { throwIfNoEntry: false })];
  if (theirs === undefined || (own.uid === theirs.uid && own.gid === theirs.gid)) return;
  try {
    chownSync(path, theirs.uid, theirs.gid);
  } catch (error) {
    // Only root can give files away.
    if (codeOf(error) !== 'EPERM') throw error;
  }
}
