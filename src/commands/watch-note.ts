import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** What a watch leaves beside the mirror while it lives, so that `status` can tell when the next run is due. */
export interface WatchNote {
  readonly schedule: string;
  readonly timezone: string;
  readonly nextRunAt: string;
}

/** The note of a mirror's watch lies beside it. */
export function watchNotePath(database: string): string {
  return `${database}.watch`;
}

/** Writes the note anew, in one step. It is a hint: where it can't be written, nothing else is the worse for it. */
export function writeWatchNote(database: string, note: WatchNote): void {
  const path = watchNotePath(database);
  try {
    writeFileSync(`${path}.new`, `${JSON.stringify(note)}\n`);
    renameSync(`${path}.new`, path);
  } catch {
    removeWatchNote(database);
  }
}

export function removeWatchNote(database: string): void {
  for (const path of [watchNotePath(database), `${watchNotePath(database)}.new`]) {
    try {
      rmSync(path, { force: true });
    } catch {
      // A folder that can't be written holds no note either.
    }
  }
}

/** The note of the watch that keeps this mirror; null where none does, or its note can't be read. */
export function readWatchNote(database: string): WatchNote | null {
  try {
    const note: unknown = JSON.parse(readFileSync(watchNotePath(database), 'utf8'));
    return isNote(note) ? note : null;
  } catch {
    return null;
  }
}

function isNote(value: unknown): value is WatchNote {
  if (typeof value !== 'object' || value === null) return false;
  const { schedule, timezone, nextRunAt } = value as Record<string, unknown>;
  const areTexts = [schedule, timezone, nextRunAt].every(text => typeof text === 'string');
  return areTexts && !Number.isNaN(Date.parse(nextRunAt as string));
}
