import { randomBytes, scryptSync } from 'node:crypto';
import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { wireWriter } from '../../contract/content.ts';
import { cutEndpoint } from '../../contract/endpoint.ts';
import { arrayFields, type ListDefinition, listOf, lists, scalarFields } from '../../contract/lists.ts';
import { readOne } from '../../contract/record.ts';
import { attempt, DocmirrorError, MirrorFileError, RefusedFileError, UsageError } from '../../errors.ts';
import { version } from '../../version.ts';
import { applicationIds, connect, fileBehind, kindOf, openForReading } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { DatabaseCopy, replaceable } from '../file/whole-file.ts';
import { allRows, allValues, firstRow, firstValue, type Sqlite } from '../tables/ask.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { keptColumns } from '../tables/ever.ts';
import { assertOneMirror, receiptsRestored } from './backup.ts';
import { sharedHistory } from './manifest.ts';

/** How a share is made, and what it lacks. */
export interface ShareOptions {
  readonly database: string;
  /** The file that it replaces, as `shareTarget` gives it. */
  readonly path: string;
  /** Fields that are left out: names of the service, for example `sourceDocumentTitle` or `webhooks.description`. */
  readonly without: readonly string[];
  readonly withHistory: boolean;
  /** Statements that run on the share before it gets its place, and the file that they are from. */
  readonly sql: { readonly path: string; readonly text: string } | null;
  readonly signal: AbortSignal;
}

/** A share that was made. */
export type MadeShare = Awaited<ReturnType<typeof makeShare>>;

const shareMode = 0o644;

/**
 * Makes a copy of a mirror that everybody can read, and puts it in its place in one step: a reader can go on with the old one, which stays
 * if this fails. The caller has the mirror's lock. `runId` is the newest run that it contains, null if none has ended, and `leftOut` are
 * the views that can't be read. Throws a UsageError, RefusedFileError or MirrorFileError, or `share_failed` if the statements fail.
 */
export async function makeShare({ database, path, sql, signal, ...selection }: ShareOptions) {
  assertShareOf(database, path);
  using changed = new DatabaseCopy(path, shareMode);
  using compacted = new DatabaseCopy(path, shareMode);
  try {
    {
      using mirror = openForReading(database);
      changed.fill(mirror.sqlite);
    }
    signal.throwIfAborted();
    const made = inFile(changed.unfinished, sqlite => {
      const shape = sqlite.pragma('user_version', { simple: true });
      const state = firstValue<string>(sqlite, selectState);
      dropUnwanted(sqlite);
      withhold(sqlite, selection);
      sqlite.exec('PRAGMA incremental_vacuum');
      const runId = new EndedRuns(sqlite).newest();
      if (sql !== null) runStatements(sqlite, sql);
      const leftOut = dropUnreadableViews(sqlite);
      noteMaking(sqlite, { sql, ...selection }, state);
      // The statements can have changed these, and docmirror recognizes a share by them.
      sqlite.pragma(`application_id = ${applicationIds.share}`);
      sqlite.pragma(`user_version = ${shape}`);
      return { runId, leftOut };
    });
    inFile(changed.unfinished, dropStrict);
    // Free pages still have what the statements deleted.
    if (sql !== null) inFile(changed.unfinished, sqlite => compacted.fill(sqlite));
    const share = sql === null ? changed : compacted;
    const { size: bytes } = statSync(share.unfinished);
    // A signal, or the end of the process that has the lock, is heard between two turns.
    for (let turn = 0; turn < 2; turn++) await nextTurn();
    signal.throwIfAborted();
    share.putInPlace();
    return { path, bytes, ...made };
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}

/** The file that a share replaces, also behind a link. Throws a UsageError that begins with `name`, or a RefusedFileError. */
export function shareTarget(target: string, name: string): string {
  return replaceable(fileBehind(target, name));
}

/**
 * Refuses to replace what is at a path, with a RefusedFileError: a file that is no share, the share of another mirror, or of another
 * history of this one, because readers would get other runs under the same numbers. After a restore, the share of the lost runs can be replaced.
 */
export function assertShareOf(database: string, path: string): void {
  const isNone = `${path} is not a share that docmirror made. It was left as it is; remove it, or name another file.`;
  if (!['none', 'empty', 'share'].includes(kindOf(path)))
    throw new RefusedFileError(isNone, { code: 'output_failed' });
  const code = 'share_of_another_mirror';
  const advice =
    'if that mirror was lost, restore it with "docmirror backup --restore"; if its share is no longer needed, remove it; else name another file.';
  assertOneMirror(path, database, advice, code);
  const shared = sharedHistory(database, path);
  if (shared === null || shared.isWhole || shared.size === receiptsRestored(database)) return;
  throw new RefusedFileError(
    `${path} has other runs of this mirror than ${database}: the newest run that both have is ${shared.runId}. So another machine, or an older copy, has gone on with the same mirror. Nothing was changed; stop one of the two. If this one goes on, remove the share.`,
    { code },
  );
}

/** Does some work on a file over a connection of its own: a connection can copy text of pages that it has read into new ones. */
function inFile<T>(path: string, work: (sqlite: Sqlite) => T): T {
  using file = connect(path, {}, sqlite => {
    // If this fails, the file is removed, so no journal is written beside it. What is removed is overwritten.
    for (const setting of ['journal_mode = MEMORY', 'synchronous = OFF', 'secure_delete = ON'])
      sqlite.pragma(setting);
  });
  return work(file.sqlite);
}

/** How a share is made: what decides, beside the mirror, what is in it. */
type Making = Pick<ShareOptions, 'without' | 'withHistory' | 'sql'>;

const selectionOf = ({ without, withHistory }: Making) =>
  JSON.stringify({ without: [...without].sort(), withHistory, version });

/** The hash is a slow one, with a salt, because the statements can name what they take out. */
const sqlHash = (sql: Making['sql'], salt: Buffer) =>
  sql === null ? '' : scryptSync(sql.text, salt, 16).toString('hex');

/** Notes in a share how it was made, of which state of the mirror, and a mark that no other share has. */
function noteMaking(sqlite: Sqlite, making: Making, state: string | null): void {
  const salt = randomBytes(16);
  sqlite.exec(
    'DROP TABLE IF EXISTS _share; CREATE TABLE _share (mark blob, selection text, sql_hash text, state text)',
  );
  const insert = 'INSERT INTO _share (mark, selection, sql_hash, state) VALUES (?, ?, ?, ?)';
  sqlite.prepare(insert).run(salt, selectionOf(making), sqlHash(making.sql, salt), state);
}

/** Drops docmirror's internal tables, the samples of its indexes, other programs' triggers, which would run, and virtual tables, which can be an index of any text. */
function dropUnwanted(sqlite: Sqlite): void {
  const unwanted = `SELECT s.type, s.name FROM sqlite_schema s LEFT JOIN pragma_table_list t ON t.schema = 'main' AND t.name = s.name
    WHERE s.type = 'trigger' OR t.type = 'virtual' OR s.type = 'table' AND s.name GLOB '_*' OR s.name GLOB 'sqlite_stat*'`;
  for (const { type, name } of allRows<{ type: string; name: string }>(sqlite, unwanted))
    sqlite.exec(`DROP ${type} ${quoted(name)}`);
}

/**
 * Makes all tables ordinary ones: SQLite before 3.37 opens no file with a STRICT table, and STRICT only refuses new values. Milliseconds
 * are `bigint`, which STRICT does not know: programs that go by the declared type take 32 bits of an `integer`. What is generated is
 * stored: some programs do not see such columns, and Turso opens no file that has one.
 */
function dropStrict(sqlite: Sqlite): void {
  const strict = `SELECT s.name, s.sql FROM sqlite_schema s JOIN pragma_table_list t ON t.schema = 'main' AND t.name = s.name
    WHERE s.type = 'table' AND t.strict`;
  const tables = allRows<{ name: string; sql: string }>(sqlite, strict);
  const generating = tables.filter(({ sql }) => generated.test(sql)).map(({ name }) => quoted(name));
  for (const name of generating)
    sqlite.exec(`CREATE TEMP TABLE ${name} AS SELECT * FROM main.${name}; DELETE FROM main.${name}`);
  sqlite.unsafeMode();
  sqlite.pragma('writable_schema = ON');
  const rewrite = sqlite.prepare("UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?");
  // The options of a table are behind the last bracket of its statement.
  for (const { name, sql } of tables) {
    const options = sql.slice(sql.lastIndexOf(')') + 1).split(',');
    const others = options.filter(option => !/^\s*STRICT\s*$/i.test(option));
    const strictColumns = sql.slice(0, sql.lastIndexOf(')') + 1).replace(generated, '');
    const columns = strictColumns.replaceAll(/(_ms`?\s+)integer\b/gi, '$1bigint');
    rewrite.run(columns + others.join(','), name);
  }
  sqlite.pragma('writable_schema = RESET');
  sqlite.unsafeMode(false);
  for (const name of generating)
    sqlite.exec(`INSERT INTO main.${name} SELECT * FROM temp.${name}; DROP TABLE temp.${name}`);
}

/** What makes a generated column of one; the expression can have brackets one level deep. */
const generated = / GENERATED ALWAYS AS \((?:[^()]|\([^()]*\))*\)( VIRTUAL| STORED)?/i;

/** A row with withheld fields has no content hash, because a reader could use it to check a guess of them. */
const noContent = 'zeroblob(16)';

const webhooks = listOf('webhooks');

/** Removes rejected texts, endpoints but for scheme and host, a webhook's further fields, which can be secret, and what the user names. */
function withhold(sqlite: Sqlite, { without, withHistory }: Pick<ShareOptions, 'without' | 'withHistory'>) {
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
    UPDATE sync_receipts SET receipt = json_remove(receipt, '$.why')
    WHERE run_id IS NULL AND json_valid(receipt) AND receipt ->> 'kind' IN ('accept', 'withdraw')`);
  sqlite.exec(`UPDATE rejected_records SET record = NULL, identity = NULL, content = ${noContent}`);
  // The text of an erased version is never shown, not even as a hash.
  const ofErased = `UPDATE record_history SET content = ${noContent} WHERE record IS NULL`;
  sqlite.exec(withHistory ? ofErased : 'DELETE FROM record_history');
  const checksums = sqlite.prepare('UPDATE sync_run_resources SET checksum = NULL WHERE resource = ?');
  for (const list of lists) {
    const named = all.filter(each => each.list === list && each.names.some(name => without.includes(name)));
    const fields = named.map(({ field }) => field);
    if (fields.length === 0 && list !== webhooks) continue;
    // The checksums of two runs differ by the content hash of a record, with which a guess can be checked.
    checksums.run(list.resource);
    sqlite.exec(`UPDATE ${list.table} SET ${rowsWithout(list, fields)}, _content = ${noContent};
      UPDATE record_history SET record = ${recordWithout(list, fields)}, content = ${noContent}${keptWithout(list, fields)} WHERE resource = '${list.resource}'`);
    for (const { name, table } of arrayFields(list))
      if (fields.includes(name)) sqlite.exec(`DELETE FROM ${table}`);
  }
}

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

/** @throws DocmirrorError with the code `share_failed`, if a statement fails or leaves something half done. */
function runStatements(sqlite: Sqlite, { path, text }: NonNullable<ShareOptions['sql']>): void {
  // Without this, a column that a view names could not be dropped.
  sqlite.pragma('legacy_alter_table = ON');
  try {
    sqlite.exec(text);
    if (sqlite.inTransaction) throw new Error('a transaction is left open; end it with COMMIT');
  } catch (error) {
    const why = `${path} failed: ${(error as Error).message}. The share was not made.`;
    throw new DocmirrorError('share_failed', why, { cause: error });
  }
}

/** Drops views that can't be read, for example of tables or columns that a share lacks, and views of these. Returns their names. */
function dropUnreadableViews(sqlite: Sqlite): string[] {
  const views = allValues<string>(sqlite, "SELECT name FROM sqlite_schema WHERE type = 'view'");
  const read = (name: string) => attempt(() => sqlite.prepare(`SELECT * FROM ${quoted(name)}`));
  const unreadable = views.filter(name => read(name) === null);
  for (const name of unreadable) sqlite.exec(`DROP VIEW ${quoted(name)}`);
  return unreadable.length === 0 ? [] : [...unreadable, ...dropUnreadableViews(sqlite)];
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The state after the ended runs, the same in a mirror and in a share of it. A pruning, for example, has a receipt without a run. */
const selectState = `SELECT json_array(
  (SELECT receipt ->> 'mirrorId' FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1),
  (SELECT max(leaf_index) FROM sync_receipts WHERE run_id IS NULL),
  (SELECT max(valid_to_run_id) FROM record_history),
  (SELECT json_group_array(state) FROM (
    SELECT json_array(l.resource, l.status, l.completeness, l.record_count, l.rejected,
      l.removals_withheld, l.reason) AS state
    FROM sync_run_resources l
    JOIN (SELECT resource, max(run_id) AS run_id FROM sync_run_resources
          WHERE status <> 'running' GROUP BY resource) newest USING (resource, run_id)
    ORDER BY l.resource)))`;

/** True if a share that is made so now would be the same as the existing one. */
export function isCurrent(database: string, path: string, making: Making): boolean {
  type Note = { mark: Buffer; selection: string; sqlHash: string; state: string };
  const isSame = () => {
    using mirror = openForReading(database);
    using share = openForReading(path);
    const note = firstRow<Note>(
      share.sqlite,
      'SELECT mark, selection, sql_hash AS sqlHash, state FROM _share',
    );
    if (note?.selection !== selectionOf(making)) return false;
    if (note.sqlHash !== sqlHash(making.sql, note.mark)) return false;
    return note.state === firstValue<string>(mirror.sqlite, selectState);
  };
  return attempt(() => isSame() && sharedHistory(database, path)?.isWhole === true) ?? false;
}
