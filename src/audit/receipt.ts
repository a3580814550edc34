import canonicalize from 'canonicalize';
import type { ResourceName } from '../contract/lists.ts';

/** How a run, or a list in it, ended; `interrupted`: its process died, and the next run says so. */
type EndStatus = 'completed' | 'partial' | 'failed' | 'cancelled' | 'interrupted';

/** What a list has after a run. */
export interface ListSum<Name extends string = ResourceName | 'connections'> {
  readonly resource: Name;
  readonly recordCount: number;
  /** The sum of the contents of all rows modulo 2^128, in 32 hexadecimal digits. */
  readonly checksum: string;
}

/** What a run did to a list or to the connections, as two hashes of 64 hexadecimal digits. */
interface WorkHashes {
  /** Over the changes; see `LinesHash`. */
  readonly changes: string;
  /** Over the versions that the run ended; see `LinesHash`. */
  readonly ended: string;
}

/** What a run changed in the connections; a receipt has it if there was such a change. */
export interface ConnectionsReceipt extends ListSum<'connections'>, WorkHashes {}

/** What a run says of one list. */
export interface ListReceipt extends ListSum<ResourceName>, WorkHashes {
  readonly status: EndStatus;
  /** Null if the list did not come to a verdict. */
  readonly completeness: 'proven' | 'incremental' | 'unproven' | null;
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly rejected: number;
  readonly removalsWithheld: number;
}

/** What a run states of itself and of its lists. Times are UTC in ISO 8601 with milliseconds. */
export interface RunReceipt {
  readonly kind: 'run';
  readonly mirrorId: string;
  readonly runId: number;
  readonly status: EndStatus;
  readonly trigger: string;
  readonly startedAt: string;
  /** Null if the run died, because nobody knows when. */
  readonly completedAt: string | null;
  /** Who ran it. */
  readonly actor: string;
  readonly baseUrl: string;
  readonly docmirrorVersion: string;
  /** The SHA-256 over the run's own rows, in hexadecimal digits; see `booksOf`. */
  readonly books: string;
  /** In the order of the contract, the connections last. */
  readonly lists: readonly (ListReceipt | ConnectionsReceipt)[];
}

/** The file got another shape: what it had then. Times are as in `RunReceipt`. */
export interface UpgradeReceipt {
  readonly kind: 'upgrade';
  readonly mirrorId: string;
  readonly at: string;
  readonly fromVersion: string;
  readonly docmirrorVersion: string;
  readonly lists: readonly ListSum[];
  /** Of each list and the connections: which run wrote the versions that there are. */
  readonly kept: readonly KeptSum[];
}

/** Versions that had ended at `before` or earlier were deleted. */
export interface PruneReceipt {
  readonly kind: 'prune';
  readonly mirrorId: string;
  readonly at: string;
  readonly before: string;
  /** Of each list and the connections: which run wrote the versions that are left of the runs whose ended versions were deleted. */
  readonly kept: readonly KeptSum[];
}

/** How many versions there are of runs of which no changes hash can be computed any more, and the sum over who wrote them and what they say. */
export interface KeptSum {
  readonly resource: ResourceName | 'connections';
  readonly count: number;
  /** 32 hexadecimal digits. */
  readonly sum: string;
}

/** What another program altered was dropped or taken as it was: what the mirror had then. */
export interface RebuildReceipt {
  readonly kind: 'rebuild';
  readonly mirrorId: string;
  readonly at: string;
  readonly actor: string;
  readonly lists: readonly ListSum[];
  /** Of each list and the connections: which run wrote the versions that there are. */
  readonly kept: readonly KeptSum[];
}

/** The text of a record's ended versions, or of one rejected record, was removed for good. */
export interface EraseReceipt {
  readonly kind: 'erase';
  readonly mirrorId: string;
  readonly at: string;
  readonly actor: string;
  readonly resource: ResourceName | 'connections' | 'rejected-records';
  /** For `rejected-records` the id of the row. */
  readonly recordId: number;
  /** How many versions lost their text; 0 for a rejected record. */
  readonly versions: number;
  /** For each run that had ended one of them, by its number: the `ended` hash that its list has from now on. */
  readonly ended: readonly { readonly runId: number; readonly ended: string }[];
}

/** One leaf of the log. */
export type Receipt = RunReceipt | UpgradeReceipt | PruneReceipt | RebuildReceipt | EraseReceipt;

/**
 * A receipt as it is stored: canonical JSON (RFC 8785), whose UTF-8 bytes are the leaf of the log. Throws if it has what
 * JSON can't have: half a surrogate pair, or a number that is not finite.
 */
export function receiptText(receipt: Receipt): string {
  const text = canonicalize(receipt);
  if (text === undefined) throw new TypeError('A receipt is an object.');
  return text;
}
