/**
 * A condition in SQL: the run of a record in `sync_run_resources` wrote the list. Any other run left the list as it was, and its
 * record says how. A table's alias and a dot can be before it.
 */
export const wroteListSql = "status IN ('completed', 'partial')";
