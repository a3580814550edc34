import {
  type ArrayField,
  arrayFields,
  type Field,
  type ListDefinition,
  lists,
  scalarFields,
} from '../../contract/lists.ts';

// SQLite 3.31 and newer can read the views of a share. They have no `->`, which came with 3.38: older versions could not read the file;
// and no `iif`, which came with 3.32. SQLite 3.41 and newer take the type of a column from the CAST of each expression. Older versions
// have types for columns of tables only, also in a subquery, where the last part of a UNION counts.

/** A text that newer SQLite recognises as one. */
export function asText(expression: string): string {
  return `CAST(${expression} AS TEXT)`;
}

/** An integer that newer SQLite recognises as one. */
export function integer(expression: string): string {
  return `CAST(${expression} AS INTEGER)`;
}

/** One of two expressions, by a condition. */
export function choice(condition: string, yes: string, no: string): string {
  return `CASE WHEN ${condition} THEN ${yes} ELSE ${no} END`;
}

/** The newest run that has ended, as a subquery: only the newest of all can be under way. Null if there is none. */
export const newestEndedRun = `(SELECT id - (status = 'running') FROM sync_runs ORDER BY id DESC LIMIT 1)`;

/** When a run finished a list, or else everything. Connections belong to no list. */
export function timeOfRun(runId: string, resource: string): string {
  return asText(`coalesce((SELECT l.completed_at FROM sync_run_resources l WHERE l.run_id = ${runId} AND l.resource = ${resource}),
    (SELECT s.completed_at FROM sync_runs s WHERE s.id = ${runId}))`);
}

/** The same, also with a type for SQLite before 3.41. Turso reads no view that has a UNION in an expression. */
function typedTimeOfRun(runId: string, resource: string): string {
  return `(SELECT l.completed_at FROM sync_run_resources l
      WHERE l.run_id = ${runId} AND l.resource = ${resource} AND l.completed_at IS NOT NULL
    UNION ALL SELECT s.completed_at FROM sync_runs s WHERE s.id = ${runId})`;
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
  return `(SELECT ${choice('k.extra IS NULL', 'k.known', withExtra)} FROM (SELECT ${known} AS known, t._extra AS extra) k)`;
}

/**
 * Adds the further fields `k.extra` to the record `k.known`. A field that its columns can't store is among the further fields, so
 * it is left out of the others.
 */
const withExtra = `(SELECT substr(j, 1, length(j) - 1) || ',' || substr(k.extra, 2) FROM (
  SELECT json_group_object(f.key, json(${choice("f.type IN ('object', 'array')", 'f.value', 'json_quote(f.value)')})) AS j
  FROM json_each(k.known) f WHERE f.key NOT IN (SELECT key FROM json_each(k.extra))))`;

/** A statement that writes a connection in a reference, of its id. */
type Reference = (id: string) => string;

/** JSON of the row `t` without the fields in `_extra`. */
function rowRecord(list: ListDefinition, reference: Reference): string {
  const id = list.identity.by === 'id' ? ["'id', t.id"] : [];
  const fields = list.fields.map(field => `'${field.name}', ${rowValue(list, field, reference)}`);
  return `json_object(${[...id, ...fields].join(', ')})`;
}

function rowValue(list: ListDefinition, field: Field, reference: Reference): string {
  switch (field.kind) {
    case 'text':
    case 'integer':
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
const connectionName = choice(
  "json_type(c._extra, '$.name') IS NULL",
  `',"name":' || json_quote(c.name)`,
  "''",
);

/** JSON of the connection `c` as the service writes it in a reference. */
export const connectionJson = choice(
  'c._extra IS NULL',
  "json_object('id', c.id, 'name', c.name)",
  `'{"id":' || c.id || ${connectionName} || ',' || substr(c._extra, 2)`,
);

/**
 * The changes of ended runs: records inserted, updated and removed. The view has three layers so that SQLite 3.40 can merge all of
 * them into a query. A filter then uses the indexes of each list and of the history, and columns that are not selected are not
 * computed. An aggregate, which old SQLite does not merge, reads only the keys.
 */
export function changesView(): string {
  return `SELECT
    c.run_id, c.changed_at, c.resource, c.record_id, c.operation, c.record, c.before, ${asText(changedFields)} AS changed_fields
  FROM (SELECT
      k.run_id, k.changed_at, k.resource, k.record_id, k.operation,
      ${asText(choice('k.extra IS NULL', 'k.known', withExtra))} AS record, k.before
    FROM (SELECT
        v.run_id, ${typedTimeOfRun('v.run_id', 'v.resource')} AS changed_at, v.resource, v.record_id, v.operation,
        ${knownFields()} AS known, v.extra, ${before} AS before
      FROM (${keys()}) v) k) c`;
}

/** Each change by its run and record; `version_id` is its row in the history if the version has ended. */
function keys(): string {
  const insertOrUpdate = (firstSeen: string, changed: string) =>
    asText(choice(`${firstSeen} = ${changed}`, "'insert'", "'update'"));
  // The plus keeps SQLite from using the index of runs for this bound.
  const isEnded = (runId: string) => `+${runId} <= ${newestEndedRun}`;
  const removals = `SELECT h.valid_to_run_id, h.resource, h.record_id, h.ended_by, ${asText('NULL')}, h.id
    FROM record_history h WHERE h.ended_by = 'removal' AND ${isEnded('h.valid_to_run_id')}`;
  const rows = [...lists, { resource: 'connections', table: 'connections' }].map(
    ({ resource, table }) => `SELECT t._changed_run_id, ${asText(`'${resource}'`)}, t.id,
        ${insertOrUpdate('t._first_seen_run_id', 't._changed_run_id')}, t._extra, ${integer('NULL')}
      FROM ${table} t WHERE ${isEnded('t._changed_run_id')}`,
  );
  const begun = `SELECT h.valid_from_run_id AS run_id, h.resource AS resource, h.record_id AS record_id,
      ${insertOrUpdate('h.first_seen_run_id', 'h.valid_from_run_id')} AS operation, ${asText('NULL')} AS extra, h.id AS version_id
    FROM record_history h WHERE ${isEnded('h.valid_from_run_id')}`;
  return [begun, ...rows, removals].join(' UNION ALL ');
}

/** JSON of a record in the service's own shape, without the fields in `_extra`. */
function knownFields(): string {
  const connection = "json_object('id', t.id, 'name', t.name)";
  return `CASE
    WHEN v.operation = 'removal' THEN (SELECT h.record FROM record_history h WHERE h.id = v.version_id)
    WHEN v.version_id IS NOT NULL THEN CASE v.resource
      ${lists.map(list => `WHEN '${list.resource}' THEN ${endedRecord(list)}`).join(' ')}
      ELSE (SELECT h.record FROM record_history h WHERE h.id = v.version_id) END
    ${lists.map(list => `WHEN v.resource = '${list.resource}' THEN (SELECT ${rowRecord(list, referenceThen)} FROM ${list.table} t WHERE t.id = v.record_id)`).join(' ')}
    ELSE (SELECT ${connection} FROM connections t WHERE t.id = v.record_id)
  END`;
}

/** A connection with the name that it had after the change's run. */
function referenceThen(id: string): string {
  const then = versionOf('c.id', 'n.valid_to_run_id > v.run_id');
  return `(SELECT coalesce(${choice('c._changed_run_id > v.run_id', then, 'NULL')}, ${connectionJson}) FROM connections c WHERE c.id = ${id})`;
}

/** The JSON of the first version of a connection that ended in some runs; null if there is none. */
function versionOf(id: string, condition: string): string {
  return `(SELECT n.record FROM record_history n
    WHERE n.resource = 'connections' AND n.record_id = ${id} AND ${condition} ORDER BY n.valid_from_run_id LIMIT 1)`;
}

/**
 * The record of a version that ended. It was written with the connections' names from just before its end. Connections that were
 * renamed during the version get the names from its beginning. Most versions began after the last renaming, and are used unchanged.
 */
function endedRecord(list: ListDefinition): string {
  const references = [...scalarFields(list), ...arrayFields(list)].filter(({ kind }) =>
    kind.startsWith('connection'),
  );
  const isAsWritten = references.map((_, at) => `n${at} IS NULL`).join(' AND ');
  // A path that does not exist replaces nothing.
  const replaced = references.map(
    ({ name }, at) => `${choice(`n${at} IS NULL`, "'$[0]'", `'$.${name}'`)}, json(n${at})`,
  );
  const names = references.map((field, at) => `${renamedIn(field)} AS n${at}`);
  const withNames = `(SELECT ${choice(isAsWritten, 'h.record', `json_replace(h.record, ${replaced.join(', ')})`)}
    FROM (SELECT ${names.join(', ')}))`;
  return `(SELECT ${choice(`h.valid_from_run_id >= ${lastRenaming}`, 'h.record', withNames)}
    FROM record_history h WHERE h.id = v.version_id)`;
}

const lastRenaming = `(SELECT coalesce(max(n.valid_to_run_id), 0) FROM record_history n WHERE n.resource = 'connections')`;

/** The reference of a version with its connection's old name, if the connection was renamed during the version; null if not. */
function renamedIn({ kind, name }: Field): string {
  if (kind === 'connection') return renamedSince(`json_extract(h.record, '$.${name}.id')`);
  const isObject = "e.type = 'object'";
  const id = `json_extract(${choice(isObject, 'e.value', "'{}'")}, '$.id')`;
  const elements = `SELECT ${renamedSince(id)} AS renamed, ${choice(isObject, 'e.value', 'json_quote(e.value)')} AS value
    FROM json_each(h.record, '$.${name}') e`;
  return `(SELECT ${choice('count(renamed) = 0', 'NULL', 'json_group_array(json(coalesce(renamed, value)))')} FROM (${elements}))`;
}

function renamedSince(id: string): string {
  return versionOf(id, 'n.valid_to_run_id > h.valid_from_run_id AND n.valid_to_run_id < h.valid_to_run_id');
}

// With the plus, SQLite 3.40 does not read all that the run has ended.
const before = `(SELECT b.record FROM record_history b
   WHERE v.operation = 'update' AND b.resource = v.resource AND b.record_id = v.record_id AND +b.valid_to_run_id = v.run_id)`;

const fieldsOfKind = (kind: Field['kind']) =>
  lists
    .flatMap(({ resource, fields }) =>
      fields.filter(field => field.kind === kind).map(({ name }) => `'${resource}.${name}'`),
    )
    .join(', ');

/** The value of a member; of a reference to connections only their ids, so that a new name of a connection changes nothing. */
const comparedValue = `CASE
  WHEN type = 'object' AND c.resource || '.' || key IN (${fieldsOfKind('connection')}) THEN coalesce(json_extract(value, '$.id'), 'null')
  WHEN type = 'array' AND c.resource || '.' || key IN (${fieldsOfKind('connections')}) THEN
    (SELECT json_group_array(${choice("r.type = 'object'", "json_extract(r.value, '$.id')", 'r.value')}) FROM json_each(m.value) r)
  ELSE value END`;

const members = (record: string) =>
  `SELECT key, type, ${comparedValue} AS value, id FROM json_each(${record}) m WHERE type <> 'null'`;

/**
 * The names of the fields in which a record differs from its previous version, in their order; null if one of the two was erased. A
 * field that is null counts as missing: versions that ended before an upgrade do not have the fields that it added.
 */
const changedFields = choice(
  'c.before IS NULL OR c.record IS NULL',
  'NULL',
  `(SELECT json_group_array(key) FROM (
  SELECT key FROM (${members('c.record')} UNION ALL ${members('c.before')})
  GROUP BY key HAVING count(*) = 1 OR min(type) <> max(type) OR min(value) <> max(value) ORDER BY min(id)))`,
);
