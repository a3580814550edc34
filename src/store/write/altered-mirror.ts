// A mirror that another program altered: what differs from a new one, when a run refuses it, and how it is put right.

import { accessSync, constants } from 'node:fs';
import type Database from 'better-sqlite3';
import { type ListDefinition, lists } from '../../contract/lists.ts';
import type { Sum } from '../../contract/sum.ts';
import { MirrorAlteredError } from '../../errors.ts';
import { TimeSlice } from '../../time-slice.ts';
import { assertFree } from '../file/lock-file.ts';
import { assertNoMount } from '../file/lock-trial.ts';
import { isYetToMake, type MirrorFile, mirrorToWrite, openMirrorForReading } from '../file/open.ts';
import { openInMemory } from '../file/open-to-write.ts';
import { assertWhole, explaining } from '../file/sqlite-errors.ts';
import { altered, assertAsWritten, checkRows } from '../receipts/altered-lists.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { acceptedNow, sumOfContents } from '../receipts/statements.ts';
import { allRows, allValues } from '../tables/ask.ts';
import { ListTable } from '../tables/list-table.ts';
import type { RunStart } from '../tables/run.ts';
import { unreadableTimes } from '../tables/unreadable-times.ts';
import { dropAlteredConnections } from './connections.ts';
import { nothingLearnt, writeState } from './sync-state.ts';

/** A table, an index, a view or a trigger that is not as docmirror makes it, or that another program made. */
interface OtherObject {
  readonly type: string;
  readonly name: string;
  /** Its table, in lower case because SQLite ignores case. */
  readonly table: string;
  /** The statement that creates it: docmirror's own, if it should be there. */
  readonly sql: string;
  /** `intrusive` is a trigger or a unique index on a table of docmirror: it changes or refuses what a run writes. */
  readonly state: 'missing' | 'changed' | 'intrusive' | 'foreign';
}

const parts = `SELECT type, name, lower(tbl_name) AS "table", sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

/** The objects of a new mirror, as JSON; they do not change while docmirror runs. */
let own: string | undefined;

/** Compares a file's objects with those of a new mirror, and returns those that differ. */
export function compareObjects(sqlite: Database.Database): OtherObject[] {
  if (own === undefined) {
    using made = openInMemory();
    own = JSON.stringify(made.sqlite.prepare(parts).all());
  }
  const others = `WITH found AS (${parts}), own AS (
      SELECT value ->> 'type' AS type, value ->> 'name' AS name, value ->> 'table' AS "table", value ->> 'sql' AS sql FROM json_each(?))
    SELECT own.*, iif(found.name IS NULL, 'missing', 'changed') AS state
    FROM own LEFT JOIN found USING (name) WHERE found.sql IS NOT own.sql
    UNION ALL
    SELECT *, iif("table" IN (SELECT name FROM own) AND (type = 'trigger' OR sql LIKE 'CREATE UNIQUE%'), 'intrusive', 'foreign')
    FROM found WHERE name NOT IN (SELECT name FROM own)`;
  return allRows<OtherObject>(sqlite, others, own);
}

/** @throws MirrorAlteredError if another program put a trigger or a unique index on a table of docmirror. */
export function assertNothingIntrusive({ path, sqlite }: MirrorFile): void {
  const intrusive = compareObjects(sqlite).find(({ state }) => state === 'intrusive');
  if (intrusive === undefined) return;
  const { type, name, table } = intrusive;
  throw new MirrorAlteredError(
    `Another program added the ${type} ${name} on ${table} to ${path}, which can change or refuse what a run writes`,
    'Nothing was written',
    `Dropping it is enough: ${dropping(intrusive)}. "docmirror sync --rebuild" does that, too, and reads all lists again.`,
  );
}

/** Drops other programs' triggers and unique indexes on docmirror's tables, and makes docmirror's own views, indexes and triggers again. */
function putObjectsRight(sqlite: Database.Database): void {
  for (const object of compareObjects(sqlite)) {
    const { type, sql, state } = object;
    if (state === 'intrusive' || (state === 'changed' && type !== 'table')) sqlite.exec(dropping(object));
    if ((state === 'missing' || state === 'changed') && type !== 'table') sqlite.exec(sql);
  }
}

function dropping({ type, name }: OtherObject): string {
  return `DROP ${type.toUpperCase()} "${name.replaceAll('"', '""')}"`;
}

/** Checks a mirror as a run does, without its lock, and returns which times in it can't be read; undefined if there is none yet. Throws what a run would end with, or `upgrade_needed`. */
export async function checkMirror(path: string, signal: AbortSignal) {
  const place = mirrorToWrite(path);
  assertNoMount(place);
  assertFree(place);
  if (isYetToMake(place)) return undefined;
  explaining(place, () => accessSync(place, constants.R_OK | constants.W_OK));
  using file = openMirrorForReading(place);
  const { sqlite } = file;
  // One state of the file, with a run that died or that has just begun.
  sqlite.exec('BEGIN');
  const open =
    'SELECT id FROM sync_runs WHERE id NOT IN (SELECT run_id FROM sync_receipts WHERE run_id IS NOT NULL)';
  assertWhole(place, sqlite);
  assertNothingIntrusive(file);
  await assertAsWritten(file, new TimeSlice(signal), allValues<number>(sqlite, open));
  return unreadableTimes(sqlite, 'document-exports');
}

/** Drops rows that do not match their contents, without a trace, and accepts all others, with a receipt. Returns how many were dropped. */
export function rebuild(sqlite: Database.Database, runId: number, start: RunStart): number {
  putObjectsRight(sqlite);
  let dropped = 0;
  for (const list of lists) {
    const table = new ListTable(sqlite, list);
    const altered = new Set(table.malformed().map(({ id }) => id));
    for (const rows of checkRows(sqlite, list)) for (const id of rows.altered) altered.add(id);
    for (const id of altered) table.remove(id);
    dropped += altered.size;
    writeState(sqlite, list, runId, nothingLearnt);
  }
  dropped += dropAlteredConnections(sqlite, runId);
  const log = new ReceiptLog(sqlite);
  const { startedAt: at, actor } = start;
  log.append({ kind: 'rebuild', mirrorId: log.mirrorId(), at, actor, ...acceptedNow(sqlite, runId) });
  return dropped;
}

/** Makes sure, without reading the rows, that the content hashes beside them have the expected sum. Throws a MirrorAlteredError. */
export function assertSum({ file, list, sumBefore }: SummedList): void {
  if (!sumOfContents(file.sqlite, list.resource).equals(sumBefore)) throw altered(file.path, list.resource);
}

interface SummedList {
  readonly file: MirrorFile;
  readonly list: ListDefinition;
  readonly sumBefore: Sum;
}
