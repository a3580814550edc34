import { wireWriter } from '../../contract/content.ts';
import { cutEndpoint } from '../../contract/endpoint.ts';
import {
  arrayFields,
  keptResources,
  type ListDefinition,
  listOf,
  lists,
  scalarFields,
  tableOf,
} from '../../contract/lists.ts';
import { readOne } from '../../contract/record.ts';
import { attempt, MirrorFileError, UsageError } from '../../errors.ts';
import type { ReceiptHashes } from '../receipts/receipt-log.ts';
import { allValues, type Sqlite } from '../tables/ask.ts';
import { keptColumns } from '../tables/ever.ts';
import { forgetFields } from '../tables/service-facts.ts';

/** What a share lacks beside what every share lacks. */
type Selection = { readonly without: readonly string[]; readonly withHistory: boolean };

/**
 * Removes rejected texts, endpoints but for scheme and host, a webhook's further fields, which can be secret, and what the user names.
 * Returns the lists that lack something. Throws a UsageError for a field that no list has.
 */
export function withhold(sqlite: Sqlite, { without, withHistory }: Selection): readonly string[] {
  const further = 'SELECT field FROM unknown_fields WHERE resource = ?';
  const all = lists.flatMap(list => {
    const known = list.fields.map(({ name }) => name);
    const fields = new Set([...known, ...allValues<string>(sqlite, further, list.resource)]);
    return [...fields].map(field => ({ list, field, names: [field, `${list.resource}.${field}`] }));
  });
  const unknown = without.find(name => !all.some(({ names }) => names.includes(name)));
  if (unknown !== undefined)
    throw new UsageError(`--without: no list has a field ${JSON.stringify(unknown)} that can be left out.`);
  const cut = (replace: (text: string) => string | null) => (text: unknown) =>
    typeof text === 'string' ? replace(text) : null;
  sqlite.function('cut_endpoint', { deterministic: true }, cut(cutEndpoint));
  sqlite.function('cut_webhook', { deterministic: true }, cut(cutWebhook));
  // Why a finding was accepted is the owner's business.
  sqlite.exec(`UPDATE accepted_findings SET why = NULL, withdrawn_why = NULL;
    UPDATE rejected_records SET record = NULL`);
  if (!withHistory) sqlite.exec('DELETE FROM record_history');
  return lists.flatMap(list => {
    const named = all.filter(each => each.list === list && each.names.some(name => without.includes(name)));
    const fields = named.map(({ field }) => field);
    if (fields.length === 0 && list !== webhooks) return [];
    sqlite.exec(`UPDATE ${list.table} SET ${rowsWithout(list, fields)};
      UPDATE record_history SET record = ${recordWithout(list, fields)}${keptWithout(list, fields)} WHERE resource = '${list.resource}'`);
    for (const { name, table } of arrayFields(list))
      if (fields.includes(name)) sqlite.exec(`DELETE FROM ${table}`);
    const own = list.fields.map(({ name }) => name);
    const further = all.filter(each => each.list === list && !own.includes(each.field));
    const ofWebhooks = list === webhooks ? ['endpoint', ...further.map(({ field }) => field)] : [];
    forgetFields(sqlite, list, [...fields, ...ofWebhooks]);
    forgetFindings(sqlite, [...fields, ...ofWebhooks]);
    return [list.resource];
  });
}

/** Removes what runs found out about fields. */
function forgetFindings(sqlite: Sqlite, fields: readonly string[]): void {
  const isOther = (finding: unknown) => !fields.includes(String(Object(finding).field));
  const others = (_: string, value: unknown) => (Array.isArray(value) ? value.filter(isOther) : value);
  const reduced = (text: unknown) => JSON.stringify(JSON.parse(String(text), others));
  sqlite.function('without_findings', { deterministic: true }, reduced);
  const ofField = (column: string) => `instr(${column}, '"field":') > 0 AND json_valid(${column})`;
  sqlite.exec(`UPDATE sync_receipts SET receipt = without_findings(receipt) WHERE ${ofField('receipt')};
    UPDATE sync_run_resources SET reasons = without_findings(reasons), reason = NULL
    WHERE ${ofField('reasons')} AND reasons <> without_findings(reasons)`);
}

/** What decides which hashes a share lacks: the lists that lack something, and null if it can be any, because statements change them. */
type Lacking = { readonly lists: readonly string[] | null; readonly withHistory: boolean };

/**
 * Removes every hash by which a guess of what a share lacks could be checked: of contents, of erased and rejected texts, and all that
 * receipts state, which get a hash with a key.
 */
export function withholdHashes(sqlite: Sqlite, hashes: ReceiptHashes, left: Lacking): void {
  const { lists: lacking, withHistory } = left;
  sqlite.function('keyed_hash', { deterministic: true }, text => hashes.of(String(text)));
  sqlite.function('without_hashes', { deterministic: true }, text => withoutHashes(hashes, String(text)));
  sqlite.exec(`UPDATE sync_receipts SET receipt = without_hashes(receipt), leaf_hash = keyed_hash(leaf_hash);
    UPDATE rejected_records SET identity = NULL, content = NULL;
    UPDATE record_history SET content = NULL WHERE record IS NULL`);
  const ofValues = "fact GLOB 'field.*' OR fact GLOB 'kind.*' OR fact GLOB 'event.*'";
  if (lacking === null) sqlite.exec(`DELETE FROM service_facts WHERE ${ofValues}`);
  const older = sqlite.prepare(olderChecksums);
  for (const resource of keptResources) {
    older.run({ resource, withHistory: Number(withHistory) });
    if (lacking?.includes(resource) === false) continue;
    sqlite.exec(`UPDATE ${tableOf(resource)} SET _content = NULL;
      UPDATE record_history SET content = NULL WHERE resource = '${resource}';
      UPDATE sync_run_resources SET checksum = NULL WHERE resource = '${resource}'`);
  }
}

/**
 * The checksums of two runs differ by the contents of the records between them. So those of earlier runs are removed if a version of the
 * list is gone that they cover: the history was left out or pruned, or a text was erased.
 */
const olderChecksums = `UPDATE sync_run_resources SET checksum = NULL
  WHERE resource = @resource AND run_id < (
    SELECT max(run_id) FROM sync_run_resources WHERE resource = @resource AND checksum IS NOT NULL)
  AND (@withHistory = 0 OR EXISTS (SELECT 1 FROM record_history WHERE resource = @resource AND record IS NULL)
    OR EXISTS (SELECT 1 FROM sync_receipts WHERE run_id IS NULL AND receipt ->> 'kind' = 'prune'))`;

/** The shortest hash of a receipt has 32 digits. */
const hash = /^[0-9a-f]{32,}$/;

/** A receipt without its hashes, and without why a finding was accepted; `{}` if it can't be read. */
function withoutHashes(hashes: ReceiptHashes, text: string): string {
  const reduced = attempt(() => {
    const receipt: object = JSON.parse(text, (key, value) => {
      if (typeof value !== 'string' || !hash.test(value)) return value;
      // Hashes in a list are those of other receipts.
      return /^\d+$/.test(key) ? hashes.of(value) : null;
    });
    const isOfAcceptance = 'kind' in receipt && ['accept', 'withdraw'].includes(String(receipt.kind));
    return JSON.stringify(isOfAcceptance ? { ...receipt, why: null } : receipt);
  });
  return reduced ?? '{}';
}

const webhooks = listOf('webhooks');

/** Empties the columns of the history that have the value of a field. */
function keptWithout(list: ListDefinition, fields: readonly string[]): string {
  const left = scalarFields(list).filter(({ name }) => fields.includes(name));
  const columns = left.flatMap(({ column }) => [column, `${column}_ms`]);
  const kept = keptColumns(list).filter(column => columns.includes(column));
  return kept.map(column => `, ${column} = NULL`).join('');
}

function rowsWithout(list: ListDefinition, fields: readonly string[]): string {
  const set =
    list === webhooks
      ? ['endpoint = cut_endpoint(endpoint)', '_extra = NULL']
      : [`_extra = nullif(json_remove(${['_extra', ...fields.map(pathOf)].join(', ')}), '{}')`];
  for (const { name, column, filter } of scalarFields(list)) {
    if (!fields.includes(name)) continue;
    // SQLite takes the last one if a column is set twice.
    set.push(`${column} = NULL`);
    if (filter === 'time') set.push(`${column}_ms = NULL`);
  }
  return set.join(', ');
}

function recordWithout(list: ListDefinition, fields: readonly string[]): string {
  const known = list.fields.filter(({ name }) => fields.includes(name));
  const further = fields.filter(field => !known.some(({ name }) => name === field));
  const empty = known.flatMap(field => [pathOf(field.name), 'table' in field ? "json('[]')" : 'NULL']);
  const kept = `json_replace(${['record', ...empty].join(', ')})`;
  const record = `json_remove(${[kept, ...further.map(pathOf)].join(', ')})`;
  return list === webhooks ? `cut_webhook(${record})` : record;
}

function pathOf(name: string): string {
  return `'$.${JSON.stringify(name).replaceAll("'", "''")}'`;
}

/** A version of a webhook with its known fields alone. The message of an error does not show the text, because it can be a secret. */
function cutWebhook(json: string): string {
  const record = readOne(webhooks, json);
  if (record === undefined)
    throw new MirrorFileError(
      'The mirror contains a record of webhooks that docmirror did not write. "docmirror verify" shows where.',
    );
  const scalars = scalarFields(webhooks).map(({ name }, at) => {
    const value = record.scalars[at] ?? null;
    return name === 'endpoint' && value !== null ? cutEndpoint(String(value)) : value;
  });
  const names = new Map(record.mentions.map(({ id, name }) => [id, name]));
  const write = wireWriter(webhooks, id => ({ id, name: names.get(id) ?? null, extra: null }));
  return write({ ...record, scalars, extra: null });
}
