import type { ArrayField, Field, ListDefinition } from '../../contract/lists.ts';

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

/** JSON of the row `t` of a list in the service's own shape, with the connections' names of now. */
export function rowJson(list: ListDefinition): string {
  const known = rowRecord(list, id => `(SELECT ${connectionJson} FROM connections c WHERE c.id = ${id})`);
  return `(SELECT iif(k.extra IS NULL, k.known, ${withExtra}) FROM (SELECT ${known} AS known, t._extra AS extra) k)`;
}

/**
 * Adds the further fields `k.extra` to the record `k.known`. A field that its columns can't store is among the further fields, so
 * it is left out of the others.
 */
export const withExtra = `(SELECT substr(j, 1, length(j) - 1) || ',' || substr(k.extra, 2) FROM (
  SELECT json_group_object(f.key, json(iif(f.type IN ('object', 'array'), f.value, json_quote(f.value)))) AS j
  FROM json_each(k.known) f WHERE f.key NOT IN (SELECT key FROM json_each(k.extra))))`;

/** A statement that writes a connection in a reference, of its id. */
type Reference = (id: string) => string;

/** JSON of the row `t` without the fields in `_extra`. */
export function rowRecord(list: ListDefinition, reference: Reference): string {
  const id = list.identity.by === 'id' ? ["'id', t.id"] : [];
  const fields = list.fields.map(field => `'${field.name}', ${rowValue(list, field, reference)}`);
  return `json_object(${[...id, ...fields].join(', ')})`;
}

function rowValue(list: ListDefinition, field: Field, reference: Reference): string {
  switch (field.kind) {
    case 'text':
      return `t.${field.column}`;
    case 'connection':
      return `json(${reference(`t.${field.column}`)})`;
    case 'texts':
      return `json(${arrayOf(list, field, 'value', field.column)})`;
    case 'connections': {
      const element = `coalesce(${reference(`a.${field.column}`)}, 'null')`;
      return `json(${arrayOf(list, field, 'json(value)', element)})`;
    }
  }
}

// A name that its column can't store is among the further fields.
const connectionName = `iif(json_type(c._extra, '$.name') IS NULL, ',"name":' || json_quote(c.name), '')`;

/** JSON of the connection `c` as the service writes it in a reference. */
export const connectionJson = `iif(c._extra IS NULL, json_object('id', c.id, 'name', c.name),
    '{"id":' || c.id || ${connectionName} || ',' || substr(c._extra, 2))`;
