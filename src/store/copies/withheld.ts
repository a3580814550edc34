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
import { type MirrorRecord, readOne } from '../../contract/record.ts';
import { MirrorFileError, UsageError } from '../../errors.ts';

/** The parts of a mirror that go into a share. */
export interface Selection {
  /** Fields that are left out: names of the service, for example `sourceDocumentTitle` or `webhooks.description`. */
  readonly without: readonly string[];
  readonly withHistory: boolean;
}

/** A row with withheld fields has no content hash, because a reader could use it to check a guess of them. */
const noContent = "x''";

/** For each column whose values differ in the share, the SQL expression that replaces it. */
export type Replacements = Readonly<Record<string, string>>;

/**
 * Finds what differs in a share: it has no texts of rejected records, no more of a webhook's endpoint than scheme and host, none of
 * a webhook's further fields, because any of them can be a secret, and none of the fields that the user names.
 *
 * @param sqlite a connection to which the mirror is attached as `mirror`.
 * @returns the replacements in a table; null if the table gets no rows.
 * @throws UsageError if no list has a field that the user names.
 */
export function withheld(
  sqlite: Database.Database,
  { without, withHistory }: Selection,
): (table: string) => Replacements | null {
  const named = lists.map(list => ({ list, names: namesIn(sqlite, list, without) }));
  for (const name of without) {
    const isOf = ({ list, names }: (typeof named)[number]) => names.some(each => isNamed(list, each, [name]));
    if (!named.some(isOf)) throw new UsageError(`--without: no list has a field ${JSON.stringify(name)}.`);
  }
  const cut = (replace: (text: string) => string | null) => (text: unknown) =>
    typeof text === 'string' ? replace(text) : null;
  sqlite.function('cut_endpoint', { deterministic: true }, cut(cutEndpoint));
  sqlite.function('cut_webhook', { deterministic: true }, cut(cutWebhook));
  const touched = named.filter(({ list, names }) => names.length > 0 || list === webhooks);
  const tables = new Map<string, Replacements | null>([
    ['rejected_records', { record: 'NULL', content: noContent }],
    ['record_history', withHistory ? inVersions(touched) : null],
    ...touched.map(({ list, names }) => [list.table, inRows(list, names)] as const),
  ]);
  for (const { list, names } of touched)
    for (const { name, table } of arrayFields(list)) if (names.includes(name)) tables.set(table, null);
  return table => (tables.has(table) ? (tables.get(table) ?? null) : {});
}

const webhooks = listOf('webhooks');

function isNamed({ resource }: ListDefinition, name: string, without: readonly string[]): boolean {
  return without.includes(name) || without.includes(`${resource}.${name}`);
}

/** The fields of a list that the user names, with those that have no column. */
function namesIn(sqlite: Database.Database, list: ListDefinition, without: readonly string[]): string[] {
  const further = sqlite.prepare<[string], string>(
    'SELECT field FROM mirror.unknown_fields WHERE resource = ?',
  );
  const names = new Set([...list.fields.map(({ name }) => name), ...further.pluck().all(list.resource)]);
  return [...names].filter(name => isNamed(list, name, without));
}

interface Touched {
  readonly list: ListDefinition;
  readonly names: readonly string[];
}

function inRows(list: ListDefinition, names: readonly string[]): Replacements {
  const scalars = scalarFields(list);
  const columns = scalars.filter(({ name }) => names.includes(name)).map(({ column }) => [column, 'NULL']);
  const time = scalars[timeIndexOf(list)]?.name ?? '';
  return {
    ...(list === webhooks && { endpoint: 'cut_endpoint(endpoint)' }),
    ...Object.fromEntries(columns),
    ...(names.includes(time) && { [`${timeColumnOf(list)}`]: 'NULL' }),
    _extra: list === webhooks ? 'NULL' : `nullif(json_remove(_extra, ${paths(names)}), '{}')`,
    _content: noContent,
  };
}

/** The text of an erased version is never shown, not even as a hash. */
function inVersions(touched: readonly Touched[]): Replacements {
  const records = touched.map(({ list, names }) => `WHEN '${list.resource}' THEN ${recordOf(list, names)}`);
  const resources = touched.map(({ list }) => `'${list.resource}'`);
  return {
    record: `CASE resource ${records.join(' ')} ELSE record END`,
    content: `iif(record IS NULL OR resource IN (${resources.join(', ')}), ${noContent}, content)`,
  };
}

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
    return readOne(webhooks, json);
  } catch {
    return undefined;
  }
}
