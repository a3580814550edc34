import { rmSync, truncateSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import Database from 'better-sqlite3';
import type { Pagination } from '../../contract/page.ts';
import type { KnownIdentities } from '../../contract/record.ts';
import { MirrorBusyError, MirrorFileError } from '../../errors.ts';
import type { PageFindings, WalkEnvelope } from '../../sync/ports.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';

/** A page of a walk as it is staged: what it showed, which rows of the mirror it holds, and its bytes where something is new. */
export interface StagedPage {
  readonly findings: PageFindings;
  /** Ids of the mirror's rows that the page holds unchanged, packed. */
  readonly rowIds: Buffer;
  /** What is not in the mirror as it stands here; null when the page brings nothing. */
  readonly news: PageNews | null;
}

/** The records of a page that are new or changed, with the page's bytes. */
export interface PageNews extends KnownIdentities {
  readonly bytes: Buffer;
}

/** Which service and which state of the mirror a staged walk belongs to: it can be taken up again only where both still fit. */
export interface WalkOrigin extends WalkEnvelope {
  readonly baseUrl: string;
  readonly runId: number;
  readonly runStartedAt: string;
}

const pagesPerCommit = 8;
const commitIntervalMs = 200;

/** The tables' shape; a staging file of another one is begun anew. */
const layoutVersion = 4;

const layout = `
  DROP TABLE IF EXISTS walks;
  DROP TABLE IF EXISTS pages;
  CREATE TABLE walks (
    resource TEXT NOT NULL, walk INTEGER NOT NULL, begun_at INTEGER NOT NULL, origin TEXT NOT NULL,
    PRIMARY KEY (resource, walk)
  ) STRICT;
  CREATE TABLE pages (
    resource TEXT NOT NULL, walk INTEGER NOT NULL, page_no INTEGER NOT NULL,
    findings TEXT NOT NULL, sum BLOB NOT NULL, row_ids BLOB NOT NULL, positions BLOB, identities BLOB, bytes BLOB,
    check_sum INTEGER NOT NULL,
    PRIMARY KEY (resource, walk, page_no)
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${layoutVersion};
`;

/**
 * The file beside the mirror that keeps the pages of a walk until they are applied, page by page, so that an interrupted
 * walk can be taken up again. It is held under an exclusive lock for as long as it is open: that lock is the rule that one
 * run works on a mirror at a time, and the system drops it when the process dies. The file itself is never removed, for
 * another process may be waiting at it.
 */
export class Staging {
  readonly #sqlite: Database.Database;
  readonly #statements: ReturnType<typeof prepare>;
  #pagesInTransaction = 0;
  #committedAt = 0;

  /**
   * @throws MirrorBusyError where another process has it open.
   */
  static open(path: string): Staging {
    try {
      return new Staging(openLocked(path));
    } catch (error) {
      if (!hasCode(error, 'SQLITE_CORRUPT') && !hasCode(error, 'SQLITE_NOTADB'))
        throw explainSqliteError(error, path);
      // Staged pages can always be asked for again, so a damaged file is emptied; in place, for the lock is the file.
      rmSync(`${path}-wal`, { force: true });
      truncateSync(path);
      return new Staging(openLocked(path));
    }
  }

  /** Staging in a temporary file that no one else sees and that ends with its connection. */
  static openTemporary(): Staging {
    const sqlite = new Database('');
    sqlite.exec(layout);
    return new Staging(sqlite);
  }

  private constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#statements = prepare(sqlite);
  }

  /** Begins a walk and forgets what was staged of it before. */
  beginWalk(resource: string, walk: number, origin: WalkOrigin, nowMs: number): void {
    this.#statements.forgetPages.run(resource, walk);
    this.#statements.beginWalk.run(resource, walk, nowMs, JSON.stringify(origin));
  }

  /** The last walk of a list that was begun and not cleared; null where there is none. */
  lastWalk(resource: string): { walk: number; begunAtMs: number; origin: WalkOrigin } | null {
    const row = this.#statements.lastWalk.get(resource);
    if (row === undefined) return null;
    try {
      return { walk: row.walk, begunAtMs: row.begun_at, origin: JSON.parse(row.origin) as WalkOrigin };
    } catch {
      // Damaged on the disk: the walk is begun anew.
      return null;
    }
  }

  /** Moves a staged walk to the place of the first one, and forgets the others. */
  keepAsFirstWalk(resource: string, walk: number): void {
    if (walk === 1) return;
    this.#statements.forgetOtherPages.run(resource, walk);
    this.#statements.forgetOtherWalks.run(resource, walk);
    this.#statements.renumberPages.run(resource);
    this.#statements.renumberWalks.run(resource);
  }

  /** Stages a page. Pages are committed a few at a time, or after 200 ms. */
  add(resource: string, walk: number, page: StagedPage): void {
    if (!this.#sqlite.inTransaction) this.#sqlite.exec('BEGIN');
    const { sum, ...findings } = page.findings;
    const content = [
      JSON.stringify(findings),
      sum,
      page.rowIds,
      page.news && packPositions(page.news.positions),
      page.news?.identities ?? null,
      page.news?.bytes ?? null,
    ];
    this.#statements.addPage.run(resource, walk, findings.pageNo, ...content, checkSumOf(content));
    this.#pagesInTransaction++;
    if (this.#pagesInTransaction >= pagesPerCommit || Date.now() - this.#committedAt > commitIntervalMs)
      this.commit();
  }

  commit(): void {
    if (this.#sqlite.inTransaction) this.#sqlite.exec('COMMIT');
    this.#pagesInTransaction = 0;
    this.#committedAt = Date.now();
  }

  /** The digest of a staged page's items; undefined where it is not staged whole. */
  digestOfPage(resource: string, walk: number, pageNo: number): string | undefined {
    const row = this.#statements.nextPage.get(resource, walk, pageNo - 1);
    return row?.page_no === pageNo && isWhole(row) ? toStagedPage(row).findings.itemsDigest : undefined;
  }

  /**
   * A walk's pages in the order of their numbers, one at a time. A page that was damaged on the disk is left out: it can be
   * asked for again.
   */
  *pages(resource: string, walk: number): Generator<StagedPage> {
    for (const row of this.#each(this.#statements.nextPage, resource, walk)) {
      if (isWhole(row)) yield toStagedPage(row);
    }
  }

  /** Those of a walk's pages that bring nothing new; their rows alone matter. */
  *pagesWithoutNews(resource: string, walk: number): Generator<StagedPage> {
    for (const row of this.#each(this.#statements.nextPageWithoutNews, resource, walk)) {
      if (isWhole(row)) yield toStagedPage(row);
    }
  }

  /**
   * Those of a walk's pages that bring something new.
   *
   * @throws MirrorFileError where one was damaged on the disk since it was staged or taken up.
   */
  *pagesWithNews(resource: string, walk: number): Generator<StagedPage & { news: PageNews }> {
    for (const row of this.#each(this.#statements.nextPageWithNews, resource, walk)) {
      if (!isWhole(row))
        throw new MirrorFileError(`${this.#sqlite.name} is damaged. Check the disk, and run again.`);
      yield toStagedPage(row) as StagedPage & { news: PageNews };
    }
  }

  /** A statement a page, not an iterator: the pages are read while the event loop runs. */
  *#each(
    next: Database.Statement<[string, number, number], PageRow>,
    resource: string,
    walk: number,
  ): Generator<PageRow> {
    this.commit();
    let after = Number.NEGATIVE_INFINITY;
    for (;;) {
      const row = next.get(resource, walk, after);
      if (row === undefined) return;
      after = row.page_no;
      yield row;
    }
  }

  /** Forgets the pages of one walk. */
  forgetPages(resource: string, walk: number): void {
    this.#statements.forgetPages.run(resource, walk);
  }

  /** Forgets all that is staged of a list. */
  clear(resource: string): void {
    this.commit();
    this.#statements.clearPages.run(resource);
    this.#statements.clearWalks.run(resource);
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
}

interface PageRow {
  page_no: number;
  findings: string;
  sum: Buffer;
  row_ids: Buffer;
  positions: Buffer | null;
  identities: Buffer | null;
  bytes: Buffer | null;
  check_sum: number;
}

/** The file is not synced to the disk, so a power cut may leave pages that are there and hold something else. */
function isWhole({ findings, sum, row_ids, positions, identities, bytes, check_sum }: PageRow): boolean {
  return checkSumOf([findings, sum, row_ids, positions, identities, bytes]) === check_sum;
}

function checkSumOf(content: readonly (string | Buffer | null)[]): number {
  return content.reduce((sum: number, part) => crc32(part ?? '', sum), 0);
}

function toStagedPage(row: PageRow): StagedPage {
  const findings = JSON.parse(row.findings) as Omit<PageFindings, 'sum'> & { pagination: Pagination };
  const { bytes, positions, identities } = row;
  return {
    findings: { ...findings, sum: row.sum },
    rowIds: row.row_ids,
    news:
      bytes === null || positions === null || identities === null
        ? null
        : { positions: unpackPositions(positions), identities, bytes },
  };
}

function prepare(sqlite: Database.Database) {
  const one = 'resource = ? AND walk = ?';
  const others = 'resource = ? AND walk <> ?';
  return {
    beginWalk: sqlite.prepare(
      'INSERT OR REPLACE INTO walks (resource, walk, begun_at, origin) VALUES (?, ?, ?, ?)',
    ),
    lastWalk: sqlite.prepare<[string], { walk: number; begun_at: number; origin: string }>(
      'SELECT walk, begun_at, origin FROM walks WHERE resource = ? ORDER BY walk DESC LIMIT 1',
    ),
    addPage: sqlite.prepare('INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    nextPage: sqlite.prepare<[string, number, number], PageRow>(
      `SELECT * FROM pages WHERE ${one} AND page_no > ? ORDER BY page_no LIMIT 1`,
    ),
    nextPageWithoutNews: sqlite.prepare<[string, number, number], PageRow>(
      `SELECT * FROM pages WHERE ${one} AND page_no > ? AND bytes IS NULL ORDER BY page_no LIMIT 1`,
    ),
    nextPageWithNews: sqlite.prepare<[string, number, number], PageRow>(
      `SELECT * FROM pages WHERE ${one} AND page_no > ? AND bytes IS NOT NULL ORDER BY page_no LIMIT 1`,
    ),
    forgetPages: sqlite.prepare(`DELETE FROM pages WHERE ${one}`),
    forgetOtherPages: sqlite.prepare(`DELETE FROM pages WHERE ${others}`),
    forgetOtherWalks: sqlite.prepare(`DELETE FROM walks WHERE ${others}`),
    renumberPages: sqlite.prepare('UPDATE pages SET walk = 1 WHERE resource = ?'),
    renumberWalks: sqlite.prepare('UPDATE walks SET walk = 1 WHERE resource = ?'),
    clearPages: sqlite.prepare('DELETE FROM pages WHERE resource = ?'),
    clearWalks: sqlite.prepare('DELETE FROM walks WHERE resource = ?'),
  };
}

function openLocked(path: string): Database.Database {
  const sqlite = new Database(path, { timeout: 0 });
  try {
    sqlite.pragma('locking_mode = EXCLUSIVE');
    sqlite.pragma('journal_mode = WAL');
    // It may be damaged when the machine dies, which is found out here: the walk is then begun anew.
    sqlite.pragma('synchronous = OFF');
    // Pages are written once and read once: a cache would only hold memory.
    sqlite.pragma('cache_size = -2048');
    sqlite.exec('BEGIN EXCLUSIVE; COMMIT');
    if (sqlite.pragma('user_version', { simple: true }) !== layoutVersion) sqlite.exec(layout);
    if (sqlite.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      throw new Database.SqliteError('the staging file is damaged', 'SQLITE_CORRUPT');
    }
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw hasCode(error, 'SQLITE_BUSY') ? new MirrorBusyError('Another run holds this mirror.') : error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith(code);
}

function packPositions(positions: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(positions).buffer);
}

function unpackPositions(bytes: Buffer): number[] {
  return Array.from(new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)));
}
