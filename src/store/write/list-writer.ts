import type { Counting, ReadItems } from '../../proof/answer.ts';
import { GateError, PartialReadError, passGate } from '../../proof/gate.ts';
import { acceptedSum, partsOf } from '../../proof/parts.ts';
import type { Places, Strip } from '../../proof/strip.ts';
import type { Applied, ApplyOrder, ListOutcome } from '../../sync/ports.ts';
import { TimeSlice } from '../../time-slice.ts';
import { ConnectionClaims } from '../tables/connection-claims.ts';
import { ListComparison } from './list-comparison.ts';
import type { ListContext } from './list-context.ts';
import type { ListRows } from './list-rows.ts';
import { itemsOfStaged, newOn, offerStaged, readStaged, rejectionsOf } from './page-comparison.ts';
import { Rejections } from './rejections.ts';
import { SeenRows } from './seen-rows.ts';
import type { ListState } from './shortcuts.ts';
import type { KeptPage } from './staging.ts';

type ListOrder = Extract<ApplyOrder, { readonly kind: 'list' }>;
type EdgesOrder = Extract<ApplyOrder, { readonly kind: 'edges' }>;

/** What was learnt of the places at which new records stand. */
interface NewPlaces {
  count: number;
  first: number;
  last: number;
}

/** Writes one list inside an open transaction, which is left to be committed: rows, history, sums, shortcuts and the run's record. */
export class ListWriter {
  readonly #context: ListContext;
  readonly #rows: ListRows;
  readonly #stagedPage: (digest: string) => KeptPage | null;
  readonly #state: ListState;
  readonly #rejections: Rejections;
  readonly #newPlaces: NewPlaces = { count: 0, first: Number.POSITIVE_INFINITY, last: -1 };
  #removalsWithheld = 0;

  /** @param stagedPage finds a page that was read by its digest; null for one that was known and not read. */
  constructor(
    context: ListContext,
    rows: ListRows,
    stagedPage: (digest: string) => KeptPage | null,
    state: ListState,
  ) {
    const { list, run } = context;
    this.#context = context;
    this.#rows = rows;
    this.#stagedPage = stagedPage;
    this.#state = state;
    this.#rejections = new Rejections(rows.transaction, list.resource, run.id);
  }

  /**
   * @param recordCount the records in the mirror before.
   * @throws GateError where the rows do not come to what was read.
   */
  async write(
    order: ApplyOrder,
    recordCount: number,
    outcome: (applied: Applied) => ListOutcome,
    signal: AbortSignal,
  ): Promise<ListOutcome> {
    const claims = this.#hearOfConnections(order);
    if (order.kind === 'list') await this.#writeList(order, signal);
    else if (order.kind === 'edges') this.#writeEdges(order);
    else new SeenRows(this.#context.table, this.#rows.writer, this.#stagedPage).store(order.walks);
    this.#keepRejections(order);
    this.#writeShortcuts(order, recordCount, claims);
    const { records, run } = this.#context;
    const applied = this.#summarize(recordCount);
    const ended = outcome(applied);
    records.endList(this.#rows.transaction, run.id, ended, applied.recordCount);
    return ended;
  }

  async #writeList({ strip, changed, removalsMax }: ListOrder, signal: AbortSignal): Promise<void> {
    const withheld: number[] = [];
    if (changed === 'anything') {
      const gone = await this.#writeDifferences(strip, signal);
      const isTooMany = gone.length > removalsMax;
      this.#removalsWithheld = isTooMany ? gone.length : 0;
      if (isTooMany) withheld.push(...gone);
      else for (const row of gone) this.#rows.writer.remove(row);
    } else if (changed !== 'nothing') this.#insertAt(strip, changed);
    this.#passGate(strip, withheld);
  }

  /** Inserts the records at some places, none of which stands in a row. */
  #insertAt(strip: Strip, places: Places): void {
    const { list } = this.#context;
    for (const { answer, items, placeOf } of partsOf(strip, places)) {
      const positions = Array.from({ length: items.to - items.from }, (_, at) => items.from + at);
      for (const { record, position } of readStaged(list, this.#pageOf(answer.digest), positions)) {
        this.#rows.writer.insert(record);
        this.#noteNew(placeOf(position));
      }
    }
  }

  /** Writes what is new and what has changed, and returns the rows that are gone. */
  async #writeDifferences(strip: Strip, signal: AbortSignal): Promise<number[]> {
    const { table, run } = this.#context;
    const { writer } = this.#rows;
    const slice = new TimeSlice(signal);
    const gone: number[] = [];
    const comparison = new ListComparison(table, digest => this.#pageOf(digest));
    for (const difference of comparison.differences(strip)) {
      if (difference.kind === 'new') {
        writer.insert(difference.record);
        this.#noteNew(difference.place);
      } else if (difference.kind === 'changed') writer.update(difference.row, difference.record);
      // What this run wrote while it read is no record of the mirror that could be lost.
      else if (table.read(difference.row).firstSeenRunId === run.id) writer.remove(difference.row);
      else gone.push(difference.row);
      if (slice.isOver) await slice.next();
    }
    return gone;
  }

  #passGate(strip: Strip, withheld: readonly number[]): void {
    const { table, list } = this.#context;
    const read = acceptedSum(strip, digest => this.#itemsOf(digest));
    for (const row of withheld) read?.addHex(table.read(row).content);
    passGate(list.resource, read, this.#rows.writer.sum);
  }

  #writeEdges({ pages, edges }: EdgesOrder): void {
    const { list, table } = this.#context;
    for (const { digest } of pages) {
      const page = this.#stagedPage(digest);
      if (page === null) continue;
      for (const { record } of newOn(list, page)) this.#rows.writer.insert(record);
    }
    if (this.#rows.writer.sum.count === edges.totalRecordCount && table.count() === edges.totalRecordCount)
      return;
    throw new GateError(`the rows of ${list.resource} would not be as many as the list has records`);
  }

  #noteNew(place: number): void {
    this.#newPlaces.count++;
    this.#newPlaces.first = Math.min(this.#newPlaces.first, place);
    this.#newPlaces.last = Math.max(this.#newPlaces.last, place);
  }

  #pageOf(digest: string): KeptPage {
    const page = this.#stagedPage(digest);
    if (page === null)
      throw new GateError(`a page of ${this.#context.list.resource} was known, but has to be read`);
    return page;
  }

  #itemsOf(digest: string): ReadItems | null {
    const page = this.#stagedPage(digest);
    return page && itemsOfStaged(page);
  }

  #hearOfConnections(order: ApplyOrder): ConnectionClaims {
    const { list, run } = this.#context;
    const { connections, writer } = this.#rows;
    const claims = new ConnectionClaims();
    let isWhole = order.kind === 'list';
    for (const digests of digestsOf(order)) {
      const ofWalk = new ConnectionClaims();
      for (const digest of digests) {
        const page = this.#stagedPage(digest);
        if (page === null) isWhole = false;
        else offerStaged(page, ofWalk);
      }
      claims.join(ofWalk);
    }
    if (order.kind !== 'seen' && !isWhole && connections.needsWhole(list.resource, claims))
      throw new PartialReadError(
        `a connection may have another name in ${list.resource}, which only all of its pages tell`,
      );
    writer.endConnections(connections.hear(list.resource, claims, isWhole, run.id));
    return claims;
  }

  #keepRejections(order: ApplyOrder): void {
    const { list } = this.#context;
    const pages =
      order.kind === 'list'
        ? order.strip.segments.map(({ answer }) => answer)
        : order.kind === 'seen'
          ? (order.walks.at(-1)?.pages ?? [])
          : [];
    const { read, own } = order.pageSizes;
    for (const { digest, index, rejected } of pages) {
      const page = rejected === null ? null : this.#stagedPage(digest);
      if (page === null) continue;
      for (const { position, ...rejection } of rejectionsOf(list, page)) {
        const place = index * read + position;
        const pageNo = order.firstPageNo + Math.floor(place / own);
        this.#rejections.add(pageNo, { ...rejection, position: place % own });
      }
    }
  }

  #writeShortcuts(order: ApplyOrder, recordCount: number, claims: ConnectionClaims): void {
    const { shortcuts, run } = this.#context;
    if (order.kind === 'seen') {
      shortcuts.forget(run.id);
      return;
    }
    const { inserted, updated, removed } = this.#rows.writer.counts;
    const isSure = this.#rejections.count === 0 && this.#removalsWithheld === 0;
    if (order.kind === 'edges') {
      const edges = isSure ? order.edges : null;
      shortcuts.writeState(run.id, { ...this.#state, edges, mayRepeat: this.#mayRepeat(inserted > 0) });
      return;
    }
    const knownPages = this.#pagesToKnow(order, claims);
    const edges = isSure && knownPages !== null ? order.edges : null;
    const counting = recordCount === 0 ? order.strip.counting : this.#learn(order.strip);
    const mayRepeat = this.#mayRepeat(inserted + updated + removed > 0);
    if (knownPages === null) shortcuts.forgetPages();
    else shortcuts.writePages(run.id, knownPages);
    const pageCount = isSure ? (knownPages?.length ?? null) : null;
    shortcuts.writeState(run.id, { edges, counting, mayRepeat, pageCount });
  }

  /** The pages that the next run may know: as it does not read them, they must say of connections what was believed. */
  #pagesToKnow({ strip, knownPages }: ListOrder, claims: ConnectionClaims): ListOrder['knownPages'] {
    const read = new Set(strip.segments.map(({ answer }) => answer.digest));
    if (knownPages === null || knownPages.every(({ digest }) => read.has(digest))) return knownPages;
    const said = new ConnectionClaims();
    for (const { digest } of knownPages) {
      const page = this.#stagedPage(digest);
      if (page === null) return null;
      offerStaged(page, said);
    }
    return said.equals(claims) ? knownPages : null;
  }

  /** At which end the list grows, as the places of new records say; new records elsewhere unlearn it. */
  #learn({ counting, covered }: Strip): Counting | null {
    const { count, first, last } = this.#newPlaces;
    if (count === 0) return this.#state.counting;
    const isAtLast = last === covered - 1 && last - first === count - 1;
    const isAtFirst = first === 0 && last === count - 1;
    if (isAtLast === isAtFirst) return null;
    if (counting === 'back') return isAtLast ? 'back' : 'front';
    return isAtLast ? 'front' : 'back';
  }

  /** Whether one content may stand more than once among the rows. */
  #mayRepeat(isChanged: boolean): boolean {
    const { list, table } = this.#context;
    if (list.identity.by === 'id') return false;
    return isChanged || this.#state.mayRepeat ? table.hasRepeats() : false;
  }

  #summarize(recordCount: number): Applied {
    const { writer } = this.#rows;
    const { counts } = writer;
    const { sum } = writer;
    return {
      ...counts,
      unchanged: recordCount - counts.updated - counts.removed - this.#removalsWithheld,
      rejected: this.#rejections.count,
      removalsWithheld: this.#removalsWithheld,
      recordCount: sum.count,
      checksum: sum.toString(),
    };
  }
}

/** The pages by which an order speaks of connections, walk by walk. */
function digestsOf(order: ApplyOrder): ReadonlySet<string>[] {
  if (order.kind === 'list') return [new Set(order.strip.segments.map(({ answer }) => answer.digest))];
  const walks = order.kind === 'edges' ? [order.pages] : order.walks.map(({ pages }) => pages);
  return walks.map(pages => new Set(pages.map(({ digest }) => digest)));
}
