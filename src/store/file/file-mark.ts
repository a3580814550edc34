import { statSync } from 'node:fs';

/**
 * What a mirror's file and its write-ahead log look like from outside: where they lie, how long they are, when they were last
 * written to. As long as that stays, nobody has written to the mirror.
 *
 * @returns a text to be compared with another one of the same file.
 */
export function markOf(file: string): string {
  return [file, `${file}-wal`].map(look).join(' ');
}

function look(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  // A log of no length says as little as none: a reader makes one.
  if (stat === undefined || stat.size === 0n) return 'none';
  const { dev, ino, size, mtimeNs, ctimeNs } = stat;
  return [dev, ino, size, mtimeNs, ctimeNs].join('-');
}

/** True where something stands in the log beside a file: one of no length says as little as none. */
export function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
