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

/** A place in a statement; lines and columns count from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
  /** The text of that line. */
  readonly text: string;
}

/** A statement that was refused, or that failed; `place` is null if SQLite does not say where. */
export class StatementError extends UsageError {
  readonly place: Place | null;

  constructor(message: string, place: Place | null = null) {
    super(message);
    this.place = place;
  }
}

/** A user's statement on a mirror or a share. SQLite itself confirms that it only reads, and the connection can't write. */
export class Query implements Disposable {
  /** The names of the columns, in their order; two can be the same. */
  readonly columns: readonly string[];
  readonly #file: MirrorFile;
  readonly #prepared: Database.Statement<[], (QueryValue | Buffer)[]>;

  /**
   * @throws StatementError if the statement can't be prepared, does not only read, or returns no rows.
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
   * @throws StatementError if SQLite can't compute a row.
   */
  *rows(): Generator<QueryValue[]> {
    try {
      for (const row of this.#prepared.iterate()) yield row.map(asQueryValue);
    } catch (error) {
      throw isOfStatement(error)
        ? new StatementError(error.message)
        : explainSqliteError(error, this.#file.path);
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
    throw new StatementError('The statement would write. Only statements that read are run.');
  if (!prepared.reader)
    throw new StatementError(
      'The statement returns no rows. Only statements that read and return rows are run.',
    );
  bind(prepared, params);
  return prepared.raw().safeIntegers();
}

function compile(sqlite: Database.Database, sql: string): Database.Statement<[], (QueryValue | Buffer)[]> {
  try {
    return sqlite.prepare(sql);
  } catch (error) {
    if (error instanceof RangeError) throw new StatementError(notOne(error.message));
    if (isOfStatement(error)) throw new StatementError(error.message, placeOf(sqlite, sql, error.message));
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
    throw new StatementError(
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

/**
 * The place of an error in a statement. The driver does not return SQLite's own offset, so this prepares beginnings of the
 * statement. SQLite reads from left to right. So the first beginning with the same error message ends with the wrong word.
 */
function placeOf(sqlite: Database.Database, sql: string, message: string): Place | null {
  if (message === 'incomplete input') return placeAt(sql, sql.trimEnd().length);
  const [, word = '', name = ''] =
    /^(?:near|unrecognized token:) "(.+)"(?:: syntax error)?$|^no such \w+: (.+)$/s.exec(message) ?? [];
  // SQLite looks up names after it has read everything, so only a name that is written once has a place.
  const starts = startsOf(sql, word || name);
  const found =
    word === ''
      ? starts.filter((_, __, { length }) => length === 1)[0]
      : starts.find(start => complaintOf(sqlite, sql.slice(0, start + word.length)) === message);
  return found === undefined ? null : placeAt(sql, found);
}

/** At most so many places of one word are tried. If a statement has more of them, the error has no place. */
const triesMax = 1_000;

function startsOf(sql: string, word: string): number[] {
  const starts: number[] = [];
  if (word === '') return starts;
  for (let at = sql.indexOf(word); at !== -1 && starts.length < triesMax; at = sql.indexOf(word, at + 1))
    starts.push(at);
  return starts;
}

function complaintOf(sqlite: Database.Database, sql: string): string | null {
  try {
    sqlite.prepare(sql);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function placeAt(sql: string, at: number): Place {
  const before = sql.slice(0, at).split('\n');
  const text = sql.split('\n')[before.length - 1] ?? '';
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, text };
}
