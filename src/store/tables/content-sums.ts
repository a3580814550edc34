import type Database from 'better-sqlite3';
import { hash16, Sum } from '../../contract/sum.ts';

/** A version of a record that ended, as it is kept. */
export interface EndedVersion {
  readonly resource: string;
  readonly recordId: number;
  readonly firstSeenRunId: number;
  readonly validFromRunId: number;
  readonly validToRunId: number;
  readonly endedBy: string;
  readonly record: string;
}

/** 16 bytes that say all that a row of the history says, its own id among it. */
export function versionFingerprint(version: EndedVersion & { readonly id: number }): Buffer {
  const { id, resource, recordId, firstSeenRunId, validFromRunId, validToRunId, endedBy, record } = version;
  const values = [id, resource, recordId, firstSeenRunId, validFromRunId, validToRunId, endedBy, record];
  return hash16(JSON.stringify(values));
}

/**
 * How many rows a table holds of a resource, and the sum over what they say: the contents of records and connections, the
 * fingerprints of ended versions. It is kept in the transaction that writes the rows, so that the gate and an audit find what
 * others changed, added or took away.
 */
export class ContentSum {
  readonly #sqlite: Database.Database;
  readonly #table: string;
  readonly #resource: string;
  #current: Sum | null = null;

  constructor(sqlite: Database.Database, table: string, resource: string) {
    // Prepared when it is used: a share has no such table, and who reads one asks for no sum.
    this.#sqlite = sqlite;
    this.#table = table;
    this.#resource = resource;
  }

  /** The sum as it is with all that was added and taken away, also before it is saved. */
  get current(): Sum {
    this.#current ??= this.stored();
    return this.#current;
  }

  add(content: Uint8Array): void {
    this.current.add(content);
  }

  subtract(content: Uint8Array): void {
    this.current.subtract(content);
  }

  /** Takes a content of 32 hexadecimal digits away. */
  subtractHex(content: string): void {
    this.current.subtractHex(content);
  }

  /** Writes what was added and taken away; to be called before the transaction ends. */
  save(): void {
    if (this.#current === null) return;
    this.#sqlite
      .prepare(
        `INSERT INTO _content_sums (table_name, resource, record_count, digest) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET record_count = excluded.record_count, digest = excluded.digest`,
      )
      .run(this.#table, this.#resource, this.#current.count, this.#current.toString());
    this.#current = null;
  }

  /** Puts another sum in the place of the stored one; to be called before the transaction ends. */
  replace(sum: Sum): void {
    this.#current = sum;
    this.save();
  }

  /** The sum as it is stored: of no rows where none was ever written. */
  stored(): Sum {
    const row = this.#sqlite
      .prepare<[string, string], { recordCount: number; digest: string }>(
        'SELECT record_count AS recordCount, digest FROM _content_sums WHERE table_name = ? AND resource = ?',
      )
      .get(this.#table, this.#resource);
    return row === undefined ? new Sum() : Sum.from(row.recordCount, row.digest);
  }
}
