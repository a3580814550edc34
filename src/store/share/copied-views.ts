import Database from 'better-sqlite3';
import { viewNames } from '../tables/views.ts';
import { quoted } from './copied-tables.ts';

// All by hand: views that are found in the file.

interface View {
  readonly name: string;
  readonly sql: string;
}

/** Makes the mirror's views in the share. SQLite does not check the tables that they name. */
export function copyViews(sqlite: Database.Database): void {
  const views = sqlite.prepare<[], View>(
    "SELECT name, sql FROM mirror.sqlite_schema WHERE type = 'view' ORDER BY rowid",
  );
  for (const { sql } of views.all()) sqlite.exec(sql);
}

/**
 * Drops views that can't be read in the share, for example views of tables that it does not contain.
 *
 * @param whose docmirror's own views, or those of others.
 * @returns their names.
 */
export function dropUnreadableViews(sqlite: Database.Database, whose: 'own' | 'others'): string[] {
  const own = viewNames();
  const dropped: string[] = [];
  // A view can read another one that is dropped.
  for (let found = unreadableViews(sqlite); ; found = unreadableViews(sqlite)) {
    const unreadable = found.filter(({ name }) => own.includes(name) === (whose === 'own'));
    for (const { name } of unreadable) sqlite.exec(`DROP VIEW ${quoted(name)}`);
    dropped.push(...unreadable.map(({ name }) => name));
    if (unreadable.length === 0) return dropped;
  }
}

/** The views that can't be read, each with SQLite's error message. */
export function unreadableViews(sqlite: Database.Database): { name: string; why: string }[] {
  const names = sqlite.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'view'").pluck();
  return names.all().flatMap(name => {
    try {
      sqlite.prepare(`SELECT * FROM ${quoted(name)}`);
      return [];
    } catch (error) {
      if (!(error instanceof Database.SqliteError)) throw error;
      return [{ name, why: error.message }];
    }
  });
}
