import Database from 'better-sqlite3';
import { FingerprintSum, hash16 } from '../../contract/fingerprint.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { type Page, readContent } from '../../contract/page.ts';
import { type MirrorRecord, type PageReader, pageReader, scalarFields } from '../../contract/record.ts';
import type { StoredRecord } from '../../contract/wire.ts';
import type {
  Applied,
  ApplyOrder,
  ListMirror,
  ListOutcome,
  PageFacts,
  PageFindings,
} from '../../sync/ports.ts';
import { ConnectionClaims } from '../tables/connection-claims.ts';
import { ListTable } from '../tables/list-table.ts';
import { IdSet } from '../write/id-set.ts';
import { fieldDifferences, keyOf, type LiveDifference } from './live-differences.ts';

/** An audit sweeps every page, so nothing hangs on which of a page's records are new. */
const notAsked = { count: 0, first: -1, last: -1, changed: 0 };

type RowIdentity = [id: number, fingerprint: Buffer];

/** One list of the mirror, held against what the service lists. Nothing is written but a temporary file that no one sees. */
export class LiveList implements ListMirror {
  readonly recordCount: number;
  readonly pageSizeThatWorked: number | null;
  readonly ends = null;
  /** What the last walk says of connections. */
  claims = new ConnectionClaims();
  readonly #list: ListDefinition;
  readonly #table: ListTable;
  readonly #reader: PageReader;
  readonly #report: (difference: LiveDifference) => void;
  readonly #find: Database.Statement<[Buffer | number], RowIdentity>;
  readonly #timeAt: number;
  #seen = new IdSet();
  #news = new News();
  #rejected = 0;

  constructor(
    sqlite: Database.Database,
    list: ListDefinition,
    pageSize: number | null,
    report: (difference: LiveDifference) => void,
  ) {
    const { identity } = list;
    this.#list = list;
    this.#report = report;
    this.#table = new ListTable(sqlite, list);
    this.#reader = pageReader(list);
    this.recordCount = this.#table.count();
    this.pageSizeThatWorked = pageSize;
    const column = identity.by === 'content' ? '_key' : 'id';
    this.#find = sqlite
      .prepare<[Buffer | number], RowIdentity>(
        `SELECT id, _fingerprint FROM ${list.table} WHERE ${column} = ? ORDER BY id`,
      )
      .raw();
    this.#timeAt =
      identity.by === 'content'
        ? scalarFields(list).findIndex(({ name }) => name === identity.timeField)
        : -1;
  }

  beginWalk(): PageFindings[] {
    this.#seen = new IdSet();
    this.claims = new ConnectionClaims();
    this.#news.clear();
    this.#rejected = 0;
    return [];
  }

  takeIn(facts: PageFacts, page: Page): PageFindings {
    const { records, rejections } = this.#reader.read(page.content ?? readContent(page.bytes));
    const sum = new FingerprintSum();
    for (const record of records) {
      sum.add(record.fingerprint);
      const time = this.#timeAt < 0 ? null : (record.scalars[this.#timeAt] as string | null);
      for (const mention of record.mentions) this.claims.offer(mention, time);
      const same = this.#rowsOf(record).find(
        ([id, fingerprint]) => !this.#seen.has(id) && fingerprint.equals(record.fingerprint),
      );
      if (same === undefined) this.#news.add(record);
      else this.#seen.add(same[0]);
    }
    this.#rejected += rejections.length;
    for (const { record } of rejections) sum.add(hash16(record));
    return { ...facts, sum: sum.toBytes(), seenElsewhere: 0, rejected: rejections.length, news: notAsked };
  }

  /** An audit believes no page that it has not read. */
  knownItemCount(): null {
    return null;
  }

  /** What the mirror lacks is found at the end; until then no record counts as unseen. */
  unseenCount(): number {
    return 0;
  }

  /** Reports how the last walk and the mirror differ. */
  async apply(
    _order: ApplyOrder,
    outcome: (applied: Applied) => ListOutcome,
    signal: AbortSignal,
  ): Promise<ListOutcome> {
    signal.throwIfAborted();
    const { missing, different } = this.#reportNews();
    const extra = this.#reportExtra();
    const applied: Applied = {
      inserted: missing,
      updated: different,
      removed: extra,
      unchanged: this.recordCount - different - extra,
      rejected: this.#rejected,
      removalsWithheld: 0,
      recordCount: this.recordCount,
      digest: '',
      connectionNameConflicts: this.claims.conflictCount,
    };
    this.#news.close();
    return outcome(applied);
  }

  /** A record that is not in the mirror as it stands is a changed one where a row with its key is left, or missing. */
  #reportNews(): { missing: number; different: number } {
    let missing = 0;
    let different = 0;
    for (const record of this.#news.all()) {
      const free = this.#rowsOf(record).find(([id]) => !this.#seen.has(id));
      if (free === undefined) {
        missing++;
        this.#add('missing', null, record, []);
      } else {
        const [id] = free;
        different++;
        this.#seen.add(id);
        const fields = fieldDifferences(this.#list, this.#table.read(id).record, record);
        this.#add('different', id, record, fields);
      }
    }
    return { missing, different };
  }

  #reportExtra(): number {
    let extra = 0;
    for (const id of this.#table.ids()) {
      if (this.#seen.has(id)) continue;
      extra++;
      this.#add('extra', id, this.#table.read(id).record, []);
    }
    return extra;
  }

  #add(
    kind: LiveDifference['kind'],
    id: number | null,
    record: StoredRecord,
    fields: LiveDifference['fields'],
  ): void {
    const { resource } = this.#list;
    this.#report({ kind, resource, id, key: keyOf(this.#list, record), fields });
  }

  #rowsOf({ key, id }: Pick<MirrorRecord, 'key' | 'id'>): RowIdentity[] {
    return this.#find.all(key ?? (id as number));
  }
}

type NewsRecord = StoredRecord & Pick<MirrorRecord, 'key'>;

/** Records that the mirror does not have as they stand, in a temporary file: they may be as many as the list has. */
class News {
  readonly #sqlite = new Database('');
  readonly #insert: Database.Statement;

  constructor() {
    this.#sqlite.exec('CREATE TABLE news (key BLOB, record TEXT NOT NULL)');
    // The file is gone when the process is, so nothing is gained by rolling back.
    this.#sqlite.pragma('journal_mode = OFF');
    this.#insert = this.#sqlite.prepare('INSERT INTO news VALUES (?, ?)');
  }

  add({ key, id, scalars, arrays, extra }: NewsRecord): void {
    this.#insert.run(key, JSON.stringify({ id, scalars, arrays, extra }));
  }

  *all(): Generator<NewsRecord> {
    const rows = this.#sqlite.prepare<[], { key: Buffer | null; record: string }>(
      'SELECT key, record FROM news',
    );
    for (const { key, record } of rows.iterate()) yield { key, ...(JSON.parse(record) as StoredRecord) };
  }

  clear(): void {
    this.#sqlite.exec('DELETE FROM news');
  }

  close(): void {
    this.#sqlite.close();
  }
}
