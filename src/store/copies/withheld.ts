import type Database from 'better-sqlite3';
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
import { readContent } from '../../contract/page.ts';
import { type MirrorRecord, readRecords } from '../../contract/record.ts';
import { wireWriter } from '../../contract/wire.ts';
import { MirrorFileError, UsageError } from '../../errors.ts';

/** The parts of a mirror that go into a share. */
export interface Selection {
  /** Fields that are left out: names of the service, for example `sourceDocumentTitle` or `webhooks.description`. */
  readonly without: readonly string[];
  readonly withHistory: boolean;
}

/** A row with withheld fields has no content hash, because a reader could use it to check a guess of them. */
const noContent = "x''";

/**
 * Takes out of a copy of a mirror what a share leaves out: the texts of rejected records, everything of a webhook's endpoint except
 * scheme and host, a webhook's further fields, because any of them can be a secret, and the fields that the user names.
 *
 * @throws UsageError if no list has a field that the user names.
 * @throws MirrorFileError if the history has a text that is no record.
 */
export function withhold(sqlite: Database.Database, { without, withHistory }: Selection): void {
  const named = lists.map(list => ({ list, names: namesIn(sqlite, list, without) }));
  for (const name of without) {
    const isOf = ({ list, names }: (typeof named)[number]) => names.some(each => isNamed(list, each, [name]));
    if (!named.some(isOf)) throw new UsageError(`--without: no list has a field ${JSON.stringify(name)}.`);
  }
  sqlite.function('cut_endpoint', { deterministic: true }, text =>
    typeof text === 'string' ? cutEndpoint(text) : null,
  );
  sqlite.function('cut_webhook', { deterministic: true }, text => cutWebhook(String(text)));
  sqlite.exec(`UPDATE rejected_records SET record = NULL, content = ${noContent}`);
  // The text of an erased version is never shown.
  if (withHistory) sqlite.exec(`UPDATE record_history SET content = ${noContent} WHERE record IS NULL`);
  else sqlite.exec('DELETE FROM record_history');
  for (const { list, names } of named) {
    if (names.length === 0 && list !== webhooks) continue;
    withholdRows(sqlite, list, names);
    withholdVersions(sqlite, list, names);
  }
}

const webhooks = listOf('webhooks');

function isNamed({ resource }: ListDefinition, name: string, without: readonly string[]): boolean {
  return without.includes(name) || without.includes(`${resource}.${name}`);
}

/** The fields of a list that the user names, with those that have no column. */
function namesIn(sqlite: Database.Database, list: ListDefinition, without: readonly string[]): string[] {
  const further = sqlite.prepare<[string], string>('SELECT field FROM unknown_fields WHERE resource = ?');
  const names = new Set([...list.fields.map(({ name }) => name), ...further.pluck().all(list.resource)]);
  return [...names].filter(name => isNamed(list, name, without));
}

function withholdRows(sqlite: Database.Database, list: ListDefinition, names: readonly string[]): void {
  const scalars = scalarFields(list);
  const columns = scalars.filter(({ name }) => names.includes(name)).map(({ column }) => column);
  const time = scalars[timeIndexOf(list)]?.name ?? '';
  const changes = [
    ...columns.map(column => `${column} = NULL`),
    ...(names.includes(time) ? [`${timeColumnOf(list)} = NULL`] : []),
    ...(list === webhooks && !names.includes('endpoint') ? ['endpoint = cut_endpoint(endpoint)'] : []),
    list === webhooks ? '_extra = NULL' : `_extra = nullif(json_remove(_extra, ${paths(names)}), '{}')`,
    `_content = ${noContent}`,
  ];
  sqlite.exec(`UPDATE ${list.table} SET ${changes.join(', ')}`);
  for (const { name, table } of arrayFields(list))
    if (names.includes(name)) sqlite.exec(`DELETE FROM ${table}`);
}

function withholdVersions(sqlite: Database.Database, list: ListDefinition, names: readonly string[]): void {
  const known = list.fields.filter(({ name }) => names.includes(name));
  const further = names.filter(name => !list.fields.some(field => field.name === name));
  const empty = known.map(field => `, ${paths([field.name])}, ${'table' in field ? "json('[]')" : 'NULL'}`);
  const kept = `json_replace(record${empty.join('')})`;
  const record = further.length === 0 ? kept : `json_remove(${kept}, ${paths(further)})`;
  sqlite.exec(`UPDATE record_history SET content = ${noContent},
    record = ${list === webhooks ? `cut_webhook(${record})` : record}
    WHERE resource = '${list.resource}' AND record IS NOT NULL`);
}

/** The paths of members in JSON, as literals in SQL. */
function paths(names: readonly string[]): string {
  return names.map(name => `'$.${JSON.stringify(name).replaceAll("'", "''")}'`).join(', ');
}

/** A version of a webhook with its known fields alone. The message of an error does not show the text, because it can be a secret. */
function cutWebhook(json: string): string {
  const record = readVersion(json);
  if (record === undefined) {
    throw new MirrorFileError(
      'The mirror contains a record of webhooks that docmirror did not write. "docmirror verify" shows where.',
    );
  }
  const endpointAt = scalarFields(webhooks).findIndex(({ name }) => name === 'endpoint');
  const endpoint = record.scalars[endpointAt];
  const cut = typeof endpoint === 'string' ? cutEndpoint(endpoint) : null;
  const names = new Map(record.mentions.map(({ id, name }) => [id, name]));
  const write = wireWriter(webhooks, id => ({ id, name: names.get(id) ?? null, extra: null }));
  return write({ ...record, scalars: record.scalars.with(endpointAt, cut), extra: null });
}

function readVersion(json: string): MirrorRecord | undefined {
  try {
    return readRecords(webhooks, readContent(Buffer.from(`[${json}]`))).records[0];
  } catch {
    return undefined;
  }
}
