import type Database from 'better-sqlite3';
import { connectionContent } from '../../contract/content.ts';
import { lists } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import type { StoredConnection } from '../../contract/wire.ts';
import { type ConnectionClaim, type ConnectionClaims, compareTimes } from './connection-claims.ts';
import { ContentSum } from './content-sums.ts';
import { Fingerprints } from './fingerprints.ts';
import { tryToRead } from './readable.ts';

/** A connection's row, with what is known of where its name comes from. */
export interface ConnectionRow extends StoredConnection {
  readonly firstSeenRunId: number;
  readonly changedRunId: number;
  readonly nameRank: number;
  readonly nameTime: string | null;
  /** 16 bytes, as they stand in the row; null where another program took them away. */
  readonly content: Buffer | null;
}

/** A version of a connection that ended. */
export interface EndedConnection {
  readonly row: ConnectionRow;
  readonly endedBy: 'update' | 'removal';
}

const rowColumns = `id, name, _extra AS extra, _first_seen_run_id AS firstSeenRunId,
  _changed_run_id AS changedRunId, _name_rank AS nameRank, _name_time AS nameTime, _content AS content`;

/** The connections by prepared statements, and the rule whose word on a name counts. */
export class ConnectionTable {
  readonly #sqlite: Database.Database;
  readonly #read: Database.Statement<[number], ConnectionRow>;
  readonly #insert: Database.Statement;
  readonly #update: Database.Statement;
  readonly #setSource: Database.Statement;
  readonly #remove: Database.Statement;
  readonly #claimedBy: Database.Statement<[number], number>;
  readonly #references: readonly Database.Statement<[number]>[];
  readonly #sum: ContentSum;
  /** Those that this object inserted: a page may name what no row came to refer to. */
  readonly #inserted = new Set<number>();
  #fingerprints: Fingerprints | null = null;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#sum = new ContentSum(sqlite, 'connections', 'connections');
    this.#read = sqlite.prepare(`SELECT ${rowColumns} FROM connections WHERE id = ?`);
    this.#insert = sqlite.prepare(
      `INSERT INTO connections (id, name, _extra, _name_rank, _name_time, _first_seen_run_id, _changed_run_id, _content)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#update = sqlite.prepare(
      'UPDATE connections SET name = ?, _extra = ?, _changed_run_id = ?, _content = ? WHERE id = ?',
    );
    this.#setSource = sqlite.prepare('UPDATE connections SET _name_rank = ?, _name_time = ? WHERE id = ?');
    this.#remove = sqlite.prepare('DELETE FROM connections WHERE id = ?');
    this.#claimedBy = sqlite
      .prepare<[number], number>('SELECT id FROM connections WHERE _name_rank = ?')
      .pluck();
    this.#references = referencingColumns().map(([table, column]) =>
      sqlite.prepare(`SELECT 1 FROM ${table} WHERE ${column} = ? LIMIT 1`),
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

  /**
   * Takes over what a list of that rank says, and returns the versions that this ends. Where `isComplete`, the claims are
   * all that the list says; otherwise a name gives way only to a newer one.
   */
  takeOver(claims: ConnectionClaims, rank: number, isComplete: boolean, runId: number): EndedConnection[] {
    const ended: EndedConnection[] = [];
    for (const claim of claims) {
      const row = this.read(claim.id);
      if (row === undefined) {
        this.#insertClaim(claim, rank, runId);
      } else if (isAlteredFrom(row, claim)) {
        this.#restore(row, claim, rank);
      } else if (isBelieved(claim, row, rank, isComplete)) {
        if (row.name !== claim.name || row.extra !== claim.extra) {
          this.#updateToClaim(row, claim, runId);
          ended.push({ row, endedBy: 'update' });
        }
        const isSourceOfName = claim.name !== null;
        if (isSourceOfName && (row.nameRank !== rank || row.nameTime !== claim.time)) {
          this.#noteSource(rank, claim.time, claim.id);
        }
      }
    }
    if (isComplete) this.#giveUp(claims, rank);
    this.#saveSums();
    return ended;
  }

  /** True where a connection has a name that no list is known to give: every page must then be read to find one that does. */
  hasUnclaimedName(): boolean {
    const unclaimed = 'SELECT 1 FROM connections WHERE _name_rank = 0 AND name IS NOT NULL LIMIT 1';
    return this.#sqlite.prepare(unclaimed).get() !== undefined;
  }

  /**
   * Frees the names of connections that another program altered, so that the first list that gives one is believed, and takes
   * away those among them that nothing refers to.
   *
   * @returns whether anything was not as docmirror wrote it.
   */
  freeAltered(): boolean {
    const altered = [...this.#fingerprintsOfRows.check()].filter(({ isAsWritten }) => !isAsWritten);
    for (const { rowId } of altered) {
      if (this.#isReferenced(rowId)) this.#free(rowId);
      else this.#removeRow(rowId);
    }
    const kept = new Sum();
    for (const { content } of this.rows()) if (content !== null) kept.add(content);
    const isAltered = altered.length > 0 || !kept.equals(this.#sum.current);
    if (isAltered) this.#sum.replace(kept);
    this.#saveSums();
    return isAltered;
  }

  /** The content stays what it was, by which the name is known again; only what nobody could read of the row goes. */
  #free(id: number): void {
    const row = this.read(id) as ConnectionRow;
    const extra = 'value' in tryToRead(() => contentOf(row)) ? row.extra : null;
    if (extra !== row.extra || row.content === null) {
      const content = row.content ?? contentOf({ ...row, extra });
      this.#update.run(row.name, extra, row.changedRunId, content, id);
    }
    this.#noteSource(0, null, id);
  }

  /** Notes that the record which gave a connection its name may be gone. */
  unclaim(id: number, rank: number, time: string | null): void {
    const row = this.read(id);
    if (row?.nameRank === rank && compareTimes(time, row.nameTime) >= 0) this.#noteSource(0, null, id);
  }

  /** Removes those of the connections, and of the ones just inserted, that no record refers to, and returns them. */
  removeUnreferenced(ids: Iterable<number>): EndedConnection[] {
    const ended: EndedConnection[] = [];
    for (const id of new Set([...ids, ...this.#inserted])) {
      const row = this.read(id);
      if (row === undefined || this.#isReferenced(id)) continue;
      this.#removeRow(id);
      this.#sum.subtract(row.content ?? contentOf(row));
      ended.push({ row, endedBy: 'removal' });
    }
    this.#saveSums();
    return ended;
  }

  #insertClaim({ id, name, extra, time }: ConnectionClaim, rank: number, runId: number): void {
    const content = connectionContent(id, name, extra);
    const [nameRank, nameTime] = name === null ? [0, null] : [rank, time];
    this.#insert.run(id, name, extra, nameRank, nameTime, runId, runId, content);
    this.#fingerprintsOfRows.set(id);
    this.#sum.add(content);
    this.#inserted.add(id);
  }

  #isReferenced(id: number): boolean {
    return this.#references.some(reference => reference.get(id) !== undefined);
  }

  #removeRow(id: number): void {
    this.#fingerprintsOfRows.drop(id);
    this.#remove.run(id);
  }

  /** Puts back what another program altered: it was never a version of its own. */
  #restore(row: ConnectionRow, { id, name, extra, time }: ConnectionClaim, rank: number): void {
    this.#update.run(name, extra, row.changedRunId, row.content, id);
    this.#noteSource(name === null ? 0 : rank, name === null ? null : time, id);
  }

  #updateToClaim(row: ConnectionRow, { id, name, extra }: ConnectionClaim, runId: number): void {
    const content = connectionContent(id, name, extra);
    this.#update.run(name, extra, runId, content, id);
    this.#fingerprintsOfRows.set(id);
    this.#sum.subtract(row.content ?? contentOf(row));
    this.#sum.add(content);
  }

  /** A name that this list gave and gives no more is free for the next list that knows one. */
  #giveUp(claims: ConnectionClaims, rank: number): void {
    for (const id of this.#claimedBy.all(rank)) if (!claims.has(id)) this.#noteSource(0, null, id);
  }

  #noteSource(rank: number, time: string | null, id: number): void {
    this.#setSource.run(rank, time, id);
    this.#fingerprintsOfRows.set(id);
  }

  #saveSums(): void {
    this.#sum.save();
    this.#fingerprints?.save();
  }

  /** Made when first written to: who only reads needs none. */
  get #fingerprintsOfRows(): Fingerprints {
    this.#fingerprints ??= new Fingerprints(this.#sqlite, 'connections');
    return this.#fingerprints;
  }
}

function contentOf({ id, name, extra }: StoredConnection): Buffer {
  return connectionContent(id, name, extra);
}

/** True where a claim says just what docmirror wrote, and the row does not any more. */
function isAlteredFrom({ name, extra, content }: ConnectionRow, claim: ConnectionClaim): boolean {
  if (name === claim.name && extra === claim.extra) return false;
  return content?.equals(contentOf(claim)) === true;
}

function isBelieved(claim: ConnectionClaim, row: ConnectionRow, rank: number, isComplete: boolean): boolean {
  if (claim.name === null) return row.name === null && claim.extra !== null && claim.extra !== row.extra;
  if (row.nameRank !== rank) return rank > row.nameRank;
  return isComplete || compareTimes(claim.time, row.nameTime) >= 0;
}

function referencingColumns(): [table: string, column: string][] {
  return lists.flatMap(list =>
    list.fields.flatMap((field): [string, string][] => {
      if (field.kind === 'connection') return [[list.table, field.column]];
      return field.kind === 'connections' ? [[field.table, field.column]] : [];
    }),
  );
}
