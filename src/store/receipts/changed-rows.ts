import type Database from 'better-sqlite3';
import { idInLine } from '../../audit/changes-hash.ts';

/** A span of ids, both ends among them, in the order in which their texts sort. */
interface Span {
  readonly from: bigint;
  readonly to: bigint;
  readonly isDescending: boolean;
}

type Lines = Database.Statement<
  [operation: string, runId: number, isInsert: number, from: bigint, to: bigint],
  string
>;

const rowsPerStatement = 1000;

/**
 * The rows that a run inserted or updated and that stand as it left them, as lines of the changes hash. An index has them in the order of
 * their ids, and ids of equally many digits sort as texts as they do as numbers: so there is one series for each number of digits,
 * which takes half as long as having SQLite sort all lines, and no room.
 */
export class ChangedRows {
  readonly #ends: Database.Statement<[number, number], [least: bigint | null, greatest: bigint | null]>;
  readonly #ascending: Lines;
  readonly #descending: Lines;

  constructor(sqlite: Database.Database, table: string) {
    const end = (which: 'min' | 'max') => `(SELECT ${which}(id) FROM ${table} WHERE _changed_run_id = ?)`;
    // What another program has written may be no number that JavaScript holds exactly.
    this.#ends = sqlite
      .prepare<[number, number], [bigint | null, bigint | null]>(`SELECT ${end('min')}, ${end('max')}`)
      .raw()
      .safeIntegers();
    // SQLite writes the lines: an id and a content for each row, to be joined here, would take twice as long as all of this.
    const lines = (order: 'ASC' | 'DESC'): Lines =>
      sqlite
        .prepare<[string, number, number, bigint, bigint], string>(
          `SELECT ? || char(9) || id || char(9) || lower(hex(_content)) || char(10) FROM ${table}
           WHERE _changed_run_id = ? AND (_first_seen_run_id = _changed_run_id) = ? AND id BETWEEN ? AND ?
           ORDER BY id ${order} LIMIT ${rowsPerStatement}`,
        )
        .pluck();
    this.#ascending = lines('ASC');
    this.#descending = lines('DESC');
  }

  /** The lines of one operation, in series of which each is sorted by its bytes. */
  series(runId: number, operation: 'insert' | 'update'): (() => Iterable<string>)[] {
    const [least, greatest] = this.#ends.get(runId, runId) ?? [];
    if (least == null || greatest == null) return [];
    return spansByDigits(least, greatest).map(span => () => this.#lines(runId, operation, span));
  }

  *#lines(
    runId: number,
    operation: 'insert' | 'update',
    { from, to, isDescending }: Span,
  ): Generator<string> {
    const statement = isDescending ? this.#descending : this.#ascending;
    for (let [first, last] = [from, to]; first <= last; ) {
      const lines = statement.all(operation, runId, operation === 'insert' ? 1 : 0, first, last);
      yield* lines;
      const lastLine = lines[rowsPerStatement - 1];
      if (lastLine === undefined) return;
      if (isDescending) last = idInLine(lastLine) - 1n;
      else first = idInLine(lastLine) + 1n;
    }
  }
}

/** The ids from one to another by how many digits they have; those below zero sort as texts from the greatest. */
function spansByDigits(least: bigint, greatest: bigint): Span[] {
  const largest = greatest > -least ? greatest : -least;
  const spans: Span[] = [];
  for (let power = 1n; power === 1n || power <= largest; power *= 10n) {
    const end = power * 10n - 1n;
    spans.push({ from: power === 1n ? 0n : power, to: end, isDescending: false });
    spans.push({ from: -end, to: -power, isDescending: true });
  }
  return spans
    .map(({ from, to, isDescending }) => ({
      from: from < least ? least : from,
      to: to > greatest ? greatest : to,
      isDescending,
    }))
    .filter(({ from, to }) => from <= to);
}
