import type Database from 'better-sqlite3';

/** A page as the last sweep saw it: which rows of the mirror it holds, all of them and as they stand. */
export interface KnownPage {
  readonly pageNo: number;
  readonly itemCount: number;
  /** 16 bytes: the sum of the items' fingerprints. */
  readonly sum: Buffer;
  /** The ids of its rows, packed. */
  readonly rowIds: Buffer;
}

interface KnownPageRow extends KnownPage {
  readonly digest: string;
}

/**
 * The pages of a list's last sweep, by the digest of their items' bytes: a page with the same bytes needs no parsing. They
 * are written in the transaction that writes the rows, so they can't disagree with them.
 */
export class KnownPages {
  readonly #sqlite: Database.Database;
  readonly #resource: string;
  readonly #byDigest: Map<string, KnownPage>;
  readonly #put: Database.Statement;
  readonly #kept = new Set<number>();

  constructor(sqlite: Database.Database, resource: string) {
    this.#sqlite = sqlite;
    this.#resource = resource;
    const rows = sqlite
      .prepare<[string], KnownPageRow>(
        `SELECT page_no AS pageNo, lower(hex(digest)) AS digest, item_count AS itemCount, sum, row_ids AS rowIds
         FROM _known_pages WHERE resource = ?`,
      )
      .all(resource);
    this.#byDigest = new Map(rows.map(({ digest, ...page }) => [digest, page]));
    this.#put = sqlite.prepare(
      `INSERT OR REPLACE INTO _known_pages (resource, page_no, digest, item_count, sum, row_ids)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
  }

  get size(): number {
    return this.#byDigest.size;
  }

  get(digest: string): KnownPage | undefined {
    return this.#byDigest.get(digest);
  }

  /** Writes down a page of this sweep, unless it is known as it is. */
  keep(digest: string, page: KnownPage): void {
    this.#kept.add(page.pageNo);
    if (this.#byDigest.get(digest)?.pageNo === page.pageNo) return;
    const { pageNo, itemCount, sum, rowIds } = page;
    this.#put.run(this.#resource, pageNo, Buffer.from(digest, 'hex'), itemCount, sum, rowIds);
  }

  /** Forgets the pages that were not kept in this sweep, also those that were distrusted before it. */
  forgetOthers(): void {
    const written = this.#sqlite
      .prepare<[string], number>('SELECT page_no FROM _known_pages WHERE resource = ?')
      .pluck()
      .all(this.#resource);
    const forget = this.#sqlite.prepare('DELETE FROM _known_pages WHERE resource = ? AND page_no = ?');
    for (const pageNo of written) if (!this.#kept.has(pageNo)) forget.run(this.#resource, pageNo);
  }

  /** Forgets all pages: they may not hold what they held. */
  forget(): void {
    this.#byDigest.clear();
    this.#sqlite.prepare('DELETE FROM _known_pages WHERE resource = ?').run(this.#resource);
  }

  /** Trusts no page for the rest of the run. */
  distrust(): void {
    this.#byDigest.clear();
  }
}
