import { openMirrorForReading } from './open.ts';

/** Frees the disk space of a failed run's log: SQLite checkpoints the log and removes it when its last connection closes. */
export function giveRoomBack(path: string): void {
  try {
    openMirrorForReading(path).close();
  } catch {
    // The run failed already, and its own error says more.
  }
}
