import type Database from 'better-sqlite3';
import { connectionContent, normalExtra, type StoredConnection } from '../../contract/content.ts';
import { lists } from '../../contract/lists.ts';
import type { ConnectionClaim, ConnectionClaims } from './connection-claims.ts';
import { columnsOf, type Said, saidIn } from './connection-columns.ts';
import {
  type ConnectionRow,
  givenUpBy,
  isNameBelieved,
  isTold,
  saysTheSame,
  unclaimed,
} from './connection-rules.ts';
import { tryToRead } from './readable.ts';
import type { StoredVersion } from './record-lives.ts';

/** The lists of which a run has heard all that they say of connections, by rank, and whether its rows are what they list. */
export type HeardLists = Map<number, boolean>;

type Source = Pick<ConnectionRow, 'nameRank' | 'nameTime' | 'extraRank'>;

const noSource: Source = { nameRank: unclaimed, nameTime: null, extraRank: unclaimed };

/** A version of a connection that ended. */
export interface EndedConnection {
  readonly row: ConnectionRow;
  readonly endedBy: 'update' | 'removal';
}

const rowColumns = `id, name, _extra AS extra, _first_seen_run_id AS firstSeenRunId,
  _changed_run_id AS changedRunId, _name_rank AS nameRank, _name_time AS nameTime,
  _extra_rank AS extraRank, _content AS content`;

/** The connections by prepared statements. */
export class ConnectionTable {
  readonly #sqlite: Database.Database;
  readonly #read: Database.Statement<[number], ConnectionRow>;
  readonly #insert: Database.Statement;
  readonly #update: Database.Statement;
  readonly #setSource: Database.Statement;
  readonly #remove: Database.Statement;
  readonly #claimedBy: Database.Statement<[number, number], ConnectionRow>;
  readonly #givenByNone: Database.Statement<[], ConnectionRow>;
  readonly #references: readonly Database.Statement<[number]>[];
  readonly #missing: readonly Database.Statement<[], number>[];
  /** Those that this object inserted: a page may name what no row came to refer to. */
  readonly #inserted = new Set<number>();
  readonly #revived = new Set<number>();

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#read = sqlite.prepare(`SELECT ${rowColumns} FROM connections WHERE id = ?`);
    this.#insert = sqlite.prepare(
      `INSERT INTO connections (id, name, _extra, _name_rank, _name_time, _extra_rank, _first_seen_run_id, _changed_run_id, _content)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#update = sqlite.prepare(
      'UPDATE connections SET name = ?, _extra = ?, _changed_run_id = ?, _content = ? WHERE id = ?',
    );
    this.#setSource = sqlite.prepare(
      'UPDATE connections SET _name_rank = ?, _name_time = ?, _extra_rank = ? WHERE id = ?',
    );
    this.#remove = sqlite.prepare('DELETE FROM connections WHERE id = ?');
    this.#claimedBy = sqlite.prepare(
      `SELECT ${rowColumns} FROM connections WHERE _name_rank = ? OR _extra_rank = ?`,
    );
    this.#givenByNone = sqlite.prepare(
      `SELECT ${rowColumns} FROM connections
       WHERE _name_rank < ${unclaimed} OR _extra_rank < ${unclaimed}
         OR (_name_rank = ${unclaimed} AND (name IS NOT NULL OR _extra IS NOT NULL))
         OR (_extra_rank = ${unclaimed} AND _extra IS NOT NULL)`,
    );
    this.#references = referencingColumns().map(([table, column]) =>
      sqlite.prepare(`SELECT 1 FROM ${table} WHERE ${column} = ? LIMIT 1`),
    );
    this.#missing = referencingColumns().map(reference =>
      sqlite.prepare<[], number>(missingFrom(reference)).pluck(),
    );
  }

  read(id: number): ConnectionRow | undefined {
    return this.#read.get(id);
  }

  /** Every row in the order of its id. */
  *rows(): Generator<ConnectionRow> {
    yield* this.#sqlite
      .prepare<[], ConnectionRow>(`SELECT ${rowColumns} FROM connections ORDER BY id`)
      .iterate();
  }

  /** The rows that a run wrote, in the order of their ids. */
  *writtenBy(runId: number): Generator<ConnectionRow> {
    yield* this.#sqlite
      .prepare<[number], ConnectionRow>(
        `SELECT ${rowColumns} FROM connections WHERE _changed_run_id = ? ORDER BY id`,
      )
      .iterate(runId);
  }

  /** Whether some pages of a list tell what the list says of the connections that they speak of. */
  isToldBy(claims: ConnectionClaims, rank: number): boolean {
    return [...claims].every(claim => {
      const row = this.read(claim.id);
      return row === undefined || isTold(claim, row, rank);
    });
  }

  /**
   * Applies what a list of that rank says, and returns the versions that this ends. Where `isComplete`, the claims are
   * all that the list says; otherwise a name gives way only to a newer one. Names and further fields are believed apart: a list
   * that gives none of them takes away none that another one gives.
   */
  applyClaims(claims: ConnectionClaims, rank: number, isComplete: boolean, runId: number): EndedConnection[] {
    const ended: EndedConnection[] = [];
    for (const claim of claims) {
      const row = this.read(claim.id);
      if (row === undefined)
        this.#insertRow({ id: claim.id, ...columnsOf(claim) }, sourceOf(claim, rank), runId, runId);
      else if (this.#revived.has(row.id)) {
        if (this.#sayAnew(row, claim, rank, runId)) ended.push({ row, endedBy: 'update' });
      } else if (this.#follow(row, claim, rank, isComplete, runId)) ended.push({ row, endedBy: 'update' });
    }
    return ended;
  }

  /**
   * Frees what a list of that rank gave and gives no more for those that count less, and returns the versions that end because no
   * list gives it; to be called when its rows are written, with all that the list says.
   *
   * @param heard with this list. Where a list's rows are not what it lists, a record that can't be read, or is not removed, may refer
   *   to a connection of which the list does not speak: that one keeps what it has.
   */
  giveUp(claims: ConnectionClaims, rank: number, heard: HeardLists, runId: number): EndedConnection[] {
    for (const row of this.#claimedBy.all(rank, rank)) {
      const claim = claims.get(row.id);
      const left = claim !== undefined || heard.get(rank) === true ? givenUpBy(rank) : unclaimed;
      const isNameless = row.nameRank === rank && (claim?.name ?? null) === null;
      const isPlain = row.extraRank === rank && (claim?.extra ?? null) === null;
      this.#noteSource(row, {
        ...(isNameless && { nameRank: left, nameTime: null }),
        ...(isPlain && { extraRank: left }),
      });
    }
    // What no list is known to give is gone where all say nothing of it; what one gave up, where those that count less do, for those
    // that count more would have it as their own.
    const isGone = (source: number) =>
      lists.every(({ connectionNameRank: other }) =>
        source === unclaimed ? heard.get(other) === true : other >= -source || heard.has(other),
      );
    const ended = this.#drop(source => source <= unclaimed && isGone(source), runId);
    return ended;
  }

  /** Lets a row say what a list says, as far as it is believed; true where that ends a version. */
  #follow(
    row: ConnectionRow,
    claim: ConnectionClaim,
    rank: number,
    isComplete: boolean,
    runId: number,
  ): boolean {
    const hasName = claim.name !== null && isNameBelieved(claim, row, rank, isComplete);
    const hasExtra = claim.extra !== null && rank >= row.extraRank;
    const said = saidIn(row);
    const name = hasName ? claim.name : said.name;
    const extra = hasExtra ? claim.extra : said.extra;
    const isChanged = this.#change(row, { name, extra }, runId);
    this.#noteSource(row, {
      ...(hasName && { nameRank: rank, nameTime: claim.time }),
      ...(hasExtra && { extraRank: rank }),
    });
    return isChanged;
  }

  /** True where something of a connection is given by no known list: every page must then be read to find one that does. */
  hasUnclaimed(): boolean {
    return this.#unclaimedRows().length > 0;
  }

  #unclaimedRows(): ConnectionRow[] {
    return this.#givenByNone.all().filter(row => {
      const { name, extra } = saidIn(row);
      const isOpen = (rank: number, said: string | null) =>
        rank < unclaimed || (rank === unclaimed && said !== null);
      return isOpen(row.nameRank, name) || isOpen(row.extraRank, extra);
    });
  }

  /**
   * Prepares the rows for a run that reads all lists again after another program altered them: a row whose columns do not come to
   * its content loses its name, as if the run had made it, and one that a record refers to and that is gone is made again. One that
   * no record refers to goes: it may have belonged to a row that was dropped.
   *
   * @returns how many rows that were.
   */
  dropAltered(runId: number): number {
    let dropped = 0;
    for (const row of [...this.rows()]) {
      const isReferenced = this.#isReferenced(row.id);
      if (isReferenced && isAsWritten(row)) continue;
      dropped++;
      if (isReferenced) this.#makeNameless(row.id, runId);
      else this.#removeRow(row.id);
    }
    for (const [table, column] of referencingColumns()) {
      const missing = this.#sqlite
        .prepare<[], number>(
          `SELECT DISTINCT ${column} FROM ${table}
           WHERE ${column} IS NOT NULL AND ${column} NOT IN (SELECT id FROM connections)`,
        )
        .pluck()
        .all();
      for (const id of missing) this.#insertRow({ id, name: null, extra: null }, noSource, runId, runId);
      dropped += missing.length;
    }
    return dropped;
  }

  #makeNameless(id: number, runId: number): void {
    const content = connectionContent({ id, name: null, extra: null });
    this.#sqlite
      .prepare(
        `UPDATE connections SET name = NULL, _extra = NULL, _content = ?, _first_seen_run_id = ?, _changed_run_id = ?,
           _name_rank = 0, _name_time = NULL, _extra_rank = 0 WHERE id = ?`,
      )
      .run(content, runId, runId, id);
  }

  /**
   * Removes those of the connections, and of the ones just inserted, that no record refers to, and returns them.
   *
   * @param ids which may be removed; all, where they are left out.
   */
  removeUnreferenced(ids: Iterable<number> = [...this.rows()].map(({ id }) => id)): EndedConnection[] {
    const ended: EndedConnection[] = [];
    for (const id of new Set([...ids, ...this.#inserted])) {
      const row = this.read(id);
      if (row === undefined || this.#isReferenced(id)) continue;
      this.#removeRow(id);
      ended.push({ row, endedBy: 'removal' });
    }
    return ended;
  }

  /** Inserts a connection as it was before it was removed, with the runs that its version names. No list gives what it says any more. */
  revive(stored: StoredConnection, { firstSeenRunId, validFromRunId }: StoredVersion): void {
    this.#insertRow(stored, noSource, firstSeenRunId, validFromRunId);
    this.#revived.add(stored.id);
  }

  /** Lets a row say what one list alone says; true where it said something else before. */
  #sayAnew(row: ConnectionRow, claim: ConnectionClaim, rank: number, runId: number): boolean {
    const isChanged = this.#change(row, claim, runId);
    this.#noteSource(row, sourceOf(claim, rank));
    return isChanged;
  }

  #insertRow(
    { id, name, extra }: StoredConnection,
    { nameRank, nameTime, extraRank }: Source,
    firstSeenRunId: number,
    changedRunId: number,
  ): void {
    const content = connectionContent({ id, name, extra });
    this.#insert.run(id, name, extra, nameRank, nameTime, extraRank, firstSeenRunId, changedRunId, content);
    this.#inserted.add(id);
  }

  /** A connection that a record refers to and that has no row; undefined if there is none. */
  missing(): number | undefined {
    for (const missing of this.#missing) {
      const id = missing.get();
      if (id !== undefined) return id;
    }
    return undefined;
  }

  #isReferenced(id: number): boolean {
    return this.#references.some(reference => reference.get(id) !== undefined);
  }

  #removeRow(id: number): void {
    this.#remove.run(id);
  }

  /** Lets a row say something; true if it said something else before. */
  #change(row: ConnectionRow, said: Said, runId: number): boolean {
    if (saysTheSame(row, said)) return false;
    const { name, extra } = columnsOf(said);
    this.#update.run(name, extra, runId, connectionContent({ id: row.id, name, extra }), row.id);
    return true;
  }

  /** Takes away what is given by no list. */
  #drop(isGone: (source: number) => boolean, runId: number): EndedConnection[] {
    return this.#unclaimedRows().flatMap(row => {
      if (!this.#isReferenced(row.id)) return [];
      const said = saidIn(row);
      const name = isGone(row.nameRank) ? null : said.name;
      const extra = isGone(row.extraRank) ? null : said.extra;
      const isChanged = this.#change(row, { name, extra }, runId);
      this.#noteSource(row, {
        ...(isGone(row.nameRank) && { nameRank: unclaimed }),
        ...(isGone(row.extraRank) && { extraRank: unclaimed }),
      });
      return isChanged ? [{ row, endedBy: 'update' as const }] : [];
    });
  }

  /** Notes which list gives what a row says, where that is another one now. */
  #noteSource(row: ConnectionRow, change: Partial<Source>): void {
    const source = { ...row, ...change };
    const { nameRank, nameTime, extraRank } = source;
    if (row.nameRank !== nameRank || row.nameTime !== nameTime || row.extraRank !== extraRank)
      this.#writeSource(row.id, source);
  }

  #writeSource(id: number, { nameRank, nameTime, extraRank }: Source): void {
    this.#setSource.run(nameRank, nameTime, extraRank, id);
  }
}

/** Whether the columns of a row come to its content, as docmirror writes them. */
export function isAsWritten(row: ConnectionRow): boolean {
  const read = tryToRead(() => row.content?.equals(connectionContent(row)) === true);
  return 'value' in read && read.value && isExtraAsWritten(row);
}

/**
 * Whether the further fields of a row are as docmirror writes them. A content is the same whether its name is in the column or among
 * the further fields.
 */
export function isExtraAsWritten(row: StoredConnection): boolean {
  const read = tryToRead(
    () => normalExtra(row.extra) === row.extra && columnsOf(saidIn(row)).name === row.name,
  );
  return 'value' in read && read.value;
}

/** Where a row has what it says from, where one list alone is heard. */
function sourceOf({ name, extra, time }: ConnectionClaim, rank: number): Source {
  const named = name === null ? { nameRank: unclaimed, nameTime: null } : { nameRank: rank, nameTime: time };
  return { ...named, extraRank: extra === null ? unclaimed : rank };
}

/**
 * Steps from id to id through the column's index: 0.1 ms for a million records of 50 connections, when SQLite's own check takes 60. It
 * takes a CTE, which the query builder has no words for.
 */
function missingFrom([table, column]: readonly [string, string]): string {
  return `WITH RECURSIVE referred (id) AS (
      SELECT min(${column}) FROM ${table}
      UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${column} > referred.id) FROM referred WHERE id IS NOT NULL)
    SELECT id FROM referred WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM connections WHERE id = referred.id) LIMIT 1`;
}

function referencingColumns(): [table: string, column: string][] {
  return lists.flatMap(list =>
    list.fields.flatMap((field): [string, string][] => {
      if (field.kind === 'connection') return [[list.table, field.column]];
      return field.kind === 'connections' ? [[field.table, field.column]] : [];
    }),
  );
}
