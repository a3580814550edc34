import { rmSync, truncateSync } from 'node:fs';
import { openMirrorForReading } from './open.ts';
import { stagingPath } from './staging-file.ts';

/**
 * Gives back what a run took of a disk that it filled: the pages that it staged, and then SQLite's log of the mirror, which needs room
 * itself to be folded back. Both files are closed. Nothing is lost: the next run asks for the pages again.
 */
export function giveRoomBack(path: string): void {
  const staging = stagingPath(path);
  try {
    // In place, because the lock is the file. SQLite would need room to delete what is in it.
    rmSync(`${staging}-wal`, { force: true });
    truncateSync(staging);
    // SQLite folds the log back when its last connection ends.
    openMirrorForReading(path).close();
  } catch {
    // The run failed already, and its own error says more.
  }
}
