import { type ListDefinition, timeIndexOf } from '../../contract/lists.ts';
import type { Page } from '../../contract/page.ts';
import { readContent } from '../../contract/page-content.ts';
import { type MirrorRecord, readRecords } from '../../contract/record.ts';
import { keyOf } from '../../contract/record-key.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';
import {
  beginOf,
  type PageAddress,
  type PageItems,
  type PageSummary,
  summaryOf,
} from '../../proof/windows/page.ts';
import type { PageReading } from '../../sync/ports.ts';
import { ConnectionClaims } from '../tables/connection-claims.ts';
import { IdSet } from './id-set.ts';
import type { ListContext } from './list-context.ts';
import type { ListRows } from './list-rows.ts';
import { RejectedRecords } from './rejected-records.ts';
import { IndexedRows, type RowFinder } from './row-finder.ts';

/** A page that was read, and when. */
export interface ShownPage {
  readonly items: PageItems;
  /** The numbers of the first and the last answer with it, among all answers of the run. */
  readonly first: number;
  last: number;
}

const nothingNew = { newCount: 0, insertedCount: 0, oldestNewKey: Number.NaN };

/** The records that a run reads of one list. Each is parsed and hashed once, compared with the rows, and written if it is new. */
export class ListReading {
  readonly rejected: RejectedRecords;
  /** The pages that were read, by the digests of their items. */
  readonly pages = new Map<string, ShownPage & { readonly summary: PageSummary }>();
  /** Whether a record that was written has fields without a column. */
  hasFurtherFields = false;
  /** False if a page was known and not parsed. */
  isComplete = true;
  readonly #list: ListDefinition;
  readonly #context: ListContext;
  readonly #timeAt: number;
  readonly #claims = [new ConnectionClaims()];
  /** The rows that answers have shown. */
  readonly #shown = new IdSet();
  /** The sum of the rows that answers have shown. */
  readonly #shownSum = new Sum();
  /** The sum before the run of the rows that were shown or replaced. */
  readonly startSum = new Sum();
  /** The newest key that was read, and the rows with it. */
  readonly newest = { key: Number.NEGATIVE_INFINITY, rows: new Set<number>() };
  #answerCount = 0;
  #rows: ListRows | null = null;

  constructor(context: ListContext) {
    this.#context = context;
    this.#list = context.list;
    this.#timeAt = timeIndexOf(context.list);
    this.rejected = new RejectedRecords(context.list);
  }

  /** The rows inside the transaction that writes them; null until something new is read. */
  get rows(): ListRows | null {
    return this.#rows;
  }

  set rows(rows: ListRows) {
    this.#rows = rows;
  }

  get shownSum(): Sum {
    return this.#shownSum;
  }

  get shownCount(): number {
    return this.#shownSum.count;
  }

  isShown(row: number): boolean {
    return this.#shown.has(row);
  }

  /** Notes that a row with a content is shown. */
  show(row: number, content: Uint8Array): void {
    if (this.#shown.add(row)) this.#shownSum.add(content);
  }

  /** Notes that a row is shown, whether or not the run has inserted it. */
  showAgain(row: number, content: Uint8Array): void {
    if (!this.#shown.has(row)) this.startSum.add(content);
    this.show(row, content);
  }

  /** Notes that a row from before the run is shown. */
  #showKnown(row: number, { content }: MirrorRecord, key: number): void {
    // A row that the run has inserted counts as shown already.
    this.showAgain(row, content);
    this.#noteNewest(row, key);
  }

  #noteNewest(row: number, key: number): void {
    if (!(key >= this.newest.key)) return;
    if (key > this.newest.key) this.newest.rows.clear();
    this.newest.key = key;
    this.newest.rows.add(row);
  }

  /** Notes that a row that was shown is gone, or has another content now. */
  takeBack(content: Buffer): void {
    this.#shownSum.subtract(content);
  }

  /** Notes that another row with the same key replaced a row. */
  replaceNewest(row: number, by: number): void {
    if (this.newest.rows.delete(row)) this.newest.rows.add(by);
  }

  beginRound(): void {
    this.#claims.push(new ConnectionClaims());
  }

  /** The claims of the answers about connections; if both are equally new, the later round wins. */
  claims(): ConnectionClaims {
    const claims = new ConnectionClaims();
    for (const round of this.#claims) claims.join(round);
    return claims;
  }

  /** Notes that a page was known and not parsed. */
  enterKnown(summary: PageSummary): PageReading {
    this.isComplete = false;
    this.#answerCount++;
    return { summary, ...nothingNew };
  }

  /** Whether a page was read before in this run. */
  wasRead(page: Page): boolean {
    return this.pages.has(page.itemsDigest);
  }

  /** Notes that the service returned a page again that this run has read. */
  enterAgain({ itemsDigest }: Page): PageReading {
    const page = this.pages.get(itemsDigest) as ShownPage & { summary: PageSummary };
    page.last = ++this.#answerCount;
    return { summary: page.summary, ...nothingNew };
  }

  /**
   * Reads a page.
   *
   * @param open begins the transaction that writes; it is called if a record is new.
   */
  async enter(page: Page, address: PageAddress, open: () => Promise<ListRows>): Promise<PageReading> {
    const content = page.content ?? readContent(page.items);
    const read = readRecords(this.#list, content);
    const { records, positions, rejections } = read;
    const rejected = this.rejected.add(rejections, beginOf(address));
    const items = {
      keys: new Float64Array(content.count),
      // If no record was rejected, these are the contents of all items in their order.
      contents: rejected.length === 0 ? read.contents : new Uint8Array(content.count * contentBytes),
    };
    const keys = new Float64Array(records.length);
    for (const [at, record] of records.entries()) {
      const position = positions[at] as number;
      const key = keyOf(this.#list, record, this.#timeAt);
      keys[at] = key;
      items.keys[position] = key;
      if (rejected.length > 0) items.contents.set(record.content, position * contentBytes);
      this.#hear(record);
    }
    for (const [at, { key, content: hash }] of rejected.entries()) {
      const position = rejections[at]?.position as number;
      items.keys[position] = key;
      items.contents.set(hash, position * contentBytes);
    }
    const summary = summaryOf(items, page.itemsDigest, this.#list.identity.by);
    const number = ++this.#answerCount;
    this.pages.set(page.itemsDigest, { items, summary, first: number, last: number });
    return { summary, ...(await this.#compare(records, keys, open)) };
  }

  async #compare(
    records: readonly MirrorRecord[],
    keys: Float64Array,
    open: () => Promise<ListRows>,
  ): Promise<Omit<PageReading, 'summary'>> {
    const isOfIds = this.#list.identity.by === 'id';
    const places = isOfIds ? this.#compareIds(records, keys) : this.#compareContents(records, keys);
    if (places.length === 0) return nothingNew;
    const rows = this.#rows ?? (await open());
    const unknown: number[] = [];
    let oldestNewKey = Number.POSITIVE_INFINITY;
    for (const at of places) {
      const record = records[at] as MirrorRecord;
      this.hasFurtherFields ||= record.extra !== null;
      oldestNewKey = Math.min(oldestNewKey, keys[at] as number);
      if (record.id !== null && this.#context.table.has(record.id)) this.#update(rows, record);
      else unknown.push(at);
    }
    const inserted = rows.insert(unknown.map(at => records[at] as MirrorRecord));
    for (const [number, at] of unknown.entries()) {
      const row = inserted[number] as number;
      this.show(row, (records[at] as MirrorRecord).content);
      this.#noteNewest(row, keys[at] as number);
    }
    return { newCount: places.length, insertedCount: unknown.length, oldestNewKey };
  }

  /** Shows the rows that match records with ids, and returns the places of the other records. */
  #compareIds(records: readonly MirrorRecord[], keys: Float64Array): number[] {
    const found = this.#finder.findAll(records);
    const seen = new Set<number>();
    const others: number[] = [];
    for (const [at, record] of records.entries()) {
      const row = found[at];
      // If an id is twice on a page, the first one counts.
      if (seen.has(record.id as number)) continue;
      seen.add(record.id as number);
      if (row === undefined) others.push(at);
      else this.#showKnown(row, record, keys[at] as number);
    }
    return others;
  }

  /**
   * For each content, shows up to as many rows as the page has records with it. Returns the places of the records without a row.
   */
  #compareContents(records: readonly MirrorRecord[], keys: Float64Array): number[] {
    const found = this.#finder.findAll(records);
    const again = new Map<number, Iterator<number, undefined>>();
    const onPage = new Set<number>();
    const others: number[] = [];
    for (const [at, record] of records.entries()) {
      let row = found[at];
      if (row !== undefined && onPage.has(row)) {
        const first = row;
        let same = again.get(first);
        if (same === undefined) {
          same = this.#finder.rowsOf(record);
          again.set(first, same);
          same.next();
        }
        row = same.next().value;
      }
      if (row === undefined) {
        others.push(at);
        continue;
      }
      onPage.add(row);
      this.#showKnown(row, record, keys[at] as number);
    }
    return others;
  }

  get #finder(): RowFinder {
    return this.#rows?.finder ?? new IndexedRows(this.#context.table);
  }

  #update(rows: ListRows, record: MirrorRecord): void {
    const id = record.id as number;
    const before = Buffer.from(this.#context.table.read(id).content, 'hex');
    if (this.isShown(id)) {
      this.takeBack(before);
      this.#shownSum.add(record.content);
    } else {
      this.startSum.add(before);
      this.show(id, record.content);
    }
    rows.writer.update(id, record);
  }

  #hear(record: MirrorRecord): void {
    if (record.mentions.length === 0) return;
    const time = this.#timeAt < 0 ? null : (record.scalars[this.#timeAt] as string | null);
    const claims = this.#claims.at(-1) as ConnectionClaims;
    for (const mention of record.mentions) claims.offer(mention, time);
  }
}
