import type { ListDefinition, ResourceName } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import type { RemovalGuard } from '../proof/removal-guard.ts';
import type { KnownList } from '../proof/windows/incremental.ts';
import type { LearntOrder } from '../proof/windows/order.ts';
import type { PageAddress, PageAnswer, PageItems, PageSummary } from '../proof/windows/page.ts';
import type { Verdict } from '../proof/windows/verdict.ts';

// What a run needs of the world. The rooms that do the work implement these, so a run knows neither HTTP nor SQLite.

/** Which page to ask for; null leaves the parameter out, so that the service's own default counts. */
export interface PageRequest {
  readonly pageNo: number | null;
  readonly pageSize: number | null;
  /** True where by what is known there is no page at this address: an answer that holds nothing may then be the right one. */
  readonly isBeyond?: boolean;
}

/** What asking the service has cost so far. */
export interface Traffic {
  readonly requests: number;
  readonly retries: number;
  readonly bytes: number;
  /** Time spent waiting because the service asked for it or failed, in milliseconds. */
  readonly waitedMs: number;
}

/** The service, as a run sees it: pages of lists, and what they cost. `service/` implements it. */
export interface PageSource {
  readonly baseUrl: string;
  readonly traffic: Traffic;
  /** How many page requests may be in flight now. */
  readonly concurrency: number;
  /**
   * Gets one page, with all its retries.
   *
   * @param isKnown tells whether items with that digest need no parsing.
   * @throws ServiceError when the retries are spent or another try can't help.
   */
  getPage(
    list: ListDefinition,
    request: PageRequest,
    signal: AbortSignal,
    isKnown?: (itemsDigest: string) => boolean,
  ): Promise<Page>;
}

/** What earlier runs learnt of a list. */
export interface ListMemory {
  /** The order of the list, as the last proven full sync saw it. */
  readonly order: LearntOrder;
  /** The growing end as the last run knew it, from which an incremental run begins; null if a full sync is due. */
  readonly growth: KnownGrowth | null;
}

/** What an incremental run begins with. */
export interface KnownGrowth {
  /** When the last proven full sync began, as an ISO date in UTC. */
  readonly sweptAt: string;
  readonly firstPageNo: number;
  readonly pageSize: number;
  readonly list: KnownList;
}

/** What a page came to. */
export interface PageReading {
  readonly summary: PageSummary;
  /** How many of its records the mirror did not have as they are. */
  readonly newCount: number;
  /** How many of these were inserted; the others are newer versions of known ids. */
  readonly insertedCount: number;
  /** The oldest key among the new ones; NaN if there is none. */
  readonly oldestNewKey: number;
}

/** What a reading came to, to be written. */
export type ListResult = {
  readonly firstPageNo: number;
  /** Records a page of the list's own size, by which places are told. */
  readonly pageSize: number;
  /** When the reading began, as an ISO date in UTC. */
  readonly readAt: string;
} & (
  | {
      readonly kind: 'full';
      readonly verdict: Verdict;
      /** True if no page is left by which a row that is gone could be looked for a second time: then two runs in a row have to show it. */
      readonly isLookExhausted: boolean;
      readonly removals: RemovalGuard;
      readonly answers: readonly PageAnswer[];
      /** The answers that end the list. */
      readonly ending: ReadonlySet<PageAnswer>;
    }
  /** The growing end of the list was read, and the newest known rows must have been shown. */
  | { readonly kind: 'incremental'; readonly answers: readonly PageAnswer[] }
);

/** What writing a list came to. */
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

/** A field that the service sends and no column exists for, with one of the JSON types of its values. */
export interface UnknownField {
  readonly field: string;
  readonly jsonType: string;
}

/** What a run was the first to see of a list's fields. */
export interface FieldNews {
  /** Fields that no column exists for, and that no run has met before. */
  readonly newFields: readonly UnknownField[];
  /** Columns that no record has a value in any more, though each had one after the last full sync. */
  readonly emptiedColumns: readonly string[];
}

/** How writing a list ended: it was written and recorded, or it has to be read again without any shortcut. */
export type Written =
  | { readonly kind: 'written'; readonly outcome: ListOutcome }
  | { readonly kind: 'again'; readonly reason: string };

/** One list of the mirror, as a run sees it. */
export interface ListMirror {
  readonly memory: ListMemory;
  /** How many records the run has seen, each once. */
  readonly seenCount: number;
  /** Whether two rows are the same record. */
  hasTwins(): boolean;
  /** Whether a run of the last days has used an address: eight times `DOCMIRROR_FULL_EVERY`. */
  isUsed(address: PageAddress): boolean;
  /** Whether a page is known from the last proven full sync, and the mirror still has its records, so that it needs no parsing. */
  isKnown(itemsDigest: string): boolean;
  /** The items of a page of this run, by its digest; null if it was known and therefore not read. */
  itemsOf(digest: string): PageItems | null;
  /** Begins a new round of answers: what they say of connections counts more than what was said before. */
  beginRound(): void;
  /** Reads a page: compares its records with the rows, and writes those that are new. */
  read(page: Page, address: PageAddress, signal: AbortSignal): Promise<PageReading>;
  /** The keys of the rows that would go if a second answer showed the same; NaN if a row has none. */
  keysToConfirm(verdict: Verdict, signal: AbortSignal): Promise<Float64Array>;
  /**
   * Forgets every shortcut of the list, and what this run has read of it.
   *
   * @throws MirrorAlteredError if the mirror's rows are not what they should be, so that no shortcut was at fault.
   */
  beginAgain(): void;
  /**
   * Writes what was found, and with it the outcome that follows from it, all or nothing. Ends early, with nothing written,
   * if the signal is aborted.
   *
   * @param outcome makes the outcome of what was written; `unproven` tells why the list is not proven, null if it is.
   */
  apply(
    result: ListResult,
    outcome: (applied: Applied, unproven: string | null) => ListOutcome,
    signal: AbortSignal,
  ): Promise<Written>;
}

/** How a run or a list of it stands; `interrupted` is one whose process died. */
export type RunStatus = 'running' | 'completed' | 'partial' | 'failed' | 'cancelled' | 'interrupted';
/** How sure a run is of a list. */
export type Completeness = 'proven' | 'incremental' | 'unproven';

/** What started a run: `manual`, `schedule`, or the name that `DOCMIRROR_TRIGGER` gives. */
export type Trigger = string;

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
  readonly completeness: Completeness | null;
  readonly firstPageNo: number | null;
  readonly pageSize: number | null;
  readonly pageCount: number | null;
  readonly totalRecordCount: number | null;
  readonly recordsSeen: number;
  readonly walks: number;
  readonly error: RunError | null;
  /** Why completeness is not better than it is, in words; null where there is nothing to say. */
  readonly reason: string | null;
  /** 32 hexadecimal digits: the sum of the contents of the list's rows; null where the list failed in a run that records nothing. */
  readonly checksum: string | null;
}

/** What is recorded of a run as it begins; `startedAt` is ISO 8601, UTC. */
export interface RunStart {
  readonly trigger: Trigger;
  readonly startedAt: string;
  readonly baseUrl: string;
  readonly docmirrorVersion: string;
  /** Who runs it, for the receipt; empty where nobody is named. */
  readonly actor: string;
  /** What an operator knows the mirror by; nothing if it is left out. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Where a run's receipt stands in the log of receipts, and what the log came to with it; hashes in hexadecimal digits. */
export interface ReceiptHead {
  readonly leafIndex: number;
  readonly leafHash: string;
  readonly treeSize: number;
  readonly rootHash: string;
}

/** What is known of a run when it has begun. */
export interface RunBegun {
  /** Null if nothing is recorded, in a dry run. */
  readonly runId: number | null;
  /** How many rows that another program altered were dropped; null if the mirror was not rebuilt. */
  readonly rowsDropped: number | null;
}

/** The mirror, held by one run from `beginRun` to `endRun`. */
export interface Mirror {
  /** Records that a run began. */
  beginRun(start: RunStart): Promise<RunBegun>;
  openList(list: ListDefinition, startedAt: string): Promise<ListMirror>;
  /** Records a list that ended without being applied, and returns what is recorded: with the checksum that the list has. */
  recordList(outcome: ListOutcome): Promise<ListOutcome>;
  /**
   * Deletes the versions that had ended by a time, step by step; ends early when the run is told to stop.
   *
   * @param at the time of now.
   */
  pruneHistory(before: string, at: string): Promise<void>;
  /** Records how the run ended, and returns its receipt; null where nothing is recorded. */
  endRun(status: RunStatus, completedAt: string, error: RunError | null): Promise<ReceiptHead | null>;
}

/** Tells the time; tests hand in one of their own. */
export type Clock = () => Date;
