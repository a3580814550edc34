import type Database from 'better-sqlite3';
import { listOf, lists } from '../../contract/lists.ts';
import { changesView } from './changes-view.ts';
import { latestVersionsView, namedView } from './named-views.ts';
import { syncStatusView } from './sync-status-view.ts';
import { onOneLine } from './view-sql.ts';

/** A view of the mirror: its name, and the query behind it. */
interface View {
  readonly name: string;
  readonly query: string;
}

/**
 * All views, in the order in which they are made. This is their one definition: a new mirror and each upgrade use it. A mirror is
 * upgraded when there is a new migration, so a view that changes alone needs an empty one: `drizzle-kit generate --custom`. The
 * columns are declared for TypeScript in `view-columns.ts`.
 */
function views(): View[] {
  return [
    ...lists.map(list => ({ name: `${list.table}_named`, query: namedView(list) })),
    { name: 'latest_versions', query: latestVersionsView(listOf('document-exports')) },
    { name: 'changes', query: changesView() },
    { name: 'sync_status', query: syncStatusView() },
  ];
}

/** Makes the views again. */
export function createViews(sqlite: Database.Database): void {
  // By hand: Drizzle makes no views.
  for (const { name, query } of views())
    sqlite.exec(`DROP VIEW IF EXISTS ${name}; CREATE VIEW ${name} AS ${onOneLine(query)}`);
}

/** The names of docmirror's own views. */
export function viewNames(): string[] {
  return views().map(({ name }) => name);
}
