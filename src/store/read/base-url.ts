import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';

const baseUrlOfMirror = `SELECT r.base_url FROM sync_run_resources l JOIN sync_runs r ON r.id = l.run_id
  WHERE l.record_count IS NOT NULL ORDER BY l.run_id DESC LIMIT 1`;

/**
 * The base address of the service that a mirror is of, whatever its shape; null where there is no mirror, or no run has written
 * anything. It only reads: what is wrong with the file is said by who opens it.
 */
export function readBaseUrl(path: string): string | null {
  if (!existsSync(path)) return null;
  try {
    const sqlite = new Database(path, { readonly: true, fileMustExist: true });
    try {
      return sqlite.prepare<[], string>(baseUrlOfMirror).pluck().get() ?? null;
    } finally {
      sqlite.close();
    }
  } catch {
    return null;
  }
}
