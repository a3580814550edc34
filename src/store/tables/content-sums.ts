import type Database from 'better-sqlite3';
import { FingerprintSum, hash16 } from '../../contract/fingerprint.ts';
import type { StoredConnection } from '../../contract/wire.ts';

/** The tables whose rows are summed up, besides the lists: a list's own sum stands in its run record. */
export type SummedTable = 'connections' | 'record_history';

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

/** 16 bytes that say all that a connection's row says, but where its name came from. */
export function connectionFingerprint(
  connection: StoredConnection & { readonly firstSeenRunId: number; readonly changedRunId: number },
): Buffer {
  const { id, name, extra, firstSeenRunId, changedRunId } = connection;
  return hash16(JSON.stringify([id, name, extra, firstSeenRunId, changedRunId]));
}

/** 16 bytes that say all that a row of the history says. */
export function versionFingerprint(version: EndedVersion): Buffer {
  const { resource, recordId, firstSeenRunId, validFromRunId, validToRunId, endedBy, record } = version;
  return hash16(
    JSON.stringify([resource, recordId, firstSeenRunId, validFromRunId, validToRunId, endedBy, record]),
  );
}

/**
 * How many rows a table holds, and the sum over their fingerprints; kept in the transaction that writes the rows, so that an
 * audit finds what others changed, added or took away. Where nothing changes, nothing is read or written.
 */
export class ContentSum {
  readonly #load: Database.Statement<[string, string], { recordCount: number; digest: string }>;
  readonly #save: Database.Statement;
  readonly #table: SummedTable;
  readonly #resource: string;
  #current: { recordCount: number; sum: FingerprintSum } | null = null;

  constructor(sqlite: Database.Database, table: SummedTable, resource: string) {
    this.#table = table;
    this.#resource = resource;
    this.#load = sqlite.prepare(
      'SELECT record_count AS recordCount, digest FROM _content_sums WHERE table_name = ? AND resource = ?',
    );
    this.#save = sqlite.prepare(
      `INSERT INTO _content_sums (table_name, resource, record_count, digest) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET record_count = excluded.record_count, digest = excluded.digest`,
    );
  }

  add(fingerprint: Buffer): void {
    const current = this.#loaded();
    current.recordCount++;
    current.sum.add(fingerprint);
  }

  subtract(fingerprint: Buffer): void {
    const current = this.#loaded();
    current.recordCount--;
    current.sum.subtract(fingerprint);
  }

  /** Writes what was added and subtracted; to be called before the transaction ends. */
  save(): void {
    if (this.#current === null) return;
    const { recordCount, sum } = this.#current;
    this.#save.run(this.#table, this.#resource, recordCount, sum.toString());
    this.#current = null;
  }

  /** The sum as it is stored: of no rows where none was ever written. */
  stored(): { recordCount: number; digest: string } {
    return (
      this.#load.get(this.#table, this.#resource) ?? {
        recordCount: 0,
        digest: new FingerprintSum().toString(),
      }
    );
  }

  #loaded() {
    if (this.#current === null) {
      const { recordCount, digest } = this.stored();
      this.#current = { recordCount, sum: FingerprintSum.from(Buffer.from(digest, 'hex')) };
    }
    return this.#current;
  }
}
