import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { attempt, DocmirrorError, MirrorFileError, RefusedFileError } from '../../errors.ts';
import { version } from '../../version.ts';
import { readRestored } from '../file/beside.ts';
import { applicationIds, connect, fileBehind, kindOf, openForReading } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { DatabaseCopy, replaceable } from '../file/whole-file.ts';
import { ReceiptHashes } from '../receipts/receipt-log.ts';
import { allRows, allValues, firstValue, type Sqlite } from '../tables/ask.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { assertOneMirror } from './backup.ts';
import { sharedHistory } from './manifest.ts';
import { withhold, withholdHashes } from './withhold.ts';

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

const lostKey =
  'The mirror has lost the key of its shares (share_key in _mirror), so no share was made. Restore the mirror from a backup.';

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
    inFile(changed.unfinished, sqlite => rewriteTables(sqlite, withoutNotNull));
    const made = inFile(changed.unfinished, sqlite => {
      const shape = sqlite.pragma('user_version', { simple: true });
      const making = makingOf(sqlite, { sql, ...selection });
      const hashes = new ReceiptHashes(sqlite);
      if (!hashes.isKeyed) throw new MirrorFileError(lostKey);
      dropUnwanted(sqlite);
      const lacking = withhold(sqlite, selection);
      withholdHashes(sqlite, hashes, { ...selection, lists: sql === null ? lacking : null });
      sqlite.exec('PRAGMA incremental_vacuum');
      const runId = new EndedRuns(sqlite).newest();
      if (sql !== null) runStatements(sqlite, sql);
      const leftOut = dropUnreadableViews(sqlite);
      noteMaking(sqlite, { sql, ...selection }, making);
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
  if (shared === null || shared.isWhole) return;
  const restored = readRestored(fileBehind(database))?.receipts;
  // A backup of 0.5 has no key. The mirror got another one with its next upgrade, so no hash is the same.
  const hasOtherKey = shared.size === 0 && restored !== undefined && (shared.upgradedAt ?? -1) >= restored;
  if (shared.size === restored || hasOtherKey) return;
  const diverged = `${path} has other runs of this mirror than ${database}: the newest run that both have is ${shared.runId}. So another machine, or an older copy, has gone on with the same mirror. Nothing was changed; stop one of the two. If this one goes on, remove the share.`;
  throw new RefusedFileError(diverged, { code });
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

const selectionOf = ({ without, withHistory, sql }: Making) =>
  JSON.stringify({ without: [...without].sort(), withHistory, hasStatements: sql !== null, version });

/** A hash of how a share is made and of the state of the mirror. It has the mirror's key, because both can name what is taken out. */
function makingOf(mirror: Sqlite, making: Making): string {
  const state = firstValue<string>(mirror, selectState);
  const all = [selectionOf(making), making.sql?.text ?? null, state];
  return new ReceiptHashes(mirror).of(JSON.stringify(all));
}

/** Notes in a share how it was made, and a mark that no other share has. */
function noteMaking(sqlite: Sqlite, selection: Making, making: string): void {
  sqlite.exec('DROP TABLE IF EXISTS _share; CREATE TABLE _share (mark blob, selection text, making text)');
  const insert = sqlite.prepare('INSERT INTO _share (mark, selection, making) VALUES (?, ?, ?)');
  insert.run(randomBytes(markBytes), selectionOf(selection), making);
}

const markBytes = 16;

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
  const tables = allRows<Table>(sqlite, strictTables);
  const generating = tables.filter(({ sql }) => generated.test(sql)).map(({ name }) => quoted(name));
  for (const name of generating)
    sqlite.exec(`CREATE TEMP TABLE ${name} AS SELECT * FROM main.${name}; DELETE FROM main.${name}`);
  // The options of a table are behind the last bracket of its statement.
  rewriteTables(sqlite, sql => {
    const options = sql.slice(sql.lastIndexOf(')') + 1).split(',');
    const others = options.filter(option => !/^\s*STRICT\s*$/i.test(option));
    const strictColumns = sql.slice(0, sql.lastIndexOf(')') + 1).replace(generated, '');
    return strictColumns.replaceAll(/(_ms`?\s+)integer\b/gi, '$1bigint') + others.join(',');
  });
  for (const name of generating)
    sqlite.exec(`INSERT INTO main.${name} SELECT * FROM temp.${name}; DROP TABLE temp.${name}`);
}

type Table = { readonly name: string; readonly sql: string };
const strictTables = `SELECT s.name, s.sql FROM sqlite_schema s
  JOIN pragma_table_list t ON t.schema = 'main' AND t.name = s.name WHERE s.type = 'table' AND t.strict`;

/** Writes the statements of all STRICT tables otherwise, whose rows stay as they are. */
function rewriteTables(sqlite: Sqlite, rewritten: (sql: string) => string): void {
  const tables = allRows<Table>(sqlite, strictTables);
  sqlite.unsafeMode();
  sqlite.pragma('writable_schema = ON');
  const rewrite = sqlite.prepare("UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?");
  for (const { name, sql } of tables) rewrite.run(rewritten(sql), name);
  sqlite.pragma('writable_schema = RESET');
  sqlite.unsafeMode(false);
}

/** A hash can be left out of a share. */
const withoutNotNull = (sql: string) => sql.replaceAll(/(`_?content` blob) NOT NULL/g, '$1');

/** What makes a generated column of one; the expression can have brackets one level deep. */
const generated = / GENERATED ALWAYS AS \((?:[^()]|\([^()]*\))*\)( VIRTUAL| STORED)?/i;

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
  const isSame = () => {
    using mirror = openForReading(database);
    using share = openForReading(path);
    const noted = firstValue<string>(share.sqlite, 'SELECT making FROM _share');
    return noted === makingOf(mirror.sqlite, making);
  };
  return attempt(() => isSame() && sharedHistory(database, path)?.isWhole === true) ?? false;
}
