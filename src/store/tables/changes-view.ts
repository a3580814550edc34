import { arrayFields, type Field, type ListDefinition, lists, scalarFields } from '../../contract/lists.ts';
import {
  connectionJson,
  integer,
  newestEndedRun,
  rowRecord,
  text,
  timeOfRun,
  withExtra,
} from './view-sql.ts';

/**
 * The changes of ended runs: records inserted, updated and removed. The view has three layers so that SQLite 3.40 can merge all of
 * them into a query. A filter then uses the indexes of each list and of the history, and columns that are not selected are not
 * computed. An aggregate, which old SQLite does not merge, reads only the keys.
 */
export function changesView(): string {
  return `SELECT
    c.run_id, c.changed_at, c.resource, c.record_id, c.operation, c.record, c.before, ${text(changedFields)} AS changed_fields
  FROM (SELECT
      k.run_id, k.changed_at, k.resource, k.record_id, k.operation,
      ${text(`iif(k.extra IS NULL, k.known, ${withExtra})`)} AS record, k.before
    FROM (SELECT
        v.run_id, ${timeOfRun('v.run_id', 'v.resource')} AS changed_at, v.resource, v.record_id, v.operation,
        ${knownFields()} AS known, v.extra, ${text(before)} AS before
      FROM (${keys()}) v) k) c`;
}

/** Each change by its run and record; `version_id` is its row in the history if the version has ended. */
function keys(): string {
  const insertOrUpdate = (firstSeen: string, changed: string) =>
    text(`iif(${firstSeen} = ${changed}, 'insert', 'update')`);
  // The plus keeps SQLite from using the index of runs for this bound.
  const isEnded = (runId: string) => `+${runId} <= ${newestEndedRun}`;
  const removals = `SELECT h.valid_to_run_id AS run_id, h.resource AS resource, h.record_id AS record_id,
      ${text("'removal'")} AS operation, ${text('NULL')} AS extra, h.id AS version_id
    FROM record_history h WHERE h.ended_by = 'removal' AND ${isEnded('h.valid_to_run_id')}`;
  const rows = [...lists, { resource: 'connections', table: 'connections' }].map(
    ({ resource, table }) => `SELECT t._changed_run_id, ${text(`'${resource}'`)}, t.id,
        ${insertOrUpdate('t._first_seen_run_id', 't._changed_run_id')}, t._extra, ${integer('NULL')}
      FROM ${table} t WHERE ${isEnded('t._changed_run_id')}`,
  );
  const begun = `SELECT h.valid_from_run_id, h.resource, h.record_id,
      ${insertOrUpdate('h.first_seen_run_id', 'h.valid_from_run_id')}, ${text('NULL')}, h.id
    FROM record_history h WHERE ${isEnded('h.valid_from_run_id')}`;
  return [removals, ...rows, begun].join(' UNION ALL ');
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
  return `(SELECT coalesce(iif(c._changed_run_id > v.run_id, ${then}, NULL), ${connectionJson}) FROM connections c WHERE c.id = ${id})`;
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
  const parts = [
    ...scalarFields(list).flatMap(({ kind, name }) => (kind === 'connection' ? [renamedIn(name)] : [])),
    ...arrayFields(list).flatMap(({ kind, name }) => (kind === 'connections' ? [renamedInArray(name)] : [])),
  ];
  const isAsWritten = parts.map((_, at) => `n${at} IS NULL`).join(' AND ');
  // A path that does not exist replaces nothing.
  const replaced = parts.map(({ path }, at) => `iif(n${at} IS NULL, '$[0]', '${path}'), json(n${at})`);
  const names = parts.map(({ renamed }, at) => `${renamed} AS n${at}`);
  const withNames = `(SELECT iif(${isAsWritten}, h.record, json_replace(h.record, ${replaced.join(', ')}))
    FROM (SELECT ${names.join(', ')}))`;
  return `(SELECT iif(h.valid_from_run_id >= ${lastRenaming}, h.record, ${withNames})
    FROM record_history h WHERE h.id = v.version_id)`;
}

const lastRenaming = `(SELECT coalesce(max(n.valid_to_run_id), 0) FROM record_history n WHERE n.resource = 'connections')`;

/** The reference of a version with its connection's old name, if the connection was renamed during the version; null if not. */
function renamedIn(name: string): { path: string; renamed: string } {
  return { path: `$.${name}`, renamed: renamedSince(`json_extract(h.record, '$.${name}.id')`) };
}

function renamedInArray(name: string): { path: string; renamed: string } {
  const id = `json_extract(iif(e.type = 'object', e.value, '{}'), '$.id')`;
  const elements = `SELECT ${renamedSince(id)} AS renamed, iif(e.type = 'object', e.value, json_quote(e.value)) AS value
    FROM json_each(h.record, '$.${name}') e`;
  const renamed = `(SELECT iif(count(renamed) = 0, NULL, json_group_array(json(coalesce(renamed, value)))) FROM (${elements}))`;
  return { path: `$.${name}`, renamed };
}

function renamedSince(id: string): string {
  return versionOf(id, 'n.valid_to_run_id > h.valid_from_run_id AND n.valid_to_run_id < h.valid_to_run_id');
}

// With the plus, SQLite 3.40 does not read all that the run has ended.
const before = `iif(v.operation = 'update',
  (SELECT b.record FROM record_history b
   WHERE b.resource = v.resource AND b.record_id = v.record_id AND +b.valid_to_run_id = v.run_id), NULL)`;

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
    (SELECT json_group_array(iif(r.type = 'object', json_extract(r.value, '$.id'), r.value)) FROM json_each(m.value) r)
  ELSE value END`;

const members = (record: string) =>
  `SELECT key, type, ${comparedValue} AS value, id FROM json_each(${record}) m WHERE type <> 'null'`;

/**
 * The names of the fields in which a record differs from its previous version, in their order; null if one of the two was erased. A
 * field that is null counts as missing: versions that ended before an upgrade do not have the fields that it added.
 */
const changedFields = `iif(c.before IS NULL OR c.record IS NULL, NULL, (SELECT json_group_array(key) FROM (
  SELECT key FROM (${members('c.record')} UNION ALL ${members('c.before')})
  GROUP BY key HAVING count(*) = 1 OR min(type) <> max(type) OR min(value) <> max(value) ORDER BY min(id))))`;
