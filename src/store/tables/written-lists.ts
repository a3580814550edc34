import { inArray } from 'drizzle-orm';
import { syncRunResources } from './schema.ts';

/**
 * A condition: the run of a record in `sync_run_resources` wrote the list. Any other run left the list as it was, and its record
 * says how.
 */
export const wroteList = inArray(syncRunResources.status, ['completed', 'partial']);

/** The same as SQL by hand; a table's alias and a dot can be before it. */
export const wroteListSql = "status IN ('completed', 'partial')";
