import type Database from 'better-sqlite3';
import { receiptOrNull } from '../../audit/read-receipt.ts';
import { firstValues } from '../tables/query.ts';

/** Reads the `ended` hashes that lists of runs have since versions were erased; those of other lists and runs are in the runs' receipts. */
export class ErasedHashes {
  readonly #hashes = new Map<string, string>();

  constructor(sqlite: Database.Database) {
    const texts = firstValues<string>(
      sqlite,
      'SELECT receipt FROM sync_receipts WHERE run_id IS NULL ORDER BY leaf_index',
    );
    for (const text of texts) {
      const receipt = receiptOrNull(text);
      if (receipt?.kind !== 'erase') continue;
      for (const { runId, ended } of receipt.ended) this.#hashes.set(`${receipt.resource} ${runId}`, ended);
    }
  }

  /** The hash, 64 hexadecimal digits; undefined if nothing that the run ended in the list was erased. */
  of(resource: string, runId: number): string | undefined {
    return this.#hashes.get(`${resource} ${runId}`);
  }
}
