import type Database from 'better-sqlite3';
import {
  type ArrayField,
  arrayFields,
  type Field,
  type ListDefinition,
  lists,
  scalarFields,
} from '../../contract/lists.ts';

/** A view of the mirror: its name, and the query that it stands for. */
interface View {
  readonly name: string;
  readonly query: string;
}

const provenance = ['_first_seen_run_id', '_changed_run_id', '_extra'];

/**
 * All views, in the order in which they are made. This is their one definition: they are made from it in a new mirror, and
 * anew at each upgrade. A mirror is upgraded when there is a new migration, so a view that changes alone needs an empty one:
 * `drizzle-kit generate --custom`.
 */
function views(): View[] {
  return [
    ...lists.map(named),
    { name: '_connection_refs', query: connectionRefs() },
    { name: 'changes', query: changes() },
    { name: 'sync_status', query: syncStatus() },
  ];
}

/** Makes the views in a mirror that has none of them. */
export function createViews(sqlite: Database.Database): void {
  for (const { name, query } of views()) sqlite.exec(`CREATE VIEW ${name} AS\n${query}`);
}

/** The names of docmirror's own views. */
export function viewNames(): string[] {
  return views().map(({ name }) => name);
}

/** A list with the names of its connections beside the ids. */
function named(list: ListDefinition): View {
  const scalars = scalarFields(list);
  const references = scalars.filter(({ kind }) => kind === 'connection').map(({ column }) => column);
  const alias = (column: string) => `c${references.indexOf(column) + 1}`;
  const columns = [
    't.id',
    ...scalars.flatMap(({ kind, column }) =>
      kind === 'connection'
        ? [`t.${column}`, `${alias(column)}.name AS ${nameColumn(column)}`]
        : [`t.${column}`],
    ),
    ...arrayFields(list).flatMap(field => namedArray(list, field)),
    ...provenance.map(column => `t.${column}`),
  ];
  const joins = references.map(
    column => `LEFT JOIN connections ${alias(column)} ON ${alias(column)}.id = t.${column}`,
  );
  const query = [`SELECT\n  ${columns.join(',\n  ')}`, `FROM ${list.table} t`, ...joins].join('\n');
  return { name: `${list.table}_named`, query };
}

function namedArray(list: ListDefinition, field: ArrayField): string[] {
  const { kind, column } = field;
  const values = `${arrayOf(list, field, 'value', column)} AS ${column}s`;
  if (kind === 'texts') return [values];
  const name = `(SELECT name FROM connections WHERE id = a.${column})`;
  return [values, `${arrayOf(list, field, 'value', name)} AS ${nameColumn(column)}s`];
}

function nameColumn(idColumn: string): string {
  return idColumn.replace(/_id$/, '_name');
}

/** A connection as the service writes it where it refers to one. */
function connectionRefs(): string {
  return `SELECT id,
  iif(_extra IS NULL, json_object('id', id, 'name', name),
    '{"id":' || id ||
      -- A name that its column could not hold stands among the further fields.
      iif(iif(json_valid(_extra), json_type(_extra, '$.name'), NULL) IS NULL, ',"name":' || json_quote(name), '') ||
      ',' || substr(_extra, 2)) AS ref
FROM connections`;
}

/**
 * What was inserted, updated and removed, by run. A version that still stands is its row; one that ended is in
 * record_history. Removals stand first: in a run of 0.1.0 a connection could go with one list and come back with the next.
 */
function changes(): string {
  const standing = [
    ...lists.map(list => ({ resource: list.resource, table: list.table, record: wireRecord(list) })),
    { resource: 'connections', table: 'connections', record: "json_object('id', t.id, 'name', t.name)" },
  ];
  return `SELECT v.run_id, coalesce(r.completed_at, s.completed_at) AS changed_at, v.resource, v.record_id, v.operation,
  -- A field that its columns could not hold stands whole among the extra ones, so it is left out of the others.
  iif(v.extra IS NULL, v.record,
    (SELECT substr(known, 1, length(known) - 1) FROM
      (SELECT json_group_object(f.key, v.record -> ('$.' || f.key)) AS known FROM json_each(v.record) f
       WHERE f.key NOT IN (SELECT key FROM json_each(v.extra)))) || ',' || substr(v.extra, 2)) AS record
FROM (
  SELECT h.valid_to_run_id AS run_id, h.resource AS resource, h.record_id AS record_id, 'removal' AS operation,
    h.record AS record, NULL AS extra
  FROM record_history h
  WHERE h.ended_by = 'removal'
  ${standing
    .map(
      ({ resource, table, record }) => `UNION ALL
  SELECT t._changed_run_id, '${resource}', t.id,
    iif(t._first_seen_run_id = t._changed_run_id, 'insert', 'update'),
    ${record},
    t._extra
  FROM ${table} t`,
    )
    .join('\n  ')}
  UNION ALL
  SELECT h.valid_from_run_id, h.resource, h.record_id,
    iif(h.first_seen_run_id = h.valid_from_run_id, 'insert', 'update'), h.record, NULL
  FROM record_history h
) v
LEFT JOIN sync_runs s ON s.id = v.run_id
LEFT JOIN sync_run_resources r ON r.run_id = v.run_id AND r.resource = v.resource`;
}

/** JSON of a list's row `t` in the service's own shape, but for what stands in `_extra`. */
function wireRecord(list: ListDefinition): string {
  const id = list.identity.by === 'id' ? ["'id', t.id"] : [];
  const fields = list.fields.map(field => `'${field.name}', ${wireValue(list, field)}`);
  return `json_object(\n      ${[...id, ...fields].join(',\n      ')}\n    )`;
}

function wireValue(list: ListDefinition, field: Field): string {
  switch (field.kind) {
    case 'text':
    case 'integer':
      return `t.${field.column}`;
    case 'connection':
      return `json((SELECT ref FROM _connection_refs WHERE id = t.${field.column}))`;
    case 'texts':
      return `json(${arrayOf(list, field, 'value', field.column)})`;
    case 'connections': {
      const ref = `(SELECT ref FROM _connection_refs WHERE id = a.${field.column})`;
      return `json(${arrayOf(list, field, 'json(value)', `coalesce(${ref}, 'null')`)})`;
    }
  }
}

/**
 * JSON array of one of a row's arrays, in order. The order stands in a subquery: SQLite before 3.44 knows none in an
 * aggregate, and could then read nothing of the file. There a JSON text is text, so `element` says again what `value` is.
 */
function arrayOf(
  { ownerColumn }: ListDefinition,
  { table }: ArrayField,
  element: string,
  value: string,
): string {
  return `(SELECT json_group_array(${element}) FROM
        (SELECT ${value} AS value FROM ${table} a WHERE a.${ownerColumn} = t.id ORDER BY a.position))`;
}

/** How each list stands: its last completed run, its age, how many records it has, and the verdict of its last run. */
function syncStatus(): string {
  const counts = lists
    .map(
      ({ resource, table }) =>
        `SELECT '${resource}' AS resource, (SELECT count(*) FROM ${table}) AS record_count`,
    )
    .join('\n  UNION ALL ');
  const newest = (where: string) =>
    `(SELECT max(run_id) FROM sync_run_resources WHERE resource = l.resource${where})`;
  return `SELECT
  l.resource,
  l.record_count,
  done.run_id AS last_completed_run_id,
  done.completed_at AS last_completed_at,
  CAST(round((julianday('now') - julianday(done.completed_at)) * 86400) AS INTEGER) AS age_seconds,
  whole.completed_at AS last_full_at,
  last.run_id AS last_run_id,
  last.status AS last_run_status,
  last.completeness,
  CASE
    WHEN last.run_id IS NULL THEN 'never synced'
    WHEN last.status = 'running' THEN 'a run is under way'
    WHEN last.status = 'completed' THEN 'complete: ' || last.completeness
    WHEN last.completeness = 'unproven' THEN 'unproven: ' || last.reason
    WHEN last.rejected > 0 THEN 'records rejected: ' || last.rejected ||
      iif(last.removals_withheld > 0, ', removals withheld: ' || last.removals_withheld, '')
    WHEN last.removals_withheld > 0 THEN 'removals withheld: ' || last.removals_withheld
    ELSE last.status || coalesce(': ' || last.error_message, '')
  END AS verdict
FROM (
  ${counts}
) l
LEFT JOIN sync_run_resources last ON last.resource = l.resource AND last.run_id =
  ${newest('')}
LEFT JOIN sync_run_resources done ON done.resource = l.resource AND done.run_id =
  ${newest(" AND status = 'completed'")}
LEFT JOIN sync_run_resources whole ON whole.resource = l.resource AND whole.run_id =
  ${newest(" AND status = 'completed' AND mode = 'full'")}`;
}
