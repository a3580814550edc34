import { Random } from '../../examples/sample-service/random.ts';
import type { ResourceName } from '../../src/contract/lists.ts';
import { type AskedPage, PagedService, type Paging, type ServedPage } from './paged-service.ts';
import { type Exported, Witness } from './witness.ts';

/** A row of the table behind the service. */
export interface TableRow extends Exported {
  /** Orders rows as nobody sees it. */
  readonly unseen: number;
}

/** Orders of a table. Rows that are equal in it keep the order in which they came. */
export const orders = {
  oldest: (a: TableRow, b: TableRow) => a.at - b.at || a.reference - b.reference,
  newest: (a: TableRow, b: TableRow) => b.at - a.at || b.reference - a.reference,
  /** By an id that nobody sees. */
  begun: (a: TableRow, b: TableRow) => a.reference - b.reference,
  unseen: (a: TableRow, b: TableRow) => a.unseen - b.unseen,
} as const;

/** How the service reads its table. */
export interface TableOptions extends Paging {
  readonly count: number;
  readonly order: keyof typeof orders;
  /** The time between two exports. */
  readonly stepMs: number;
  /** By how much the time of an export can be later than that of the moment. */
  readonly lateMs: number;
  /** The rows as a query sees them, in the order of the list if it is left out. */
  readonly query?: (rows: readonly TableRow[], asked: AskedPage) => readonly TableRow[];
  /** The total that is stated; the number of rows at the first of two statements if it is left out. */
  readonly total?: (counted: number, asked: AskedPage) => number;
  /** Which of the rows a page shows; those at its places if it is left out. */
  readonly cut?: (rows: readonly TableRow[], asked: AskedPage, total: number) => readonly TableRow[];
  readonly headers?: (asked: AskedPage) => Record<string, string>;
  /** How a page is made of statements, in the place of `query`, `total` and `cut`. */
  readonly paginator?: Paginator;
}

/** The statements of a service. Each sees the table of its own moment. */
export interface Statements {
  readonly count: () => number;
  readonly rows: (begin: number, end: number) => readonly TableRow[];
  /** Lets other people write. */
  readonly between: () => void;
}

/** How a framework makes a page of statements; null for an address without a page. */
export type Paginator = (
  statements: Statements,
  asked: AskedPage,
) => { readonly rows: readonly TableRow[]; readonly total: number; readonly pageCount?: number } | null;

/** What other people do to the table before an answer, or between the statements that count its rows and read a page. */
export type Work = (table: BusyTable, asked: AskedPage) => void;

const day = Date.UTC(2026, 0, 1);

/** A service in front of a table that other people write to while it is read. */
export class BusyTable extends PagedService {
  readonly witness = new Witness();
  readonly random: Random;
  readonly tableOptions: TableOptions;
  /** The rows in the order of the list. */
  table: TableRow[] = [];
  beforeAnswer: Work = () => undefined;
  betweenStatements: Work = () => undefined;
  #next = 0;
  #now = day;

  constructor(options: Partial<TableOptions> = {}, seed = 1) {
    const all = {
      ...({
        count: 2_000,
        order: 'oldest',
        largest: 50,
        hasOneSize: false,
        stepMs: 60_000,
        lateMs: 0,
      } as const),
      ...options,
    };
    super(all, asked => this.#page(asked));
    this.tableOptions = all;
    this.random = new Random(seed);
    this.insert(all.count);
  }

  get pages(): number {
    return Math.ceil(this.table.length / this.tableOptions.largest);
  }

  readonly rows = (): readonly TableRow[] => this.table;

  /** Exports documents, each with the time of now; records with ids have the time 0. */
  insert(count = 1, stepMs = this.tableOptions.stepMs): void {
    const { resource = 'document-exports' } = this.tableOptions;
    const rows: TableRow[] = [];
    for (let left = count; left > 0; left--) {
      this.#now += stepMs;
      const reference = ++this.#next;
      const time = this.#now + Math.floor(this.random.fraction() * this.tableOptions.lateMs);
      const at = resource === 'document-exports' ? time : 0;
      rows.push({ reference, at, title: `Document ${reference}`, unseen: this.random.fraction() });
    }
    this.#add(rows);
  }

  /** Corrects titles. */
  edit(count = 1, at: number | null = null): void {
    for (let left = count; left > 0 && this.table.length > 0; left--) {
      const place = at ?? this.#anyPlace();
      const row = { ...(this.table[place] as TableRow), title: `Corrected ${this.random.hex(6)}` };
      this.table[place] = row;
      this.witness.show(row);
    }
  }

  /** Deletes rows, from a place on or anywhere. */
  remove(count = 1, at: number | null = null): void {
    for (let left = count; left > 0 && this.table.length > 0; left--)
      for (const row of this.table.splice(at ?? this.#anyPlace(), 1)) this.witness.hide(row);
  }

  /** Exports a document again: it has the time of now. */
  exportAgain(place: number): TableRow {
    const [row] = this.table.splice(place, 1) as [TableRow];
    this.witness.hide(row);
    this.#now += 1_000;
    const again = { ...row, at: this.#now };
    this.#add([again]);
    return again;
  }

  /** Writes something, as people do to an archive: they add, correct and delete. */
  write(): void {
    const kind = this.random.fraction();
    if (kind < 0.6) this.insert();
    else if (kind < 0.85) this.edit();
    else this.remove();
  }

  /** Lets a day go by in an ordinary archive. */
  passDay(): void {
    this.insert(15);
    this.edit(4);
    this.remove(3);
  }

  #add(rows: readonly TableRow[]): void {
    this.table.push(...rows);
    this.table.sort(orders[this.tableOptions.order]);
    for (const row of rows) this.witness.show(row);
  }

  #anyPlace(): number {
    return this.random.integer(0, this.table.length - 1);
  }

  #page(asked: AskedPage): ServedPage | null {
    const { query, total, cut, headers, paginator, resource = 'document-exports' } = this.tableOptions;
    this.beforeAnswer(this, asked);
    if (paginator !== undefined) {
      const statements = {
        count: () => this.table.length,
        rows: (begin: number, end: number) => this.table.slice(begin, end),
        between: () => this.betweenStatements(this, asked),
      };
      const page = paginator(statements, asked);
      return page && { ...page, items: page.rows.map(itemsOf[resource]) };
    }
    const counted = query?.(this.table, asked) ?? this.table;
    const stated = total?.(counted.length, asked) ?? counted.length;
    this.betweenStatements(this, asked);
    const rows = query?.(this.table, asked) ?? this.table;
    const begin = asked.index * asked.size;
    const shown = cut?.(rows, asked, stated) ?? rows.slice(begin, begin + asked.size);
    return { items: shown.map(itemOf), total: stated, headers: headers?.(asked) ?? {} };
  }
}

/** Work once in so many answers. */
export function every(answers: number, work: (table: BusyTable) => void): Work {
  return (table, { n }) => {
    if (n % answers === 0) work(table);
  };
}

const connectionOf = ({ reference }: Exported) => ({
  id: 1 + (reference % 5),
  name: `Connection ${1 + (reference % 5)}`,
});

/** Records as the service sends them. */
const itemsOf: Readonly<Record<ResourceName, (row: Exported) => object>> = {
  'document-exports': itemOf,
  collections: row => ({ id: row.reference, name: row.title, sourceConnection: connectionOf(row) }),
  webhooks: row => ({
    id: row.reference,
    endpoint: `https://hooks.example/${row.reference}`,
    description: row.title,
    events: ['document.exported'],
    connections: [connectionOf(row)],
  }),
};

/** An export as the service sends it. */
export function itemOf(row: Exported): object {
  const { reference, at, title } = row;
  return {
    sourceConnection: connectionOf(row),
    sourceDocumentTitle: title,
    sourceDocumentReference: `${reference}`,
    sourceDocumentVersion: '1.0',
    sourceDocumentKind: 'invoice',
    destinationConnection: { id: 101, name: 'Archive' },
    destinationReference: `archive/${reference}.pdf`,
    exportedAt: new Date(at).toISOString(),
  };
}
