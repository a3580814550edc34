import { chmodSync, chownSync, closeSync, openSync, statSync } from 'node:fs';
import { attempt } from '../../errors.ts';

/** The mode of docmirror's files: only their owner can read them. SQLite gives the files beside a database the mode of the database. */
export const privateFileMode = 0o600;

/** Makes an empty file that only its owner can read, whatever the umask is, unless there is a file already. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', privateFileMode));
}

/** Gives a file the owner of another one, if there is one: root can run docmirror by hand, and the usual owner must still be able to. */
export function shareOwner(path: string, other: string): void {
  // Only root can give files away.
  attempt(() => {
    const { uid, gid } = statSync(other);
    chownSync(path, uid, gid);
  });
}

/** Gives a file the owner, group and mode of the one that it will replace, as far as this user can; or `newMode` if there is none. */
export function takeRights(path: string, other: string, newMode: number): void {
  const old = statSync(other, { throwIfNoEntry: false });
  if (old === undefined) return void chmodSync(path, newMode);
  // Only root can give files away, and others only to a group that they are in.
  [old.uid, statSync(path).uid].some(uid => attempt(() => chownSync(path, uid, old.gid)) !== null);
  // Without the group, its members keep no more rights than everybody has.
  const mode = old.mode & 0o777;
  const ofAll = (mode & 0o7) << 3;
  chmodSync(path, statSync(path).gid === old.gid ? mode : mode & (0o707 | ofAll));
}
