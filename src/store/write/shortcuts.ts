import type Database from 'better-sqlite3';
import { hash16, Sum } from '../../contract/sum.ts';
import type { Answer, Counting } from '../../proof/answer.ts';
import type { ListEdges } from '../../proof/incremental.ts';
import { firstValue } from '../tables/query.ts';

/** What a run learnt of a list that saves the next one work. */
export interface ListState {
  /** How its ends looked; null where that is not sure. */
  readonly edges: ListEdges | null;
  /** From where its places are counted, as it grows; null where that was not learnt. */
  readonly counting: Counting | null;
  /** True where one content may stand more than once among the rows. */
  readonly mayRepeat: boolean;
  /** How many pages are known; null where they are not known as a whole. */
  readonly pageCount: number | null;
}

/** The state of a list of which nothing is known. */
export const nothingLearnt: ListState = { edges: null, counting: null, mayRepeat: true, pageCount: null };

/** The pages of the last proven sweep that fit their hashes. */
export interface KnownPages {
  /** What pages with a digest come to. */
  readonly sums: ReadonlyMap<string, Sum>;
  /** The digests in the order of their places, which may have gaps. */
  readonly inPlace: readonly (string | undefined)[];
}

/** No page is known. */
export const noKnownPages: KnownPages = { sums: new Map(), inPlace: [] };

interface KnownPageRow {
  readonly place: number;
  readonly digest: Buffer;
  readonly itemCount: number;
  readonly sum: Buffer;
  readonly runId: number;
  readonly check: Buffer;
}

/**
 * The shortcuts of one list. They save work and are never believed: whatever they say enters a sum that is checked against the
 * rows, and each row of them carries a hash over all its values, its list, its place and the run that wrote it.
 */
export class Shortcuts {
  readonly #sqlite: Database.Database;
  readonly #resource: string;

  constructor(sqlite: Database.Database, resource: string) {
    this.#sqlite = sqlite;
    this.#resource = resource;
  }

  readState(): ListState {
    const row = this.#stateRow();
    if (row === undefined || !this.#check(row.runId, row.state).equals(row.check)) return nothingLearnt;
    return JSON.parse(row.state) as ListState;
  }

  writeState(runId: number, state: ListState): void {
    const json = JSON.stringify({ ...state, knownPages: this.#pageCount() });
    this.#sqlite
      .prepare('INSERT OR REPLACE INTO _list_states (resource, run_id, state, "check") VALUES (?, ?, ?, ?)')
      .run(this.#resource, runId, json, this.#check(runId, json));
  }

  readPages(): KnownPages {
    const rows = this.#sqlite
      .prepare<[string], KnownPageRow>(
        `SELECT place, digest, item_count AS itemCount, sum, run_id AS runId, "check" FROM _known_pages
         WHERE resource = ? ORDER BY place`,
      )
      .all(this.#resource);
    const sums = new Map<string, Sum>();
    const inPlace: string[] = [];
    for (const { place, digest, itemCount, sum, runId, check } of rows) {
      const hex = digest.toString('hex');
      if (!this.#checkOfPage(place, hex, itemCount, sum, runId).equals(check)) continue;
      sums.set(hex, Sum.from(itemCount, sum.toString('hex')));
      inPlace[place] = hex;
    }
    return { sums, inPlace };
  }

  /** Puts the pages of a proven sweep in the place of those that are known, without those that hold rejected records. */
  writePages(runId: number, pages: readonly Answer[]): void {
    this.forgetPages();
    const insert = this.#sqlite.prepare(
      `INSERT OR REPLACE INTO _known_pages (resource, place, digest, item_count, sum, run_id, "check")
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    for (const { index, digest, count, sum, rejected } of pages) {
      if (rejected !== null) continue;
      const bytes = sum.toBytes();
      const check = this.#checkOfPage(index, digest, count, bytes, runId);
      insert.run(this.#resource, index, Buffer.from(digest, 'hex'), count, bytes, runId, check);
    }
  }

  forgetPages(): void {
    this.#sqlite.prepare('DELETE FROM _known_pages WHERE resource = ?').run(this.#resource);
  }

  forget(runId: number): void {
    this.forgetPages();
    this.writeState(runId, nothingLearnt);
  }

  /** What in the shortcuts is not as docmirror wrote it, in words; a run passes over it. */
  *misfits(): Generator<{ readonly table: '_known_pages' | '_list_states'; readonly what: string }> {
    const table = '_known_pages';
    const count = this.#pageCount();
    const fitting = this.readPages().inPlace.filter(digest => digest !== undefined).length;
    if (fitting !== count)
      yield { table, what: `${this.#resource}: a page was changed after docmirror wrote it` };
    const row = this.#stateRow();
    const known = row === undefined ? 0 : knownPagesIn(row.state);
    if (row !== undefined && !this.#check(row.runId, row.state).equals(row.check)) {
      const what = `${this.#resource}: the row was changed after docmirror wrote it`;
      yield { table: '_list_states', what };
    } else if (count !== known) {
      yield { table, what: `${this.#resource}: ${count} pages, but docmirror wrote ${known}` };
    }
  }

  #pageCount(): number | undefined {
    return firstValue(this.#sqlite, 'SELECT count(*) FROM _known_pages WHERE resource = ?', this.#resource);
  }

  #stateRow() {
    return this.#sqlite
      .prepare<[string], { runId: number; state: string; check: Buffer }>(
        'SELECT run_id AS runId, state, "check" FROM _list_states WHERE resource = ?',
      )
      .get(this.#resource);
  }

  #checkOfPage(place: number, digest: string, count: number, sum: Buffer, runId: number): Buffer {
    return this.#check(place, digest, count, sum.toString('hex'), runId);
  }

  #check(...values: readonly (string | number)[]): Buffer {
    return hash16(JSON.stringify([this.#resource, ...values]));
  }
}

/** How many known pages a state says there are; 0 where it says nothing that can be read. */
function knownPagesIn(state: string): number {
  try {
    const { knownPages }: { knownPages?: number } = JSON.parse(state);
    return knownPages ?? 0;
  } catch {
    return 0;
  }
}
