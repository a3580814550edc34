import { openMirrorForReading } from './open.ts';

/** Gives back what a run took of a disk that it filled: SQLite folds the log back and removes it when its last connection ends. */
export function giveRoomBack(path: string): void {
  try {
    openMirrorForReading(path).close();
  } catch {
    // The run failed already, and its own error says more.
  }
}
