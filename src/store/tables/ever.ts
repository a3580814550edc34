import {
  type ListDefinition,
  listOf,
  scalarFields,
  timeColumnOf,
  timeFieldOf,
} from '../../contract/lists.ts';
import { firstRow, type Sqlite } from './ask.ts';
import { registerInstant } from './list-table.ts';
import { asText, choice, integer } from './view-sql.ts';

/** The condition of a version in `record_history` with which a record went, and did not come back. */
const isGone = (list: ListDefinition) =>
  `h.resource = '${list.resource}' AND h.ended_by = 'removal' AND h.returned_run_id IS NULL`;

/** The columns of `record_history` with a value of the row that went, by which it is found. */
export function keptColumns(list: ListDefinition): readonly string[] {
  const [reference] = scalarFields(list).filter(({ isReference }) => isReference === true);
  return [timeColumnOf(list), reference?.column ?? null].filter(column => column !== null);
}

/** A member of the version `h`; null if its text was erased. */
export function memberOfVersion(path: string): string {
  return `CASE WHEN json_valid(h.record) THEN json_extract(h.record, '$.${path}') END`;
}

/** The value of a column in the version `h`. */
function columnOfVersion(list: ListDefinition, column: string): string {
  if (keptColumns(list).includes(column)) return `h.${column}`;
  const field = scalarFields(list).find(each => each.column === column);
  const path = field?.kind === 'connection' ? `${field.name}.id` : (field?.name ?? column);
  return typed(list, column, memberOfVersion(path));
}

/** What a kept column must have, by the text of the version `h`. `instant_ms` must be registered. */
export function keptValue(list: ListDefinition, column: string): string {
  const time = timeFieldOf(list);
  if (column === timeColumnOf(list)) return `instant_ms(${asText(memberOfVersion(time?.name ?? ''))})`;
  const field = scalarFields(list).find(each => each.column === column);
  return textOfVersion(field?.name ?? '');
}

/** A text of the version `h`; null if it is no text: then the row had none. */
const textOfVersion = (name: string) =>
  `CASE WHEN json_valid(h.record) AND json_type(h.record, '$.${name}') = 'text' THEN json_extract(h.record, '$.${name}') END`;

function typed(list: ListDefinition, column: string, value: string): string {
  const isText = scalarFields(list).find(each => each.column === column)?.kind === 'text';
  return isText ? asText(value) : integer(value);
}

/**
 * Every record that ever stood in a list: its id, some columns, and `version`, its row in the history if it is gone. Older SQLite
 * computes all columns of a UNION in each row, so that few are named, by which they are counted and found; the others are looked up.
 */
export function everStood(list: ListDefinition, columns: readonly string[]): string {
  const ended = columns.map(column => `${columnOfVersion(list, column)}, `).join('');
  return `SELECT id, ${columns.map(column => `${column}, `).join('')}${integer('NULL')} AS version FROM ${list.table}
    UNION ALL SELECT h.record_id, ${ended}h.id FROM record_history h WHERE ${isGone(list)}`;
}

/** A column of `t`, a record that ever stood: of its row, or of its version. */
export function everColumn(list: ListDefinition, column: string): string {
  const ended = ofVersion(columnOfVersion(list, column));
  return typed(list, column, choice('t.version IS NULL', ofListed(list, column), ended));
}

/** A column of the row of `t`. */
export function ofListed({ table }: ListDefinition, column: string): string {
  return `(SELECT ${column} FROM ${table} WHERE id = t.id)`;
}

/** An expression over the version `h` of `t`; null if it is listed. */
export function ofVersion(expression: string): string {
  return `(SELECT ${expression} FROM record_history h WHERE h.id = t.version)`;
}

/** What identifies a row `e` and a version `h`, as JSON. */
function identityKeys(list: ListDefinition) {
  if (list.identity.by === 'id') return { ofRow: 'json_array(e.id)', ofVersion: 'json_array(h.record_id)' };
  const { fields } = list.identity;
  const time = timeFieldOf(list)?.column;
  const columns = scalarFields(list).filter(({ name }) => fields.includes(name));
  const key = (of: (column: string) => string) =>
    `json_array(${columns.map(({ column }) => (column === time ? `coalesce(${of(`${time}_ms`)}, ${of(column)})` : of(column))).join(', ')})`;
  return { ofRow: key(column => `e.${column}`), ofVersion: key(column => columnOfVersion(list, column)) };
}

/** Something that a run did: a record came, or the version went. An erased version is known by its content alone. */
interface Event {
  readonly runId: number;
  readonly key: string;
  readonly content: string;
  readonly version: number | null;
}

/**
 * Notes which records that had been removed came back in a run, or in any run if it is 0: of each identity, the one that has been gone for
 * longest. So the views show of each identity as many records as one run had at once. A run calls this when it has written the list.
 */
export function noteReturns(sqlite: Sqlite, list: ListDefinition, runId: number): void {
  const gone = `record_history h WHERE ${isGone(list)}`;
  if (firstRow(sqlite, `SELECT 1 FROM ${gone} LIMIT 1`) === undefined) return;
  const { ofRow, ofVersion } = identityKeys(list);
  const time = timeColumnOf(list);
  const came = runId === 0 ? 'true' : 'e._changed_run_id = @runId AND e._first_seen_run_id = @runId';
  // Times that both have: without these, the identities of a whole list would be in memory.
  const isSought = `h.exported_at_ms IN (SELECT e.${time} FROM ${list.table} e WHERE ${came})`;
  const canBeBack = `(e.${time} IS NULL OR e.${time} IN (SELECT h.exported_at_ms FROM ${gone})
    OR EXISTS (SELECT 1 FROM ${gone} AND h.exported_at_ms IS NULL AND h.record IS NULL))`;
  const events = `SELECT h.valid_to_run_id AS runId, ${ofVersion} AS key, lower(hex(h.content)) AS content, h.id AS version, h.id AS place
      FROM ${gone} ${time === null ? '' : `AND (h.exported_at_ms IS NULL OR @runId = 0 OR ${isSought})`}
    UNION ALL SELECT e._first_seen_run_id, ${ofRow}, lower(hex(e._content)), NULL, 9e999 FROM ${list.table} e
      WHERE ${came} ${time === null ? '' : `AND ${canBeBack}`}
    UNION ALL SELECT h.first_seen_run_id, ${ofVersion}, '', NULL, 9e999 FROM record_history h
      WHERE @runId = 0 AND h.resource = '${list.resource}' AND h.ended_by = 'removal'
    ORDER BY runId, place`;
  const versions = new Map<string, number[]>();
  const back: { runId: number; version: number }[] = [];
  for (const event of sqlite.prepare<[object], Event>(events).iterate({ runId })) {
    const { version, key } = event;
    const erased = `content ${event.content}`;
    if (version !== null) {
      const isErased = list.identity.by === 'content' && /^\[(null,?)+\]$/.test(key);
      const under = isErased ? erased : key;
      const waiting = versions.get(under);
      if (waiting === undefined) versions.set(under, [version]);
      else waiting.push(version);
      continue;
    }
    const first = versions.get(key)?.shift() ?? versions.get(erased)?.shift();
    if (first !== undefined) back.push({ runId: event.runId, version: first });
  }
  const note = sqlite.prepare('UPDATE record_history SET returned_run_id = @runId WHERE id = @version');
  for (const each of back) note.run(each);
}

/** Gives the versions of a mirror that a docmirror without these columns wrote their times, and notes which records came back. */
export function noteAllReturns(sqlite: Sqlite, resource: string): void {
  const list = listOf(resource);
  registerInstant(sqlite);
  const kept = keptColumns(list).map(column => `${column} = ${keptValue(list, column)}`);
  if (kept.length > 0) sqlite.exec(`UPDATE record_history AS h SET ${kept.join(', ')} WHERE ${isGone(list)}`);
  noteReturns(sqlite, list, 0);
}
