import { FingerprintSum, hash16 } from '../contract/fingerprint.ts';
import type { Page } from '../contract/page.ts';
import { type MirrorRecord, type PageReader, scalarFields } from '../contract/record.ts';
import type { PageFacts } from '../sync/ports.ts';
import { ConnectionClaims } from './connection-claims.ts';
import { IdSet } from './id-set.ts';
import { KeySet } from './key-set.ts';
import type { ListTable, RowIdentity } from './list-table.ts';
import type { StagedPage } from './staging.ts';

/**
 * What one walk has shown of a list so far, held against the mirror: which rows it saw, which new records, and what it
 * says of connections. An unchanged record costs a look-up and a bit.
 */
export class WalkComparison {
  readonly seen = new IdSet();
  /** Rows whose record was seen with another content. */
  readonly changed = new IdSet();
  /** Rows that were first taken for a changed twin, and then seen as they are. */
  changedThenSeen = 0;
  readonly claims = new ConnectionClaims();
  /** False where pages were taken up from an interrupted run, whose records are not read again. */
  claimsAreComplete = true;
  readonly #table: ListTable;
  readonly #read: PageReader;
  readonly #hasRows: boolean;
  readonly #news: NewRecords;
  readonly #timeAt: number;

  constructor(table: ListTable, read: PageReader, hasRows: boolean) {
    this.#table = table;
    this.#read = read;
    this.#hasRows = hasRows;
    const { identity } = table.list;
    this.#news = identity.by === 'id' ? new NewIds() : new NewKeys();
    this.#timeAt =
      identity.by === 'id'
        ? -1
        : scalarFields(table.list).findIndex(field => field.name === identity.timeField);
  }

  /** Compares a page's records with the mirror. */
  compare(facts: PageFacts, page: Page): StagedPage {
    const { records, positions, rejections } = this.#read(page);
    const onPage = new PageComparison(this.#table, this.#hasRows, this, this.#news);
    const sum = new FingerprintSum();
    records.forEach((record, at) => {
      sum.add(record.fingerprint);
      this.#noteConnections(record);
      onPage.add(record, positions[at] as number);
    });
    for (const rejection of rejections) sum.add(hash16(rejection.record));
    onPage.finish();
    return {
      findings: {
        ...facts,
        sum: sum.toBytes(),
        seenElsewhere: onPage.seenElsewhere,
        rejected: rejections.length,
      },
      rowIds: onPage.rowIds,
      news:
        onPage.newPositions.length + rejections.length > 0
          ? { positions: onPage.newPositions, bytes: page.bytes }
          : null,
    };
  }

  /** How many of the mirror's rows the walk has seen, as they are or changed. */
  get rowsSeen(): number {
    return this.seen.size + this.changed.size - this.changedThenSeen;
  }

  /** Takes a page up again that an interrupted run has staged; `page` is its content where something in it was new. */
  takeUp(staged: StagedPage, page: Page | null): void {
    for (const id of staged.rowIds) this.noteSeen(id);
    if (page === null) {
      this.claimsAreComplete = false;
      return;
    }
    const isNew = new Set(staged.news?.positions);
    const { records, positions } = this.#read(page);
    records.forEach((record, at) => {
      this.#noteConnections(record);
      if (!isNew.has(positions[at] as number)) return;
      this.#news.add(record);
      if (this.#hasRows) this.noteChanged(this.#table.find(record));
    });
  }

  /** Notes a row as changed for a record that has none of its own content. */
  noteChanged(rows: readonly RowIdentity[]): void {
    const row = rows.find(({ id }) => !this.seen.has(id) && !this.changed.has(id));
    if (row !== undefined) this.changed.add(row.id);
  }

  /** Notes a row as seen as it is. */
  noteSeen(id: number): void {
    this.seen.add(id);
    if (this.changed.size > 0 && this.changed.has(id)) this.changedThenSeen++;
  }

  #noteConnections(record: MirrorRecord): void {
    if (record.mentions.length === 0) return;
    const time = this.#timeAt < 0 ? null : (record.scalars[this.#timeAt] as string | null);
    for (const mention of record.mentions) this.claims.offer(mention, time);
  }
}

/** Records that are not in the mirror as they stand in the walk. */
interface NewRecords {
  readonly size: number;
  has(record: MirrorRecord): boolean;
  add(record: MirrorRecord): void;
}

class NewKeys implements NewRecords {
  readonly #keys = new KeySet();
  get size(): number {
    return this.#keys.size;
  }
  has(record: MirrorRecord): boolean {
    return this.#keys.has(record.key as Buffer);
  }
  add(record: MirrorRecord): void {
    this.#keys.add(record.key as Buffer);
  }
}

class NewIds implements NewRecords {
  readonly #ids = new IdSet();
  get size(): number {
    return this.#ids.size;
  }
  has(record: MirrorRecord): boolean {
    return this.#ids.has(record.id as number);
  }
  add(record: MirrorRecord): void {
    this.#ids.add(record.id as number);
  }
}

/** One page held against the mirror and the pages before it. A page is one answer, so twins on it are real. */
class PageComparison {
  readonly rowIds: number[] = [];
  readonly newPositions: number[] = [];
  seenElsewhere = 0;
  readonly #table: ListTable;
  readonly #hasRows: boolean;
  readonly #walk: WalkComparison;
  readonly #news: NewRecords;
  readonly #newOnPage: MirrorRecord[] = [];
  readonly #rowsOnPage = new Set<number>();

  constructor(table: ListTable, hasRows: boolean, walk: WalkComparison, news: NewRecords) {
    this.#table = table;
    this.#hasRows = hasRows;
    this.#walk = walk;
    this.#news = news;
  }

  add(record: MirrorRecord, position: number): void {
    const rows = this.#hasRows ? this.#table.find(record) : [];
    const isOnOtherPage = this.#news.size > 0 && this.#news.has(record);
    const { seen } = this.#walk;
    const row = rows.find(({ id, fingerprint }) => !seen.has(id) && fingerprint.equals(record.fingerprint));
    if (row === undefined) {
      this.newPositions.push(position);
      this.#newOnPage.push(record);
      this.#walk.noteChanged(rows);
    } else {
      this.#walk.noteSeen(row.id);
      this.#rowsOnPage.add(row.id);
      this.rowIds.push(row.id);
    }
    if (isOnOtherPage || (row === undefined && this.#standsOnOtherPage(rows))) this.seenElsewhere++;
  }

  /** Counts the page's new records as seen; not before its end, for twins on one page are real. */
  finish(): void {
    for (const record of this.#newOnPage) this.#news.add(record);
  }

  #standsOnOtherPage(rows: readonly RowIdentity[]): boolean {
    return rows.some(({ id }) => this.#walk.seen.has(id) && !this.#rowsOnPage.has(id));
  }
}
