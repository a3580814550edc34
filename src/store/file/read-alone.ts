import { resolve } from 'node:path';
// Only Node's own SQLite takes such an address.
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/**
 * Reads a database without what lies beside it: read as a file that can't change, SQLite looks at nothing else, and takes no lock.
 *
 * @returns what was read; null where the file is damaged, or is no database.
 */
export function readAlone<T>(path: string, read: (database: DatabaseSync) => T): T | null {
  const address = pathToFileURL(resolve(path));
  address.searchParams.set('immutable', '1');
  try {
    using database = new DatabaseSync(address, { readOnly: true });
    return read(database);
  } catch {
    return null;
  }
}
