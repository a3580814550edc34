import { existsSync } from 'node:fs';
import { DocmirrorError } from '../../errors.ts';
import { openOfAnyShape } from '../file/open.ts';
import { wroteListSql } from '../tables/ended-runs.ts';

const baseUrlOfMirror = `SELECT r.base_url FROM sync_run_resources l JOIN sync_runs r ON r.id = l.run_id
  WHERE l.${wroteListSql} ORDER BY l.run_id DESC LIMIT 1`;

/**
 * The base address of the service that a mirror is of, whatever its shape; null if there is no mirror, or no run has written
 * anything. It only reads. If the file is damaged, the command that opens it to write reports that.
 */
export function readBaseUrl(path: string): string | null {
  if (!existsSync(path)) return null;
  try {
    const isWritten = "SELECT 1 FROM sqlite_schema WHERE name = 'sync_run_resources'";
    using file = openOfAnyShape(path);
    if (file.sqlite.prepare(isWritten).get() === undefined) return null;
    return file.sqlite.prepare<[], string>(baseUrlOfMirror).pluck().get() ?? null;
  } catch (error) {
    if (!(error instanceof DocmirrorError)) throw error;
    return null;
  }
}
