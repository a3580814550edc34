import { FingerprintSum, hash16 } from '../../contract/fingerprint.ts';
import type { PageContent } from '../../contract/page.ts';
import {
  type MirrorRecord,
  type PageReader,
  packIdentities,
  type Rejection,
  scalarFields,
} from '../../contract/record.ts';
import type { PageFacts } from '../../sync/ports.ts';
import { ConnectionClaims } from '../tables/connection-claims.ts';
import type { ListTable } from '../tables/list-table.ts';
import { packIds, unpackIds } from './id-runs.ts';
import { IdSet } from './id-set.ts';
import { KeySet } from './key-set.ts';
import type { KnownPage } from './known-pages.ts';
import type { StagedPage } from './staging.ts';

/** A page that was compared: what is to be staged of it, and what was found in it. */
export interface ComparedPage {
  readonly staged: StagedPage;
  readonly newRecords: readonly MirrorRecord[];
  readonly rejections: readonly Rejection[];
}

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
  /** False where pages were known or taken up from an interrupted run, whose records are not read again. */
  claimsAreComplete = true;
  readonly #table: ListTable;
  readonly #reader: PageReader;
  readonly #hasRows: boolean;
  readonly #news: NewRecords;
  readonly #timeAt: number;

  constructor(table: ListTable, reader: PageReader, hasRows: boolean) {
    this.#table = table;
    this.#reader = reader;
    this.#hasRows = hasRows;
    const { identity } = table.list;
    this.#news = identity.by === 'id' ? new NewIds() : new NewKeys();
    this.#timeAt =
      identity.by === 'id'
        ? -1
        : scalarFields(table.list).findIndex(field => field.name === identity.timeField);
  }

  /** Compares a page's records with the mirror. */
  compare(facts: PageFacts, content: PageContent, bytes: Buffer): ComparedPage {
    const { records, positions, rejections } = this.#reader.read(content);
    const onPage = new PageComparison(this.#table, this.#hasRows, this, this.#news);
    const sum = new FingerprintSum();
    records.forEach((record, at) => {
      sum.add(record.fingerprint);
      this.#noteConnections(record);
      onPage.add(record, positions[at] as number);
    });
    for (const rejection of rejections) sum.add(hash16(rejection.record));
    onPage.finish();
    const { newPositions: news, newRecords } = onPage;
    const findings = {
      ...facts,
      sum: sum.toBytes(),
      seenElsewhere: onPage.seenElsewhere,
      rejected: rejections.length,
      news: { count: news.length, first: news[0] ?? -1, last: news.at(-1) ?? -1, changed: onPage.changed },
    };
    const isNew = news.length + rejections.length > 0;
    const staged = {
      findings,
      rowIds: packIds(onPage.rowIds),
      news: isNew ? { positions: news, identities: packIdentities(newRecords), bytes } : null,
    };
    return { staged, newRecords, rejections };
  }

  /** Enters a page whose bytes are those of the last sweep: its rows are known without reading it. */
  enterKnown(facts: PageFacts, { sum, rowIds }: KnownPage): ComparedPage {
    this.claimsAreComplete = false;
    let seenElsewhere = 0;
    for (const id of unpackIds(rowIds)) {
      if (this.seen.has(id) || this.changed.has(id)) seenElsewhere++;
      this.noteSeen(id);
    }
    const findings = { ...facts, sum, seenElsewhere, rejected: 0, news: nothingNew };
    return { staged: { findings, rowIds, news: null }, newRecords: [], rejections: [] };
  }

  /** How many of the mirror's rows the walk has seen, as they are or changed. */
  get rowsSeen(): number {
    return this.seen.size + this.changed.size - this.changedThenSeen;
  }

  /** Takes a page up again that an interrupted run has staged; `page` is its content where something in it was new. */
  takeUp(staged: StagedPage, page: PageContent | null): void {
    for (const id of unpackIds(staged.rowIds)) this.noteSeen(id);
    if (page === null) {
      this.claimsAreComplete = false;
      return;
    }
    const isNew = new Set(staged.news?.positions);
    const { records, positions } = this.#reader.read(page);
    records.forEach((record, at) => {
      this.#noteConnections(record);
      if (!isNew.has(positions[at] as number)) return;
      this.#news.add(record);
      if (this.#hasRows) this.noteChanged(this.#table.find(record));
    });
  }

  /** Notes a row as changed for a record that has none of its own content. */
  noteChanged(rows: readonly number[]): void {
    const row = rows.find(id => !this.seen.has(id) && !this.changed.has(id));
    if (row !== undefined) this.changed.add(row);
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

const nothingNew = { count: 0, first: -1, last: -1, changed: 0 };

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
  /** New records that stand in the mirror with another content. */
  changed = 0;
  readonly #table: ListTable;
  readonly #hasRows: boolean;
  readonly #walk: WalkComparison;
  readonly #news: NewRecords;
  readonly newRecords: MirrorRecord[] = [];
  readonly #rowsOnPage = new Set<number>();
  readonly #isUnseen = (id: number): boolean => !this.#walk.seen.has(id);

  constructor(table: ListTable, hasRows: boolean, walk: WalkComparison, news: NewRecords) {
    this.#table = table;
    this.#hasRows = hasRows;
    this.#walk = walk;
    this.#news = news;
  }

  add(record: MirrorRecord, position: number): void {
    const isOnOtherPage = this.#news.size > 0 && this.#news.has(record);
    const row = this.#hasRows ? this.#table.findSame(record, this.#isUnseen) : undefined;
    if (row !== undefined) {
      this.#walk.noteSeen(row);
      this.#rowsOnPage.add(row);
      this.rowIds.push(row);
      if (isOnOtherPage) this.seenElsewhere++;
      return;
    }
    const rows = this.#hasRows ? this.#table.find(record) : [];
    this.newPositions.push(position);
    this.newRecords.push(record);
    if (rows.length > 0) this.changed++;
    this.#walk.noteChanged(rows);
    if (isOnOtherPage || this.#standsOnOtherPage(rows)) this.seenElsewhere++;
  }

  /** Counts the page's new records as seen; not before its end, for twins on one page are real. */
  finish(): void {
    for (const record of this.newRecords) this.#news.add(record);
  }

  #standsOnOtherPage(rows: readonly number[]): boolean {
    return rows.some(id => this.#walk.seen.has(id) && !this.#rowsOnPage.has(id));
  }
}
