import type { ListDefinition, ResourceName } from './lists.ts';
import type { Page, UnknownField } from './page.ts';

// How a run is described: by what it is begun with, what becomes of each list, and how it is recorded.

/** The requests to the service so far, and their cost. */
export interface Traffic {
  readonly requests: number;
  readonly retries: number;
  readonly bytes: number;
  /** Time spent waiting because of the service: it asked for a pause, or failed; in milliseconds. */
  readonly waitedMs: number;
}

/** The result of writing a list. */
export interface Applied extends FieldNews {
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly removalsWithheld: number;
  /** The one field of their identity in which the withheld records differ from as many newer ones; null if there is none. */
  readonly changedIdentity: string | null;
  /** Known records whose presence this run could not decide. */
  readonly undecided: number;
  readonly recordCount: number;
  /** 32 hexadecimal digits: the sum of the contents of the list's rows. */
  readonly checksum: string;
}

/** The changes of a list's fields that this run was the first to see. */
export interface FieldNews {
  /** Fields that have no column, and that no earlier run saw. */
  readonly newFields: readonly UnknownField[];
  /** Columns that no record has a value in any more, though each had one after the last full sync. */
  readonly emptiedColumns: readonly string[];
}

/** The status of a run or of a list in it; `interrupted` is one whose process died. */
export type RunStatus = 'running' | 'completed' | 'partial' | 'failed' | 'cancelled' | 'interrupted';

/** Why a run or a list failed: a code for programs, a message for people. No secret is in either. */
export interface RunError {
  readonly code: string;
  readonly message: string;
}

/** How one list of a run ended, as it is recorded and reported. */
export interface ListOutcome extends Traffic, Omit<Applied, 'recordCount' | 'checksum'> {
  readonly resource: ResourceName;
  readonly startedAt: string;
  readonly completedAt: string;
  readonly status: RunStatus;
  readonly mode: 'full' | 'incremental' | null;
  /** How sure the run is of the list. */
  readonly completeness: 'proven' | 'incremental' | 'unproven' | null;
  readonly firstPageNo: number | null;
  readonly pageSize: number | null;
  readonly pageCount: number | null;
  readonly totalRecordCount: number | null;
  readonly recordsSeen: number;
  readonly walks: number;
  readonly error: RunError | null;
  /** Why completeness is not better than it is, in words; null if there is nothing to say. */
  readonly reason: string | null;
  /** 32 hexadecimal digits: the sum of the contents of the list's rows; null if the list failed in a dry run. */
  readonly checksum: string | null;
}

/** The record of a run at its start; `startedAt` is ISO 8601, UTC. */
export interface RunStart {
  /** `manual`, `schedule`, or the name that `DOCMIRROR_TRIGGER` gives. */
  readonly trigger: string;
  readonly startedAt: string;
  readonly baseUrl: string;
  readonly docmirrorVersion: string;
  /** The person or program that runs it, for the receipt; empty if nobody is named. */
  readonly actor: string;
  /** An operator's labels for the mirror; none if left out. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** The place of a run's receipt in the log of receipts, and the root hash of the log with it, in hexadecimal digits. */
export interface ReceiptHead {
  readonly leafIndex: number;
  readonly leafHash: string;
  readonly treeSize: number;
  readonly rootHash: string;
}

/** The page to ask for; null leaves the parameter out, so that the service's own default counts. */
export interface PageRequest {
  readonly pageNo: number | null;
  readonly pageSize: number | null;
  /** True if, by all that is known, there is no page at this address: an empty answer might then be right. */
  readonly isBeyond?: boolean;
  /** How often a page that the service fails to make is asked for; as long as the service is given up if it is left out. */
  readonly triesMax?: number;
}

/** The service, as a run sees it: pages of lists, and what they cost. `service/` implements it. */
export interface PageSource {
  readonly baseUrl: string;
  readonly traffic: Traffic;
  /** How many page requests can be in flight now. */
  readonly concurrency: number;
  /**
   * Gets one page, with all its retries.
   *
   * @param isKnown tells whether items with that digest need no parsing.
   * @throws ServiceError if all retries failed or another try can't help.
   */
  getPage(
    list: ListDefinition,
    request: PageRequest,
    signal: AbortSignal,
    isKnown?: (itemsDigest: string) => boolean,
  ): Promise<Page>;
}
