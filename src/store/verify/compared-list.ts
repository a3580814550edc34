import type Database from 'better-sqlite3';
import type { ListDefinition } from '../../contract/lists.ts';
import type { Page } from '../../contract/page.ts';
import type { ReadItems } from '../../proof/answer.ts';
import type { Standing } from '../../proof/standing.ts';
import type { Strip } from '../../proof/strip.ts';
import type {
  Applied,
  ApplyOrder,
  ListMirror,
  ListOutcome,
  PageReading,
  SeenWalk,
} from '../../sync/ports.ts';
import { lastState } from '../receipts/run-receipt.ts';
import { ConnectionClaims } from '../tables/connection-claims.ts';
import { ListTable, type NewRecord } from '../tables/list-table.ts';
import { ListComparison } from '../write/list-comparison.ts';
import { itemsOfStaged, newOn, offerStaged, PageComparison } from '../write/page-comparison.ts';
import { type KeptPage, Staging } from '../write/staging.ts';
import { fieldDifferences, keyOf, type LiveDifference } from './live-differences.ts';

/** One list of the mirror, held against what the service lists. Nothing is written but a temporary file that no one sees. */
export class ComparedList implements ListMirror {
  readonly standing: Standing;
  /** What the last walk says of connections. */
  claims = new ConnectionClaims();
  readonly #list: ListDefinition;
  readonly #table: ListTable;
  readonly #comparison: PageComparison;
  readonly #staging = Staging.openTemporary();
  readonly #readings = new Map<string, PageReading>();
  readonly #report: (difference: LiveDifference) => void;

  constructor(sqlite: Database.Database, list: ListDefinition, report: (difference: LiveDifference) => void) {
    this.#list = list;
    this.#report = report;
    this.#table = new ListTable(sqlite, list);
    this.#comparison = new PageComparison(this.#table);
    // An audit believes nothing that it has not read: the mirror is no reading, and no page is known.
    const sum = lastState(sqlite, list.resource);
    this.standing = {
      sum,
      isReading: false,
      mayRepeat: true,
      counting: null,
      settledCount: 0,
      hasOnlyGrown: false,
      pageDigests: null,
    };
  }

  edges(): null {
    return null;
  }

  readonly itemsOf = (digest: string): ReadItems | null => {
    const page = this.#staging.page(this.#list.resource, digest);
    return page && itemsOfStaged(page);
  };

  known(digest: string): PageReading | null {
    return this.#readings.get(digest) ?? null;
  }

  read(page: Page): PageReading {
    const { reading, staged } = this.#comparison.compare(page, true);
    this.#staging.addPage(this.#list.resource, staged);
    this.#readings.set(reading.digest, reading);
    return reading;
  }

  beginWalk(): [] {
    return [];
  }

  keep(): void {}

  readAnew(): void {}

  distrust(): void {}

  /** Reports how the last walk and the mirror differ. */
  async apply(
    order: ApplyOrder,
    outcome: (applied: Applied) => ListOutcome,
    signal: AbortSignal,
  ): Promise<ListOutcome> {
    signal.throwIfAborted();
    const walk = order.kind === 'seen' ? order.walks.at(-1) : undefined;
    const strip = order.kind === 'list' ? order.strip : (walk?.strip ?? null);
    const counts = strip === null ? this.#reportMissing(walk) : this.#reportDifferences(strip);
    const pages = strip?.segments.map(({ answer }) => answer) ?? walk?.pages ?? [];
    for (const digest of new Set(pages.map(({ digest: each }) => each))) {
      offerStaged(this.#pageOf(digest), this.claims);
    }
    const rejected = pages.reduce((sum, page) => sum + (page.rejected?.count ?? 0), 0);
    this.#staging.close();
    const { sum } = this.standing;
    return outcome({
      ...counts,
      unchanged: sum.count - counts.updated - counts.removed,
      rejected,
      removalsWithheld: 0,
      recordCount: sum.count,
      checksum: sum.toString(),
    });
  }

  #reportDifferences(strip: Strip) {
    const counts = { inserted: 0, updated: 0, removed: 0 };
    const comparison = new ListComparison(this.#table, digest => this.#pageOf(digest));
    for (const difference of comparison.differences(strip)) {
      if (difference.kind === 'new') {
        counts.inserted++;
        this.#reportNew(difference.record);
        continue;
      }
      const { record: mirrored } = this.#table.read(difference.row);
      const isGone = difference.kind === 'gone';
      if (isGone) counts.removed++;
      else counts.updated++;
      this.#report({
        kind: isGone ? 'extra' : 'different',
        resource: this.#list.resource,
        id: difference.row,
        key: keyOf(this.#list, isGone ? mirrored : difference.record),
        fields: isGone ? [] : fieldDifferences(this.#list, mirrored, difference.record),
      });
    }
    return counts;
  }

  /** Of a list that was never read as a whole, only what the mirror lacks can be told. */
  #reportMissing(walk: SeenWalk | undefined) {
    let inserted = 0;
    for (const { digest } of walk?.pages ?? []) {
      for (const { record } of newOn(this.#list, this.#pageOf(digest))) {
        inserted++;
        this.#reportNew(record);
      }
    }
    return { inserted, updated: 0, removed: 0 };
  }

  #reportNew(record: NewRecord): void {
    const { resource } = this.#list;
    this.#report({ kind: 'missing', resource, id: null, key: keyOf(this.#list, record), fields: [] });
  }

  #pageOf(digest: string): KeptPage {
    const page = this.#staging.page(this.#list.resource, digest);
    if (page === null) throw new Error(`Page ${digest} of ${this.#list.resource} was not read.`);
    return page;
  }
}
