import type { ArrayField, ListDefinition } from '../../contract/lists.ts';

// SQLite 3.37 and newer can read the views. They have no `->`, which came with 3.38: older versions could not read the file. SQLite
// 3.41 and newer take the type of a column from the CAST of each expression.

/** A text that newer SQLite recognises as one. */
export function text(expression: string): string {
  return `CAST(${expression} AS TEXT)`;
}

/** An integer that newer SQLite recognises as one. */
export function integer(expression: string): string {
  return `CAST(${expression} AS INTEGER)`;
}

/** A statement on one line, because `drizzle-kit pull` accepts no view with line breaks. */
export function onOneLine(sql: string): string {
  return sql.replaceAll(/\s+/g, ' ').trim();
}

/** The newest run that has ended, as a subquery: only the newest of all can be under way. Null if there is none. */
export const newestEndedRun = `(SELECT id - (status = 'running') FROM sync_runs ORDER BY id DESC LIMIT 1)`;

/** When a run finished a list, or else everything. Connections belong to no list. */
export function timeOfRun(runId: string, resource: string): string {
  return text(
    `coalesce(
      (SELECT l.completed_at FROM sync_run_resources l WHERE l.run_id = ${runId} AND l.resource = ${resource}),
      (SELECT s.completed_at FROM sync_runs s WHERE s.id = ${runId}))`,
  );
}

/**
 * JSON array of one of a row's arrays, in order; the row is `t`. The order is in a subquery, because SQLite before 3.44 can't order
 * in an aggregate. In a subquery, a JSON text is plain text, so `element` says again what `value` is.
 */
export function arrayOf(
  { ownerColumn }: ListDefinition,
  { table }: ArrayField,
  element: string,
  value: string,
): string {
  return `(SELECT json_group_array(${element}) FROM
    (SELECT ${value} AS value FROM ${table} a WHERE a.${ownerColumn} = t.id ORDER BY a.position))`;
}
