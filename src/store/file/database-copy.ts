import { rmSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { explaining } from './sqlite-errors.ts';
import { besides, Unfinished } from './unfinished.ts';

/** A copy of a database that appears under its name only when it is complete. */
export class DatabaseCopy extends Unfinished {
  /** Copies one state of an open database, without free pages, and without bytes of other pages. The copy needs no log. */
  fill(source: Database.Database): void {
    // A reader of a mirror can't write, and SQLite takes this statement for a write. What is written waits for the disk at the end.
    for (const setting of ['query_only = OFF', 'synchronous = OFF', 'secure_delete = ON'])
      source.pragma(setting);
    explaining(this.path, () => source.prepare('VACUUM INTO ?').run(this.unfinished));
  }

  override putInPlace(path = this.path): void {
    // SQLite would use the files of an earlier database for the new one.
    for (const beside of besides) rmSync(`${path}${beside}`, { force: true });
    super.putInPlace(path);
  }
}
