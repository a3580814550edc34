import canonicalize from 'canonicalize';

/** How a run, or a list in it, ended; `interrupted`: its process died, and the next run says so. */
type EndStatus = 'completed' | 'partial' | 'failed' | 'cancelled' | 'interrupted';

/** A list whose records a receipt speaks of, in the service's own word. */
export type ListName = 'document-exports' | 'collections' | 'webhooks';

/** What stands in a list after a run. */
export interface ListSum<Name extends string = ListName | 'connections'> {
  readonly resource: Name;
  readonly recordCount: number;
  /** The sum of the contents of all rows modulo 2^128, in 32 hexadecimal digits. */
  readonly checksum: string;
}

/** What a run changed in the connections' names; it stands in a receipt where there was such a change. */
export interface ConnectionsReceipt extends ListSum<'connections'> {
  /** The SHA-256 over the changes, in hexadecimal digits; `ChangesHash` makes it. */
  readonly changes: string;
}

/** What a run says of one list. */
export interface ListReceipt extends ListSum<ListName> {
  /** The SHA-256 over the changes, in hexadecimal digits; `ChangesHash` makes it. */
  readonly changes: string;
  readonly status: EndStatus;
  /** Null where the list did not come to a verdict. */
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
  readonly trigger: 'manual' | 'schedule';
  readonly startedAt: string;
  /** Null where the run died, for nobody knows when. */
  readonly completedAt: string | null;
  /** Who ran it. */
  readonly actor: string;
  readonly baseUrl: string;
  readonly docmirrorVersion: string;
  /** In the order of the contract, the connections last. */
  readonly lists: readonly (ListReceipt | ConnectionsReceipt)[];
}

/** The file got another shape, or its first receipt: what stood in it then. Times are as in `RunReceipt`. */
export interface UpgradeReceipt {
  readonly kind: 'upgrade';
  readonly mirrorId: string;
  readonly at: string;
  readonly fromVersion: string;
  readonly docmirrorVersion: string;
  readonly lists: readonly ListSum[];
}

/** Versions that had ended at `before` or earlier were deleted. */
export interface PruneReceipt {
  readonly kind: 'prune';
  readonly mirrorId: string;
  readonly at: string;
  readonly before: string;
}

/** One leaf of the log. */
export type Receipt = RunReceipt | UpgradeReceipt | PruneReceipt;

/**
 * A receipt as it is stored: canonical JSON (RFC 8785), whose UTF-8 bytes are the leaf of the log. Throws where it holds what
 * JSON can't: half a surrogate pair, or a number that is not finite.
 */
export function receiptText(receipt: Receipt): string {
  const text = canonicalize(receipt);
  if (text === undefined) throw new TypeError('A receipt is an object.');
  return text;
}
