import { closeSync, openSync } from 'node:fs';

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
