import type { PGlite } from '@electric-sql/pglite';
import { Random } from '../../examples/sample-service/random.ts';
import { itemOf } from './busy-table.ts';
import { type AskedPage, PagedService, type Paging, type ServedPage } from './paged-service.ts';
import { type Exported, Witness } from './witness.ts';

/** What stands behind ORDER BY; null for no such clause. */
export type OrderBy = string | null;

/** How the service reads its table, and how often others write to it. */
export interface DatabaseOptions extends Paging {
  readonly orderBy: OrderBy;
  /** How many rows are written between two answers, on average. */
  readonly writesPerAnswer: number;
  /** How many answers later than its id was given a row can be committed. */
  readonly lateBy: number;
  readonly count: number;
}

interface Row extends Exported {
  readonly id: number;
}

/** A row whose id was given, and that is not committed yet. */
interface Job {
  readonly id: number;
  readonly dueAt: number;
}

const begin = Date.UTC(2026, 0, 1);
const rowsPerInsert = 500;
/** The time between two answers. */
const answerMs = 25;
const statuses = ['done', 'failed', 'kept'] as const;

/**
 * A service as a team writes it in an afternoon: a page is one statement with LIMIT and OFFSET, the total is another one, and nothing
 * joins the two. Other people insert, update and delete rows before each of them.
 */
export class DatabaseService extends PagedService {
  readonly witness = new Witness();
  readonly #database: PGlite;
  readonly #options: DatabaseOptions;
  readonly #random: Random;
  #live: Row[] = [];
  #jobs: Job[] = [];
  #nextReference = 0;
  #now = begin;
  #answers = 0;

  private constructor(database: PGlite, options: DatabaseOptions, seed: number) {
    super(options, asked => this.#page(asked));
    this.#database = database;
    this.#options = options;
    this.#random = new Random(seed);
  }

  /** Makes the table anew and serves it. */
  static async start(
    database: PGlite,
    options: Partial<DatabaseOptions>,
    seed = 1,
  ): Promise<DatabaseService> {
    const all = {
      orderBy: null,
      writesPerAnswer: 0,
      lateBy: 0,
      count: 6_000,
      largest: 50,
      hasOneSize: false,
    };
    const service = new DatabaseService(database, { ...all, ...options }, seed);
    await database.exec(`
      DROP TABLE IF EXISTS document_exports;
      CREATE TABLE document_exports (
        id bigserial PRIMARY KEY,
        reference integer NOT NULL,
        title text NOT NULL,
        status text NOT NULL,
        exported_at timestamptz NOT NULL,
        deleted_at timestamptz
      );
      CREATE INDEX document_exports_exported_at ON document_exports (exported_at);`);
    await service.#fill();
    return await service.listen();
  }

  get pages(): number {
    return Math.ceil(this.#live.length / this.#options.largest);
  }

  /** What is listed now. */
  readonly rows = (): readonly Exported[] => this.#live;

  /** Lets a day go by while nobody reads. */
  async passDay(): Promise<void> {
    for (let left = 20; left > 0; left--) await this.#write();
  }

  async #fill(): Promise<void> {
    for (let left = this.#options.count; left > 0; left -= rowsPerInsert) {
      const rows: Row[] = [];
      for (let at = Math.min(left, rowsPerInsert); at > 0; at--) rows.push(this.#newRow(0, 60_000));
      const values = rows.map(({ reference, title, at }) => valuesOf(reference, title, at));
      const { rows: ids } = await this.#database.query<{ id: number }>(
        `INSERT INTO document_exports (reference, title, status, exported_at) VALUES ${values} RETURNING id`,
      );
      this.#live.push(...rows.map((row, at) => ({ ...row, id: Number(ids[at]?.id) })));
    }
  }

  #newRow(id: number, stepMs: number): Row {
    this.#now += stepMs;
    const reference = ++this.#nextReference;
    // Many documents have the same title.
    return { id, reference, at: this.#now, title: `Document ${this.#random.integer(1, 200)}` };
  }

  async #page({ index, size }: AskedPage): Promise<ServedPage> {
    this.#answers++;
    this.#now += answerMs;
    await this.#writeSome();
    const counted = await this.#database.query<{ total: number }>(
      'SELECT count(*)::integer AS total FROM document_exports WHERE deleted_at IS NULL',
    );
    await this.#writeSome();
    const { orderBy } = this.#options;
    const { rows } = await this.#database.query<Exported>(
      `SELECT reference, title, (extract(epoch FROM exported_at) * 1000)::float8 AS at
         FROM document_exports WHERE deleted_at IS NULL
         ${orderBy === null ? '' : `ORDER BY ${orderBy}`} LIMIT $1 OFFSET $2`,
      [size, index * size],
    );
    return { items: rows.map(itemOf), total: counted.rows[0]?.total ?? 0 };
  }

  async #writeSome(): Promise<void> {
    const due = this.#jobs.filter(({ dueAt }) => dueAt <= this.#answers);
    this.#jobs = this.#jobs.filter(job => !due.includes(job));
    for (const { id } of due) await this.#commit(this.#newRow(id, 1));
    // Half of the writes come between the two statements.
    let rate = this.#options.writesPerAnswer / 2;
    for (; rate >= 1; rate--) await this.#write();
    if (this.#random.chance(rate)) await this.#write();
  }

  /** Of ten writes six are inserts, and the others updates and deletes. */
  async #write(): Promise<void> {
    const kind = this.#random.fraction();
    if (kind < 0.6) await this.#insert();
    else if (kind < 0.85) await this.#update();
    else await this.#delete();
  }

  async #insert(): Promise<void> {
    const { rows } = await this.#database.query<{ id: number }>(
      `SELECT nextval('document_exports_id_seq')::integer AS id`,
    );
    const id = rows[0]?.id ?? 0;
    const late = this.#random.integer(0, this.#options.lateBy);
    if (late > 0) this.#jobs.push({ id, dueAt: this.#answers + late });
    else await this.#commit(this.#newRow(id, 1));
  }

  async #commit(row: Row): Promise<void> {
    this.witness.show(row);
    await this.#database.exec(
      `INSERT INTO document_exports (id, reference, title, status, exported_at)
         VALUES (${row.id}, ${valuesOf(row.reference, row.title, row.at).slice(1)}`,
    );
    this.#live.push(row);
  }

  async #update(): Promise<void> {
    const at = this.#random.integer(0, this.#live.length - 1);
    const row = { ...(this.#live[at] as Row), title: `Document ${this.#random.integer(1, 200)}` };
    this.#live[at] = row;
    this.witness.show(row);
    await this.#database.query('UPDATE document_exports SET title = $1 WHERE id = $2', [row.title, row.id]);
  }

  async #delete(): Promise<void> {
    const [row] = this.#live.splice(this.#random.integer(0, this.#live.length - 1), 1) as [Row];
    this.witness.hide(row);
    const isSoft = this.#random.chance(0.5);
    await this.#database.query(
      isSoft
        ? 'UPDATE document_exports SET deleted_at = now() WHERE id = $1'
        : 'DELETE FROM document_exports WHERE id = $1',
      [row.id],
    );
  }
}

function valuesOf(reference: number, title: string, at: number): string {
  const status = statuses[reference % statuses.length];
  return `(${reference}, '${title}', '${status}', '${new Date(at).toISOString()}')`;
}
