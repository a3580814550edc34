import type Database from 'better-sqlite3';
import { codeOf, UsageError } from '../../errors.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';

/** A value of a result. Whole numbers are bigints, which are exact; other numbers are REAL. BLOBs are lower-case hexadecimal digits. */
export type QueryValue = string | number | bigint | null;

/** One statement, and the texts of its named parameters. */
export interface Statement {
  readonly sql: string;
  readonly params: Readonly<Record<string, string>>;
}

/** A user's statement on a mirror or a share. SQLite itself confirms that it only reads, and the connection can't write. */
export class Query implements Disposable {
  /** The names of the columns, in their order; two can be the same. */
  readonly columns: readonly string[];
  readonly #file: MirrorFile;
  readonly #prepared: Database.Statement<[], (QueryValue | Buffer)[]>;

  /**
   * @throws UsageError if the statement can't be prepared, does not only read, or returns no rows.
   * @throws MirrorFileError if there is no mirror, or it can't be read.
   */
  constructor(path: string, statement: Statement) {
    const file = openForReading(path);
    this.#file = file;
    try {
      this.#prepared = prepare(file.sqlite, statement);
      this.columns = this.#prepared.columns().map(({ name }) => name);
    } catch (error) {
      file.close();
      throw explainSqliteError(error, path);
    }
  }

  /**
   * Runs the statement from its beginning, a row at a time.
   *
   * @throws UsageError if SQLite can't compute a row.
   */
  *rows(): Generator<QueryValue[]> {
    try {
      for (const row of this.#prepared.iterate()) yield row.map(asQueryValue);
    } catch (error) {
      throw isOfStatement(error) ? new UsageError(error.message) : explainSqliteError(error, this.#file.path);
    }
  }

  /** From here on everything is read from one state of the file. */
  holdStill(): void {
    this.#file.sqlite.exec('BEGIN');
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}

function asQueryValue(value: QueryValue | Buffer): QueryValue {
  return Buffer.isBuffer(value) ? value.toString('hex') : value;
}

function prepare(
  sqlite: Database.Database,
  { sql, params }: Statement,
): Database.Statement<[], (QueryValue | Buffer)[]> {
  const prepared = compile(sqlite, sql);
  if (!prepared.readonly)
    throw new UsageError('The statement would write. Only statements that read are run.');
  if (!prepared.reader)
    throw new UsageError('The statement returns no rows. Only statements that read and return rows are run.');
  bind(prepared, params);
  return prepared.raw().safeIntegers();
}

function compile(sqlite: Database.Database, sql: string): Database.Statement<[], (QueryValue | Buffer)[]> {
  try {
    return sqlite.prepare(sql);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(notOne(error.message));
    if (isOfStatement(error)) throw new UsageError(error.message);
    throw error;
  }
}

function notOne(message: string): string {
  return message.includes('more than one')
    ? 'There is more than one statement. Give one.'
    : 'There is no statement. Give one, such as: docmirror query "SELECT * FROM sync_status"';
}

function bind(prepared: Database.Statement, params: Readonly<Record<string, string>>): void {
  try {
    prepared.bind(params);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const [, name] = /^Missing named parameter "(.*)"$/.exec(error.message) ?? [];
    throw new UsageError(
      name === undefined
        ? 'A parameter has no name. Write :name in the statement, and give it with --param name=VALUE.'
        : `The parameter :${name} has no value. Give it with --param ${name}=VALUE.`,
    );
  }
}

/** True if the error is in the statement, and not in the file or the disk. */
function isOfStatement(error: unknown): error is Error {
  return (
    error instanceof Error && /^SQLITE_(ERROR|TOOBIG|MISMATCH|RANGE|READONLY|AUTH)$/.test(codeOf(error) ?? '')
  );
}
