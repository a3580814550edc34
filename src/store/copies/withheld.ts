import type Database from 'better-sqlite3';
import { wireWriter } from '../../contract/content.ts';
import { cutEndpoint } from '../../contract/endpoint.ts';
import {
  arrayFields,
  type ListDefinition,
  listOf,
  lists,
  scalarFields,
  timeColumnOf,
  timeIndexOf,
} from '../../contract/lists.ts';
import { readOne } from '../../contract/record.ts';
import { MirrorFileError, UsageError } from '../../errors.ts';

/** The parts of a mirror that go into a share. */
export interface Selection {
  /** Fields that are left out: names of the service, for example `sourceDocumentTitle` or `webhooks.description`. */
  readonly without: readonly string[];
  readonly withHistory: boolean;
}

/** A row with withheld fields has no content hash, because a reader could use it to check a guess of them. */
const noContent = "x''";

const webhooks = listOf('webhooks');

/**
 * Removes from a copy of a mirror what a share does not have: texts of rejected records, more of a webhook's endpoint than scheme and
 * host, a webhook's further fields, because any of them can be a secret, and the fields that the user names.
 *
 * @throws UsageError if no list has a field that the user names.
 */
export function withhold(sqlite: Database.Database, { without, withHistory }: Selection): void {
  const named = lists.map(list => ({ list, names: namesIn(sqlite, list, without) }));
  for (const name of without) {
    const isOf = ({ list, names }: (typeof named)[number]) => names.some(each => isNamed(list, each, [name]));
    if (!named.some(isOf)) throw new UsageError(`--without: no list has a field ${JSON.stringify(name)}.`);
  }
  const cut = (replace: (text: string) => string | null) => (text: unknown) =>
    typeof text === 'string' ? replace(text) : null;
  sqlite.function('cut_endpoint', { deterministic: true }, cut(cutEndpoint));
  sqlite.function('cut_webhook', { deterministic: true }, cut(cutWebhook));
  sqlite.exec(`UPDATE rejected_records SET record = NULL, content = ${noContent}`);
  // The text of an erased version is never shown, not even as a hash.
  sqlite.exec(
    withHistory
      ? `UPDATE record_history SET content = ${noContent} WHERE record IS NULL`
      : 'DELETE FROM record_history',
  );
  for (const { list, names } of named) {
    if (names.length === 0 && list !== webhooks) continue;
    sqlite.exec(`UPDATE ${list.table} SET ${inRows(list, names).join(', ')}, _content = ${noContent};
      UPDATE record_history SET record = ${recordOf(list, names)}, content = ${noContent} WHERE resource = '${list.resource}'`);
    for (const { name, table } of arrayFields(list))
      if (names.includes(name)) sqlite.exec(`DELETE FROM ${table}`);
  }
}

function isNamed({ resource }: ListDefinition, name: string, without: readonly string[]): boolean {
  return without.includes(name) || without.includes(`${resource}.${name}`);
}

/** The fields of a list that the user names, with those that have no column. */
function namesIn(sqlite: Database.Database, list: ListDefinition, without: readonly string[]): string[] {
  const further = sqlite.prepare<[string], string>('SELECT field FROM unknown_fields WHERE resource = ?');
  const names = new Set([...list.fields.map(({ name }) => name), ...further.pluck().all(list.resource)]);
  return [...names].filter(name => isNamed(list, name, without));
}

/** What a row of a list is set to. */
function inRows(list: ListDefinition, names: readonly string[]): string[] {
  const scalars = scalarFields(list);
  const isEmpty = (name: string | undefined) => name !== undefined && names.includes(name);
  const columns = scalars.filter(({ name }) => isEmpty(name)).map(({ column }) => column);
  if (isEmpty(scalars[timeIndexOf(list)]?.name)) columns.push(`${timeColumnOf(list)}`);
  const set = columns.map(column => `${column} = NULL`);
  if (list !== webhooks) return [...set, `_extra = nullif(json_remove(_extra, ${paths(names)}), '{}')`];
  return [...set, ...(isEmpty('endpoint') ? [] : ['endpoint = cut_endpoint(endpoint)']), '_extra = NULL'];
}

/** The record of a version. */
function recordOf(list: ListDefinition, names: readonly string[]): string {
  const known = list.fields.filter(({ name }) => names.includes(name));
  const further = names.filter(name => !list.fields.some(field => field.name === name));
  const empty = known.map(field => `, ${paths([field.name])}, ${'table' in field ? "json('[]')" : 'NULL'}`);
  const kept = `json_replace(record${empty.join('')})`;
  const record = further.length === 0 ? kept : `json_remove(${kept}, ${paths(further)})`;
  return list === webhooks ? `cut_webhook(${record})` : record;
}

/** The paths of members in JSON, as literals in SQL. */
function paths(names: readonly string[]): string {
  return names.map(name => `'$.${JSON.stringify(name).replaceAll("'", "''")}'`).join(', ');
}

/** A version of a webhook with its known fields alone. The message of an error does not show the text, because it can be a secret. */
function cutWebhook(json: string): string {
  const record = recordIn(json);
  if (record === undefined)
    throw new MirrorFileError(
      'The mirror contains a record of webhooks that docmirror did not write. "docmirror verify" shows where.',
    );
  const endpointAt = scalarFields(webhooks).findIndex(({ name }) => name === 'endpoint');
  const endpoint = record.scalars[endpointAt];
  const cut = typeof endpoint === 'string' ? cutEndpoint(endpoint) : null;
  const names = new Map(record.mentions.map(({ id, name }) => [id, name]));
  const write = wireWriter(webhooks, id => ({ id, name: names.get(id) ?? null, extra: null }));
  return write({ ...record, scalars: record.scalars.with(endpointAt, cut), extra: null });
}

function recordIn(json: string) {
  try {
    return readOne(webhooks, json);
  } catch {
    return undefined;
  }
}
