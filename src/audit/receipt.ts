import canonicalize from 'canonicalize';
import type { ResourceName } from '../contract/lists.ts';

/** How a run, or a list in it, ended. `interrupted`: its process died, and the next run recorded that. */
type EndStatus = 'completed' | 'partial' | 'failed' | 'cancelled' | 'interrupted';

/** The state of a list after a run. */
export interface ListSum<Name extends string = ResourceName | 'connections'> {
  readonly resource: Name;
  readonly recordCount: number;
  /** The sum of the contents of all rows modulo 2^128, in 32 hexadecimal digits. */
  readonly checksum: string;
}

/** The work of a run on a list or on the connections, as two hashes of 64 hexadecimal digits. */
interface WorkHashes {
  /** Over the changes; see `LinesHash`. */
  readonly changes: string;
  /** Over the versions that the run ended; see `LinesHash`. */
  readonly ended: string;
}

/** The changes of a run in the connections. A receipt has this only if the run changed some. */
export interface ConnectionsReceipt extends ListSum<'connections'>, WorkHashes {}

/** The result of a run for one list. */
export interface ListReceipt extends ListSum<ResourceName>, WorkHashes {
  readonly status: EndStatus;
  /** Null if the run reached no verdict for the list. */
  readonly completeness: 'proven' | 'incremental' | 'unproven' | null;
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly rejected: number;
  readonly removalsWithheld: number;
}

/** The statement of a run about itself and its lists. Times are UTC in ISO 8601 with milliseconds. */
export interface RunReceipt {
  readonly kind: 'run';
  readonly mirrorId: string;
  readonly runId: number;
  readonly status: EndStatus;
  readonly trigger: string;
  readonly startedAt: string;
  /** Null if the run died, because nobody knows when. */
  readonly completedAt: string | null;
  /** The person or program that started the run. */
  readonly actor: string;
  readonly baseUrl: string;
  readonly docmirrorVersion: string;
  /** The SHA-256 over the run's own rows, in hexadecimal digits; see `Books`. */
  readonly books: string;
  /** In the order of the contract, the connections last. */
  readonly lists: readonly (ListReceipt | ConnectionsReceipt)[];
}

/** The file got another shape: its state after that. Times are as in `RunReceipt`. */
export interface UpgradeReceipt {
  readonly kind: 'upgrade';
  readonly mirrorId: string;
  readonly at: string;
  readonly fromVersion: string;
  readonly docmirrorVersion: string;
  readonly lists: readonly ListSum[];
  /** For each list and the connections: which run wrote the existing versions. */
  readonly kept: readonly KeptSum[];
}

/** Versions that had ended at `before` or earlier were deleted. */
export interface PruneReceipt {
  readonly kind: 'prune';
  readonly mirrorId: string;
  readonly at: string;
  readonly before: string;
  /**
   * For each list and the connections: which run wrote the versions that are left. It covers the runs whose ended versions were
   * deleted.
   */
  readonly kept: readonly KeptSum[];
}

/**
 * A sum over versions of runs whose changes hash can no longer be computed: over the runs that wrote them and their content. It
 * also has their number.
 */
export interface KeptSum {
  readonly resource: ResourceName | 'connections';
  readonly count: number;
  /** 32 hexadecimal digits. */
  readonly sum: string;
}

/** Rows that another program had altered were dropped or accepted: the state of the mirror after that. */
export interface RebuildReceipt {
  readonly kind: 'rebuild';
  readonly mirrorId: string;
  readonly at: string;
  readonly actor: string;
  readonly lists: readonly ListSum[];
  /** For each list and the connections: which run wrote the existing versions. */
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
  /** For each run that had ended one of them, by its number: the `ended` hash of its list from now on. */
  readonly ended: readonly { readonly runId: number; readonly ended: string }[];
}

/** One leaf of the log. */
export type Receipt = RunReceipt | UpgradeReceipt | PruneReceipt | RebuildReceipt | EraseReceipt;

/**
 * A receipt as it is stored: canonical JSON (RFC 8785). Its UTF-8 bytes are the leaf of the log.
 *
 * @throws if it contains something that JSON can't have: half a surrogate pair, or a number that is not finite.
 */
export function receiptText(receipt: Receipt): string {
  const text = canonicalize(receipt);
  if (text === undefined) throw new TypeError('A receipt is an object.');
  return text;
}
