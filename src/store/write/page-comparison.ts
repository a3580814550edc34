import type Database from 'better-sqlite3';
import { contentOf, type RecordValues } from '../../contract/content.ts';
import { type ListDefinition, type Scalar, timeIndexOf } from '../../contract/lists.ts';
import type { Page } from '../../contract/page.ts';
import { readContent } from '../../contract/page-content.ts';
import { type MirrorRecord, type Rejection, readRecords } from '../../contract/record.ts';
import { contentBytes, hash16, Sum } from '../../contract/sum.ts';
import { type ReadItems, rejectedRow } from '../../proof/answer.ts';
import type { FoundOnPage } from '../../proof/incremental.ts';
import type { Places } from '../../proof/strip.ts';
import type { PageReading } from '../../sync/ports.ts';
import { ConnectionClaims } from '../tables/connection-claims.ts';
import type { ListTable, NewRecord } from '../tables/list-table.ts';
import type { KeptPage, StagedPage } from './staging.ts';

/** A page that was read and held against the mirror. */
export interface ComparedPage {
  readonly reading: PageReading;
  readonly staged: StagedPage;
  /** The records that no row of the mirror holds as they are, with their places on the page. */
  readonly newRecords: readonly PlacedRecord[];
}

/** A record with its place on its page, from 0. */
export interface PlacedRecord {
  readonly position: number;
  readonly record: MirrorRecord;
}

/** Where a page has one new record in so many or fewer, these alone are kept: parsing all of it again costs more. */
const fewOf = 4;

/** Reads pages and looks their records up in the mirror as it stands; decides nothing and changes nothing. */
export class PageComparison {
  readonly #table: ListTable;
  readonly #list: ListDefinition;
  readonly #timeAt: number;

  constructor(table: ListTable) {
    this.#table = table;
    this.#list = table.list;
    this.#timeAt = timeIndexOf(table.list);
  }

  /**
   * @param hasRows false where the mirror holds nothing of the list, so that nothing needs to be looked up.
   */
  compare(page: Page, hasRows: boolean): ComparedPage {
    const content = page.content ?? readContent(page.items);
    const { records, positions, rejections } = readRecords(this.#list, content);
    const { count } = content;
    const items = new PageItems(count, this.#list.identity.by === 'id');
    const sum = new Sum();
    const claims = new ConnectionClaims();
    const newRecords: PlacedRecord[] = [];
    const rows = hasRows ? this.#table.findAll(records) : [];
    let changed = 0;
    for (const [at, record] of records.entries()) {
      const position = positions[at] as number;
      sum.add(record.content);
      this.#note(record, claims);
      const row = rows[at];
      if (row === undefined) {
        newRecords.push({ position, record });
        if (hasRows && record.id !== null && this.#table.has(record.id)) changed++;
      }
      items.set(position, record.content, record.id, row);
    }
    const rejected = this.#addRejections(rejections, items, sum);
    const found = { ...placesOf(newRecords), changed };
    const reading = { count, digest: page.itemsDigest, sum, rejected, found };
    const isReadAgain = newRecords.length + rejections.length > 0;
    const areFew = rejections.length === 0 && newRecords.length * fewOf <= count;
    return {
      reading,
      staged: {
        ...items.staged(reading),
        claims: claimsJson(claims),
        newRecords: isReadAgain && areFew ? recordsJson(newRecords) : null,
        bytes: isReadAgain && !areFew ? page.items : null,
      },
      newRecords,
    };
  }

  #addRejections(rejections: readonly Rejection[], items: PageItems, sum: Sum): Sum | null {
    if (rejections.length === 0) return null;
    const rejected = new Sum();
    for (const { position, record } of rejections) {
      const content = hash16(record);
      rejected.add(content);
      sum.add(content);
      items.set(position, content, null, rejectedRow);
    }
    return rejected;
  }

  #note(record: MirrorRecord, claims: ConnectionClaims): void {
    if (record.mentions.length === 0) return;
    const time = this.#timeAt < 0 ? null : (record.scalars[this.#timeAt] as string | null);
    for (const mention of record.mentions) claims.offer(mention, time);
  }
}

/** What is kept of each item of a page, in the order of the items. */
class PageItems {
  readonly #contents: Buffer;
  readonly #ids: Float64Array | null;
  readonly #rows: Float64Array;

  constructor(count: number, hasIds: boolean) {
    this.#contents = Buffer.allocUnsafe(count * contentBytes);
    this.#ids = hasIds ? new Float64Array(count) : null;
    this.#rows = new Float64Array(count);
  }

  set(position: number, content: Buffer, id: number | null, row: number | undefined): void {
    content.copy(this.#contents, position * contentBytes);
    if (this.#ids !== null) this.#ids[position] = id ?? Number.NaN;
    this.#rows[position] = row ?? Number.NaN;
  }

  staged({ digest, count, sum, rejected }: PageReading): Omit<StagedPage, 'claims' | 'newRecords' | 'bytes'> {
    return {
      digest,
      count,
      sum: sum.toString(),
      rejectedCount: rejected?.count ?? 0,
      rejectedSum: rejected?.toString() ?? '',
      contents: this.#contents,
      ids: this.#ids && Buffer.from(this.#ids.buffer),
      rows: Buffer.from(this.#rows.buffer),
    };
  }
}

function placesOf(newRecords: readonly PlacedRecord[]): Omit<FoundOnPage, 'changed'> {
  return {
    newCount: newRecords.length,
    firstNew: newRecords[0]?.position ?? -1,
    lastNew: newRecords.at(-1)?.position ?? -1,
  };
}

type ClaimTuple = [
  id: number,
  name: string | null,
  extra: string | null,
  time: string | null,
  extraTime: string | null,
  lastTime: string | null,
];

function claimsJson(claims: ConnectionClaims): string {
  const tuples = [...claims].map((claim): ClaimTuple => {
    const { id, name, extra, time, extraTime, lastTime } = claim;
    return [id, name, extra, time, extraTime, lastTime];
  });
  return JSON.stringify(tuples);
}

/** Adds what a staged page says of connections to the claims of a walk. */
export function offerStaged({ claims }: KeptPage, target: ConnectionClaims): void {
  for (const [id, name, extra, time, extraTime, lastTime] of JSON.parse(claims) as ClaimTuple[]) {
    target.offer({ id, name, extra }, time, extraTime, lastTime);
  }
}

type RecordTuple = [
  position: number,
  id: number | null,
  scalars: readonly Scalar[],
  arrays: RecordValues['arrays'],
  extra: string | null,
];

function recordsJson(records: readonly PlacedRecord[]): string {
  const tuples = records.map(({ position, record: { id, scalars, arrays, extra } }): RecordTuple => {
    return [position, id, scalars, arrays, extra];
  });
  return JSON.stringify(tuples);
}

/**
 * Reads some of a staged page's records again, in their order, each with its content computed anew; rejected ones among them are
 * left out.
 *
 * @param positions those of records that no row held when the page was compared.
 */
export function readStaged(
  list: ListDefinition,
  page: KeptPage,
  positions: readonly number[],
): { readonly position: number; readonly record: NewRecord }[] {
  if (page.newRecords !== null) {
    const wanted = new Set(positions);
    return (JSON.parse(page.newRecords) as RecordTuple[])
      .filter(([position]) => wanted.has(position))
      .map(([position, id, scalars, arrays, extra]) => {
        const values = { id, scalars, arrays, extra };
        return { position, record: { ...values, content: Buffer.from(contentOf(list, values), 'hex') } };
      });
  }
  const bytes = page.bytes();
  if (bytes === null)
    throw new Error(`Page ${page.digest} of ${list.resource} was staged without what is new on it.`);
  const read = readRecords(list, readContent(bytes), positions);
  return read.records.map((record, at) => ({ position: read.positions[at] as number, record }));
}

/** The records of a staged page, or of some of its places, that no row held when the page was compared. */
export function newOn(
  list: ListDefinition,
  page: KeptPage,
  { from, to }: Places = { from: 0, to: page.count },
): ReturnType<typeof readStaged> {
  const { rows } = itemsOfStaged(page);
  const positions: number[] = [];
  for (let at = from; at < to; at++) if (Number.isNaN(rows[at])) positions.push(at);
  return positions.length === 0 ? [] : readStaged(list, page, positions);
}

/** The records of a staged page that can't be read. */
export function rejectionsOf(list: ListDefinition, page: KeptPage): readonly Rejection[] {
  const bytes = page.rejectedCount === 0 ? null : page.bytes();
  return bytes === null ? [] : readRecords(list, readContent(bytes)).rejections;
}

/** What a staged page holds, as the proof asks for it. */
export function itemsOfStaged({
  contents,
  ids,
  rows,
}: Pick<StagedPage, 'contents' | 'ids' | 'rows'>): ReadItems {
  return { contents, ids: ids && toDoubles(ids), rows: toDoubles(rows) };
}

function toDoubles(bytes: Buffer): Float64Array {
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** The database that a table belongs to is read in one transaction a page: without it each look-up takes and drops the file's locks by itself. */
export function inOneRead<T>(sqlite: Database.Database, work: () => T): T {
  return sqlite.inTransaction ? work() : sqlite.transaction(work)();
}
