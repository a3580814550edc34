import type Database from 'better-sqlite3';
import { codeOf, UsageError } from '../../errors.ts';
import { openForReading } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import type { ResultColumn } from './cells.ts';

/** A value of a result. Whole numbers are bigints, which are exact; other numbers are REAL. BLOBs are lower-case hexadecimal digits. */
export type QueryValue = string | number | bigint | null;

/** One statement, and the texts of its named parameters. */
export type Statement = { readonly sql: string; readonly params: Readonly<Record<string, string>> };

/** A user's statement on a mirror or a share. SQLite itself confirms that it only reads, and the connection can't write. */
export class Query implements Disposable {
  /** In their order; two can have one name. Of the kind `time` are columns of times, and what SQLite computed, which can be one. */
  readonly columns: readonly ResultColumn[];
  readonly #file;
  readonly #prepared: Database.Statement<unknown[], (QueryValue | Buffer)[]>;

  /** Throws a UsageError if the statement can't be prepared, writes or returns no rows; a MirrorFileError if there is no mirror to read. */
  constructor(path: string, { sql, params }: Statement) {
    this.#file = openForReading(path);
    try {
      // Everything is read from one state of the file, however often the rows are read.
      this.#file.sqlite.exec('BEGIN');
      this.#prepared = this.#file.sqlite.prepare(sql);
      const wrong = this.#prepared.readonly ? 'returns no rows' : 'would write';
      if (!this.#prepared.readonly || !this.#prepared.reader)
        throw new UsageError(`The statement ${wrong}. Only statements that read and return rows are run.`);
      this.#prepared.bind(params).raw().safeIntegers();
      this.columns = this.#prepared.columns().map(({ name, column, type }) => {
        const kind = /_(at|since)$/.test(column ?? '_at') ? 'time' : 'text';
        return { name, kind, declared: declaredKind(type) };
      });
    } catch (error) {
      this.#file.close();
      throw explained(error, path);
    }
  }

  /** Runs the statement from its beginning, a row at a time. Throws a UsageError if SQLite can't compute one. */
  *rows(): Generator<QueryValue[]> {
    try {
      for (const row of this.#prepared.iterate())
        yield row.map(value => (Buffer.isBuffer(value) ? value.toString('hex') : value));
    } catch (error) {
      throw explained(error, this.#file.path);
    }
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}

/** The kind of a declared type, by SQLite's rules of affinity; null if it is none of these, as `DATE`. */
function declaredKind(type: string | null): ResultColumn['declared'] {
  if (/int/i.test(type ?? '')) return 'integer';
  if (/char|clob|text/i.test(type ?? '')) return 'text';
  return /real|float|double/i.test(type ?? '') ? 'real' : null;
}

function explained(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error;
  // Of the driver: several statements, none, or a parameter without a value.
  if (error instanceof RangeError) {
    const hint = ': give :name in the statement with --param name=VALUE';
    return new UsageError(`${error.message}${error.message.includes('parameter') ? hint : ''}.`);
  }
  const isOfStatement = /^SQLITE_(ERROR|TOOBIG|MISMATCH|RANGE|READONLY|AUTH)$/.test(codeOf(error) ?? '');
  return isOfStatement ? new UsageError(error.message) : explainSqliteError(error, path);
}
