/**
 * How bad a difference is: in what the mirror says of records, now or ever (`content`); in what runs say of themselves
 * (`record of runs`); or in what only saves work (`shortcut`).
 */
type Severity = 'content' | 'record of runs' | 'shortcut';

const severities: Readonly<Record<string, Severity>> = {
  sync_runs: 'record of runs',
  sync_run_resources: 'record of runs',
  sync_receipts: 'record of runs',
  rejected_records: 'record of runs',
  _mirror: 'record of runs',
  __drizzle_migrations: 'record of runs',
  docmirror_upgrades: 'record of runs',
  sqlite_sequence: 'record of runs',
  _pages: 'shortcut',
  _list_states: 'shortcut',
};

/** Something in the mirror that is not as docmirror wrote it. */
export interface Difference {
  /** The table that it is found in; null if the file itself is damaged. */
  readonly table: string | null;
  /** The row's id; null if it is no single row's fault, or the row is gone. */
  readonly id: number | null;
  readonly what: string;
  readonly severity: Severity;
}

/** Differences: all are counted, the first ones kept. */
export class Differences {
  readonly #ofFile: Difference[] = [];
  readonly #ofTables: Difference[] = [];
  readonly #limit: number;
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#count;
  }

  /** As many as are listed: first what is wrong with the file itself, whenever it was found. */
  get kept(): Difference[] {
    return [...this.#ofFile, ...this.#ofTables].slice(0, this.#limit);
  }

  /** @param severity where it is left out, that of the table. */
  add(
    table: string | null,
    id: number | null,
    what: string,
    severity = severities[table ?? ''] ?? 'content',
  ): void {
    this.#count++;
    const kept = table === null ? this.#ofFile : this.#ofTables;
    if (kept.length < this.#limit) kept.push({ table, id, what, severity });
  }
}
