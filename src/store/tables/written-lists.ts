/**
 * SQL that tells of a record in `sync_run_resources` whether its run wrote the list; a table's alias and a dot may stand before it.
 * What ended otherwise left the list as it was, and its record says how that is.
 */
export const wroteList = "status IN ('completed', 'partial')";
