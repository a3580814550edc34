import { randomBytes, randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import {
  type ArrayField,
  arrayFields,
  type ListDefinition,
  listOf,
  lists,
  scalarFields,
  timeColumnOf,
} from '../../contract/lists.ts';
import { isCompleteSql } from './ended-runs.ts';
import { everColumn, everStood, keptColumns, memberOfVersion, ofListed, ofVersion } from './ever.ts';
import { reasonCodes } from './reasons.ts';
import { arrayOf, asText, changesView, choice, integer, newestEndedRun, timeOfRun } from './view-sql.ts';

/**
 * Makes the views, the triggers and the mirror's own id in a file whose tables were just made or changed, in the same transaction. This
 * is the one definition of the views: a new mirror and each upgrade use it. A mirror is upgraded when there is a new migration, so a
 * view that changes alone needs an empty one: `npm run db:views`. Their columns are declared for TypeScript in
 * `view-columns.ts`.
 */
export function completeMirror(sqlite: Database.Database): void {
  const views = [
    ...lists.map(list => [`${list.table}_named`, selectNamed(list, list.table)]),
    ...lists.map(list => [`${list.table}_ever`, selectEver(list)]),
    ['latest_versions', latestVersionsView(listOf('document-exports'))],
    ['changes', changesView()],
    ['sync_status', syncStatusView()],
  ];
  // `drizzle-kit pull` reads only views that are on one line.
  for (const [name, query = ''] of views)
    sqlite.exec(`DROP VIEW IF EXISTS ${name}; CREATE VIEW ${name} AS ${query.replaceAll(/\s+/g, ' ')}`);
  for (const [name, when] of Object.entries(triggers))
    sqlite.exec(`DROP TRIGGER IF EXISTS ${name};
      CREATE TRIGGER ${name} ${when} BEGIN SELECT RAISE(ABORT, '${receiptsStand}'); END`);
  if (mirrorIds(sqlite).length === 0)
    sqlite.prepare('INSERT INTO _mirror (mirror_id) VALUES (?)').run(randomUUID());
  sqlite.prepare('UPDATE _mirror SET share_key = ? WHERE share_key IS NULL').run(randomBytes(shareKeyBytes));
}

const shareKeyBytes = 32;

/** The ids of the mirror in a file: one, unless somebody changed the table. */
export function mirrorIds(sqlite: Database.Database): string[] {
  return sqlite.prepare<[], string>('SELECT mirror_id FROM _mirror').pluck().all();
}

const receiptsStand =
  'A receipt never changes: the log and every checkpoint rest on it. docs/audit.md says why.';

/** The condition of each trigger by its name: a receipt would be worth nothing if it could be changed by mistake. */
const triggers = {
  sync_receipts_stay: 'BEFORE UPDATE ON sync_receipts',
  sync_receipts_are_kept: 'BEFORE DELETE ON sync_receipts',
  // INSERT OR REPLACE fires no other trigger for the row that it replaces.
  sync_receipts_are_new: `BEFORE INSERT ON sync_receipts
    WHEN EXISTS (SELECT 1 FROM sync_receipts WHERE leaf_index = NEW.leaf_index OR run_id = NEW.run_id)`,
};

const provenance = ['_first_seen_run_id', '_changed_run_id', '_extra'];

/**
 * The newest export of each document. A source and a reference identify a document; an export without a reference is a document of
 * its own. A filter by either of them reaches the inner query, because the rows are numbered by exactly these two.
 */
function latestVersionsView(list: ListDefinition): string {
  const time = timeColumnOf(list);
  const columns = ['id', ...scalarFields(list).map(({ column }) => column), time, ...provenance];
  const numbered = `(SELECT ${columns.join(', ')},
    row_number() OVER (
      PARTITION BY source_connection_id, source_document_reference, ${choice('source_document_reference IS NULL', 'id', 'NULL')}
      ORDER BY ${time} DESC, id DESC) AS place
    FROM ${list.table})`;
  return `${selectNamed(list, numbered)} WHERE t.place = 1`;
}

/**
 * The same of every record that ever stood in the list, and when it went. A connection that is gone has the name that it had then. Other tables
 * are asked in subqueries: SQLite leaves out those of columns that nobody selects, but no join.
 */
function selectEver(list: ListDefinition): string {
  const scalars = scalarFields(list);
  const time = timeColumnOf(list);
  const cheap = keptColumns(list);
  const valueOfColumn = (column: string) =>
    cheap.includes(column) ? `t.${column}` : everColumn(list, column);
  const resource = `'${list.resource}'`;
  const ofRun = (row: string, version: string) =>
    integer(choice('t.version IS NULL', ofListed(list, row), ofVersion(`h.${version}`)));
  const firstSeen = ofRun('_first_seen_run_id', 'first_seen_run_id');
  const changed = ofRun('_changed_run_id', 'valid_from_run_id');
  const removed = integer(ofVersion('h.valid_to_run_id'));
  const known = ['id', ...list.fields.map(({ name }) => name)].map(name => `'$.${name}'`).join(', ');
  const columns = [
    't.id',
    ...scalars.flatMap(({ kind, column, name }) => {
      const value = `${valueOfColumn(column)} AS ${column}`;
      if (kind !== 'connection') return [value];
      const now = `(SELECT name FROM connections WHERE id = ${valueOfColumn(column)})`;
      const named = `coalesce(${now}, ${ofVersion(memberOfVersion(`${name}.name`))})`;
      return [value, `${asText(named)} AS ${nameColumn(column)}`];
    }),
    ...(time === null ? [] : [`t.${time}`, `${utcOf(time)} AS ${time.replace('_ms', '_utc')}`]),
    ...arrayFields(list).flatMap(field => {
      const either = (ofRow: string, path: string) => {
        const ended = `(SELECT json_group_array(${path}) FROM json_each(h.record, '$.${field.name}'))`;
        const then = ofVersion(choice('h.record IS NULL', 'NULL', ended));
        return asText(choice('t.version IS NULL', ofRow, then));
      };
      const [values = '', names = ''] = namedArray(list, field).map(each => each.replace(/ AS \w+$/, ''));
      if (field.kind === 'texts') return [`${either(values, 'value')} AS ${field.column}s`];
      return [
        `${either(values, "json_extract(value, '$.id')")} AS ${field.column}s`,
        `${either(names, "json_extract(value, '$.name')")} AS ${nameColumn(field.column)}s`,
      ];
    }),
    `${timeOfRun(firstSeen, resource)} AS first_seen_at`,
    `${timeOfRun(changed, resource)} AS changed_at`,
    `${firstSeen} AS _first_seen_run_id`,
    `${changed} AS _changed_run_id`,
    `${asText(choice('t.version IS NULL', ofListed(list, '_extra'), ofVersion(`nullif(json_remove(h.record, ${known}), '{}')`)))} AS _extra`,
    `${removed} AS removed_run_id`,
    `${timeOfRun(removed, resource)} AS removed_at`,
  ];
  return `SELECT ${columns.join(', ')} FROM (${everStood(list, cheap)}) t`;
}

/** The time as every tool reads it: without T, Z and fraction. */
function utcOf(time: string): string {
  return asText(`datetime(t.${time} / 1000.0, 'unixepoch')`);
}

/** A list with the names of its connections as well as the ids, and with times as well as the runs. */
function selectNamed(list: ListDefinition, rows: string): string {
  const scalars = scalarFields(list);
  const time = timeColumnOf(list);
  const references = scalars.filter(({ kind }) => kind === 'connection').map(({ column }) => column);
  const alias = (column: string) => `c${references.indexOf(column) + 1}`;
  const columns = [
    't.id',
    ...scalars.flatMap(({ kind, column }) =>
      kind === 'connection'
        ? [`t.${column}`, `${alias(column)}.name AS ${nameColumn(column)}`]
        : [`t.${column}`],
    ),
    ...(time === null ? [] : [`t.${time}`, `${utcOf(time)} AS ${time.replace('_ms', '_utc')}`]),
    ...arrayFields(list).flatMap(field => namedArray(list, field)),
    `${timeOfRun('t._first_seen_run_id', `'${list.resource}'`)} AS first_seen_at`,
    `${timeOfRun('t._changed_run_id', `'${list.resource}'`)} AS changed_at`,
    ...provenance.map(column => `t.${column}`),
  ];
  const joins = references.map(
    column => `LEFT JOIN connections ${alias(column)} ON ${alias(column)}.id = t.${column}`,
  );
  return [`SELECT ${columns.join(', ')} FROM ${rows} t`, ...joins].join(' ');
}

function namedArray(list: ListDefinition, field: ArrayField): string[] {
  const { kind, column } = field;
  const values = `${asText(arrayOf(list, field, 'value', column))} AS ${column}s`;
  if (kind === 'texts') return [values];
  const name = `(SELECT name FROM connections WHERE id = a.${column})`;
  return [values, `${asText(arrayOf(list, field, 'value', name))} AS ${nameColumn(column)}s`];
}

function nameColumn(idColumn: string): string {
  return idColumn.replace(/_id$/, '_name');
}

/** The state of each list that runs ask for: its last completed run, its age, how many records it has, and the verdict of the last run that ended. */
function syncStatusView(): string {
  const counts = lists
    .map(
      ({ resource, table }) =>
        `SELECT ${asText(`'${resource}'`)} AS resource, ${integer(`(SELECT count(*) FROM ${table})`)} AS record_count`,
    )
    .join(' UNION ALL ');
  const newest = (where: string) =>
    `(SELECT max(run_id) FROM sync_run_resources WHERE resource = l.resource AND ${where})`;
  const since = (run: string) => `coalesce(${run}.read_since, ${run}.completed_at)`;
  const age = `round((julianday('now') - julianday(${since('done')})) * 86400)`;
  const isRunning = "(SELECT status = 'running' FROM sync_runs ORDER BY id DESC LIMIT 1)";
  return `SELECT
    l.resource,
    ${integer('l.record_count')} AS record_count,
    done.run_id AS last_completed_run_id,
    done.completed_at AS last_completed_at,
    ${asText(since('done'))} AS read_since,
    ${integer(age)} AS age_seconds,
    ${asText(since('whole'))} AS last_full_at,
    last.run_id AS last_run_id,
    last.status AS last_run_status,
    last.completeness,
    ${asText(verdict)} AS verdict,
    ${asText(reasonCodes('last.reasons'))} AS reason_codes,
    ${integer(`coalesce(${isRunning}, 0)`)} AS is_running
  FROM (${counts}) l
  LEFT JOIN sync_run_resources last
    ON last.resource = l.resource AND last.run_id = ${newest(`run_id <= ${newestEndedRun}`)}
  LEFT JOIN sync_run_resources done
    ON done.resource = l.resource AND done.run_id = ${newest(isCompleteSql)}
  LEFT JOIN sync_run_resources whole
    ON whole.resource = l.resource AND whole.run_id = ${newest(`${isCompleteSql} AND mode = 'full'`)}
  WHERE EXISTS (SELECT 1 FROM sync_run_resources a WHERE a.resource = l.resource)
    OR NOT EXISTS (SELECT 1 FROM sync_run_resources a WHERE a.run_id <= ${newestEndedRun})`;
}

/** The verdict of the last run on a list, in words. */
const verdict = `CASE
  WHEN last.run_id IS NULL THEN 'never synced'
  WHEN last.status = 'completed' THEN 'complete: ' || last.completeness
  WHEN last.error_message IS NOT NULL THEN last.status || ': ' || last.error_message ||
    ${choice('last.completeness IS NULL', "''", "' (kept ' || last.records_seen || coalesce(' of ' || last.total_record_count, '') || ' records)'")}
  WHEN last.completeness = 'unproven' THEN 'unproven: ' || last.reason
  WHEN last.status = 'partial' AND last.completeness IS NULL THEN 'records replaced'
  WHEN last.rejected > 0 THEN 'records rejected: ' || last.rejected ||
    ${choice('last.removals_withheld > 0', "', removals withheld: ' || last.removals_withheld", "''")}
  WHEN last.removals_withheld > 0 THEN 'removals withheld: ' || last.removals_withheld
  ELSE last.status
END`;
