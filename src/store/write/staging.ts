import { crc32 } from 'node:zlib';
import Database from 'better-sqlite3';
import { MirrorFileError } from '../../errors.ts';
import { type Answer, rejectedRow } from '../../proof/answer.ts';
import type { Envelope } from '../../proof/envelope.ts';
import { FilePlace } from '../file/file-identity.ts';
import { openStagingFile, type StagingLayout } from '../file/staging-file.ts';

/** A page that was read, by the digest of its items: the same page of another walk is the same. */
export interface StagedPage {
  readonly digest: string;
  readonly count: number;
  /** 32 hexadecimal digits: the sum over all items. */
  readonly sum: string;
  readonly rejectedCount: number;
  readonly rejectedSum: string;
  /** 16 bytes an item, in order. */
  readonly contents: Buffer;
  /** 8 bytes an item: the service's ids; null in a list without ids. */
  readonly ids: Buffer | null;
  /** 8 bytes an item: the mirror's row that holds it, NaN where there is none, `rejectedRow` where it was rejected. */
  readonly rows: Buffer;
  /** JSON: what its records say of connections. */
  readonly claims: string;
  /** JSON: its new records with their places, where they are few and none was rejected; null otherwise. */
  readonly newRecords: string | null;
  /** The items as received, where more of them are new, or some rejected; null otherwise. */
  readonly bytes: Buffer | null;
}

/** A staged page as it is read back: its bytes, which are most of it, only where they are asked for. */
export interface KeptPage extends Omit<StagedPage, 'bytes'> {
  bytes(): Buffer | null;
}

/** A page of a walk: which page it is, and the total that its answer stated. */
export type StagedPlace = Pick<Answer, 'index' | 'total' | 'digest'>;

/** Which service and which state of the mirror a staged walk belongs to: it can be taken up again only where both still fit. */
export interface WalkOrigin extends Envelope {
  readonly baseUrl: string;
  readonly runId: number;
  readonly runStartedAt: string;
}

/** A page and its place are two writes; a page that is known already has its place alone. */
const writesPerCommit = 16;
const commitIntervalMs = 200;

/** The tables' shape; a staging file of another one is begun anew. */
const layout: StagingLayout = {
  version: 14,
  sql: `
  DROP TABLE IF EXISTS walks;
  DROP TABLE IF EXISTS places;
  DROP TABLE IF EXISTS pages;
  DROP TABLE IF EXISTS answers;
  DROP TABLE IF EXISTS mirror_mark;
  CREATE TABLE walks (resource TEXT PRIMARY KEY, begun_at INTEGER NOT NULL, origin TEXT NOT NULL) STRICT;
  CREATE TABLE places (
    number INTEGER PRIMARY KEY, resource TEXT NOT NULL, page_index INTEGER NOT NULL, total INTEGER NOT NULL,
    digest TEXT NOT NULL
  ) STRICT;
  CREATE TABLE pages (
    resource TEXT NOT NULL, digest TEXT NOT NULL, item_count INTEGER NOT NULL, sum TEXT NOT NULL,
    rejected_count INTEGER NOT NULL, rejected_sum TEXT NOT NULL, contents BLOB NOT NULL, ids BLOB, row_ids BLOB NOT NULL,
    claims TEXT NOT NULL, new_records TEXT, check_sum INTEGER NOT NULL,
    PRIMARY KEY (resource, digest)
  ) STRICT;
  CREATE TABLE answers (
    resource TEXT NOT NULL, digest TEXT NOT NULL, bytes BLOB NOT NULL, check_sum INTEGER NOT NULL,
    PRIMARY KEY (resource, digest)
  ) STRICT;
  CREATE TABLE mirror_mark (mark TEXT NOT NULL) STRICT;
`,
};

/**
 * The file beside the mirror that keeps the pages that a run has read until they are applied, and the places of its first walk,
 * so that an interrupted walk can be taken up again. It is held under an exclusive lock for as long as it is open: that lock is
 * the rule that one run works on a mirror at a time, and the system drops it when the process dies. The file itself is never
 * removed, for another process may be waiting at it.
 */
export class Staging {
  readonly #sqlite: Database.Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #place: FilePlace;
  #writesInTransaction = 0;
  #committedAtMs = 0;

  /**
   * @throws MirrorBusyError, RefusedFileError as `openStagingFile` does.
   */
  static open(path: string): Staging {
    return new Staging(openStagingFile(path, layout));
  }

  /** Staging in a temporary file that no one else sees and that ends with its connection. */
  static openTemporary(): Staging {
    const sqlite = new Database('');
    sqlite.exec(layout.sql);
    return new Staging(sqlite);
  }

  private constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#statements = prepare(sqlite);
    this.#place = new FilePlace(sqlite.name);
  }

  /**
   * Makes sure that the lock still lies where other runs look for it.
   *
   * @throws MirrorFileError where the file was moved away or removed: another run may hold the mirror meanwhile.
   */
  assertInPlace(): void {
    this.#place.assertKept({ is: 'the lock', danger: 'another run may write to the mirror now' });
  }

  /** Begins the first walk of a list and forgets all that was staged of the list before. */
  beginWalk(resource: string, origin: WalkOrigin, nowMs: number): void {
    this.clear(resource);
    this.#statements.beginWalk.run(resource, nowMs, JSON.stringify(origin));
  }

  /** The first walk of a list that was begun and not cleared; null where there is none. */
  interruptedWalk(resource: string): { begunAtMs: number; origin: WalkOrigin } | null {
    const row = this.#statements.walk.get(resource);
    if (row === undefined) return null;
    try {
      return { begunAtMs: row.begun_at, origin: JSON.parse(row.origin) as WalkOrigin };
    } catch {
      // Damaged on the disk: the walk is begun anew.
      return null;
    }
  }

  /** Remembers where a page stands in the first walk of a list. */
  addPlace(resource: string, { index, total, digest }: StagedPlace): void {
    this.#begin();
    this.#statements.addPlace.run(resource, index, total, digest);
    this.#commitWhenDue();
  }

  /** The places of the first walk of a list, in the order in which they came. */
  places(resource: string): StagedPlace[] {
    return this.#statements.places.all(resource);
  }

  /** Stages a page that was read. Pages and places are committed many at a time, or after 200 ms. */
  addPage(resource: string, page: StagedPage): void {
    this.#begin();
    const { digest, count, sum, rejectedCount, rejectedSum, contents, ids, rows, claims, bytes } = page;
    const values = [count, sum, rejectedCount, rejectedSum, contents, ids, rows, claims, page.newRecords];
    this.#statements.addPage.run(resource, digest, ...values, checkSumOf(page));
    if (bytes !== null) this.#statements.addAnswer.run(resource, digest, bytes, crc32(bytes));
    this.#commitWhenDue();
  }

  /**
   * A staged page; null where there is none.
   *
   * @throws MirrorFileError where it was damaged on the disk.
   */
  page(resource: string, digest: string): KeptPage | null {
    const row = this.#statements.page.get(resource, digest);
    if (row === undefined) return null;
    const { check_sum, ...page } = row;
    if (checkSumOf(page) !== check_sum) throw this.#damaged();
    return { ...page, bytes: () => this.#answer(resource, digest) };
  }

  #answer(resource: string, digest: string): Buffer | null {
    const row = this.#statements.answer.get(resource, digest);
    if (row === undefined) return null;
    if (crc32(row.bytes) !== row.check_sum) throw this.#damaged();
    return row.bytes;
  }

  #damaged(): MirrorFileError {
    return new MirrorFileError(`${this.#sqlite.name} is damaged. Check the disk, and run again.`);
  }

  /** Forgets the pages of a list that were damaged on the disk: they can be asked for again. */
  forgetDamaged(resource: string): void {
    for (const digest of this.#statements.digests.all(resource)) {
      const row = this.#statements.page.get(resource, digest);
      const answer = this.#statements.answer.get(resource, digest);
      const isWhole =
        row !== undefined &&
        checkSumOf(row) === row.check_sum &&
        (answer === undefined || crc32(answer.bytes) === answer.check_sum);
      if (!isWhole) this.#statements.clearPage.run(resource, digest);
    }
  }

  /** Forgets which rows of the mirror hold the staged pages: they are not there any more. */
  forgetRows(resource: string): void {
    for (const digest of this.#statements.digests.all(resource)) {
      const page = this.page(resource, digest);
      if (page !== null) this.addPage(resource, { ...page, rows: withoutRows(page.rows), bytes: null });
    }
  }

  #commitWhenDue(): void {
    this.#writesInTransaction++;
    if (
      this.#writesInTransaction >= writesPerCommit ||
      performance.now() - this.#committedAtMs > commitIntervalMs
    )
      this.commit();
  }

  commit(): void {
    if (this.#sqlite.inTransaction) this.#sqlite.exec('COMMIT');
    this.#writesInTransaction = 0;
    this.#committedAtMs = performance.now();
  }

  /** Forgets all that is staged of a list. */
  clear(resource: string): void {
    this.commit();
    this.#statements.clearPlaces.run(resource);
    this.#statements.clearPages.run(resource);
    this.#statements.clearAnswers.run(resource);
    this.#statements.clearWalk.run(resource);
  }

  /** Forgets all that is staged of a list that is written; where the disk is full, the next run does, for it sees that it is of no use. */
  discard(resource: string): void {
    try {
      this.clear(resource);
    } catch (error) {
      if (!(error instanceof Database.SqliteError)) throw error;
    }
  }

  /** How the mirror's file looked when a run left it, see `markOf`; null if nothing is known of that. */
  mark(): string | null {
    return this.#sqlite.prepare<[], string>('SELECT mark FROM mirror_mark').pluck().get() ?? null;
  }

  /** Notes how a run leaves the mirror's file; null for a file that the next run has to look at. */
  setMark(mark: string | null): void {
    try {
      this.commit();
      this.#sqlite.exec('DELETE FROM mirror_mark');
      if (mark !== null) this.#sqlite.prepare('INSERT INTO mirror_mark (mark) VALUES (?)').run(mark);
    } catch (error) {
      // If the disk is full, the next run looks at every row, and nothing else is lost.
      if (!(error instanceof Database.SqliteError)) throw error;
    }
  }

  /** Closes the file and so lets the next run in. Where nothing is staged any more, the file is made small first. */
  close(): void {
    try {
      this.commit();
      const isEmpty = this.#sqlite.prepare('SELECT count(*) FROM walks').pluck().get() === 0;
      if (isEmpty) this.#sqlite.exec('VACUUM');
    } catch (error) {
      // Staged pages can be asked for again, and a file can be made small later: a full disk must not hide what went wrong before.
      if (!(error instanceof Database.SqliteError)) throw error;
    } finally {
      this.#sqlite.close();
    }
  }

  #begin(): void {
    if (!this.#sqlite.inTransaction) this.#sqlite.exec('BEGIN');
  }
}

/** Takes the rows away; what was rejected stays so. */
function withoutRows(rows: Buffer): Buffer {
  const left = Buffer.from(rows);
  for (let at = 0; at < left.length; at += Float64Array.BYTES_PER_ELEMENT) {
    if (left.readDoubleLE(at) !== rejectedRow) left.writeDoubleLE(Number.NaN, at);
  }
  return left;
}

/** The file is not synced to the disk, so a power cut may leave pages that are there and hold something else. */
function checkSumOf(page: Omit<StagedPage, 'bytes'>): number {
  const { digest, sum, rejectedSum, contents, ids, rows, claims, newRecords } = page;
  const parts = [digest, sum, rejectedSum, contents, ids, rows, claims, newRecords];
  return parts.reduce((checkSum: number, part) => crc32(part ?? '', checkSum), 0);
}

function prepare(sqlite: Database.Database) {
  return {
    beginWalk: sqlite.prepare('INSERT OR REPLACE INTO walks (resource, begun_at, origin) VALUES (?, ?, ?)'),
    walk: sqlite.prepare<[string], { begun_at: number; origin: string }>(
      'SELECT begun_at, origin FROM walks WHERE resource = ?',
    ),
    addPlace: sqlite.prepare('INSERT INTO places (resource, page_index, total, digest) VALUES (?, ?, ?, ?)'),
    places: sqlite.prepare<[string], StagedPlace>(
      'SELECT page_index AS "index", total, digest FROM places WHERE resource = ? ORDER BY number',
    ),
    addPage: sqlite.prepare('INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    addAnswer: sqlite.prepare('INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)'),
    answer: sqlite.prepare<[string, string], { bytes: Buffer; check_sum: number }>(
      'SELECT bytes, check_sum FROM answers WHERE resource = ? AND digest = ?',
    ),
    clearAnswers: sqlite.prepare('DELETE FROM answers WHERE resource = ?'),
    page: sqlite.prepare<[string, string], Omit<StagedPage, 'bytes'> & { check_sum: number }>(
      `SELECT digest, item_count AS count, sum, rejected_count AS rejectedCount, rejected_sum AS rejectedSum,
         contents, ids, row_ids AS rows, claims, new_records AS newRecords, check_sum
       FROM pages WHERE resource = ? AND digest = ?`,
    ),
    digests: sqlite.prepare<[string], string>('SELECT digest FROM pages WHERE resource = ?').pluck(),
    clearPlaces: sqlite.prepare('DELETE FROM places WHERE resource = ?'),
    clearPages: sqlite.prepare('DELETE FROM pages WHERE resource = ?'),
    clearPage: sqlite.prepare('DELETE FROM pages WHERE resource = ? AND digest = ?'),
    clearWalk: sqlite.prepare('DELETE FROM walks WHERE resource = ?'),
  };
}
