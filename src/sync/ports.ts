import type { ListDefinition, ResourceName } from '../contract/lists.ts';
import type { Page, Pagination } from '../contract/page.ts';
import type { ListEdges } from '../proof/incremental.ts';

// What a run needs of the world. The rooms that do the work implement these, so a run knows neither HTTP nor SQLite.

/** Which page to ask for; null leaves the parameter out, so that the service's own default counts. */
export interface PageRequest {
  readonly pageNo: number | null;
  readonly pageSize: number | null;
}

/** What asking the service has cost so far. */
export interface Traffic {
  readonly requests: number;
  readonly retries: number;
  readonly bytes: number;
  /** Time spent waiting because the service asked for it or failed, in milliseconds. */
  readonly waitedMs: number;
}

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

/** What one page shows before anything is compared. */
export interface PageFacts {
  /** The page that was asked for; the answer's own word stands in `pagination`. */
  readonly pageNo: number;
  readonly pagination: Pagination;
  readonly itemCount: number;
  /** Hexadecimal digits over the items' bytes. */
  readonly itemsDigest: string;
  /** True where another page may rightly be the same: all items are one record, in a list that allows identical twins. */
  readonly mayRepeat: boolean;
}

/** What one page showed, when it was compared with the mirror. */
export interface PageFindings extends PageFacts {
  /** 16 bytes: the sum of the items' fingerprints. */
  readonly sum: Buffer;
  /** Items that stood on another page of this walk, too. */
  readonly seenElsewhere: number;
  readonly rejected: number;
  readonly news: NewsFindings;
}

/** Which of a page's items are not in the mirror as they stand there. */
export interface NewsFindings {
  readonly count: number;
  /** The positions of the first and the last of them; -1 where there is none. */
  readonly first: number;
  readonly last: number;
  /** How many of them stand in the mirror with another content. */
  readonly changed: number;
}

/** The first page's word on a whole list. */
export interface WalkEnvelope {
  readonly firstPageNo: number;
  readonly pageSize: number;
  readonly pageCount: number;
  readonly totalRecordCount: number;
}

export interface ApplyOrder {
  /** `edges`: what was read is part of the list, nothing is missing. `last`: the last walk is the list. `all`: no walk alone is right, so all that was seen is stored and nothing removed. */
  readonly walks: 'edges' | 'last' | 'all';
  /** The most records that may be removed; more are withheld, all of them. */
  readonly removalsMax: number;
  /** How the ends of the list look now, for the next run; null where that is not sure. */
  readonly edges: ListEdges | null;
}

export interface Applied {
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly removalsWithheld: number;
  readonly recordCount: number;
  /** 32 hexadecimal digits over the list's rows. */
  readonly digest: string;
  /** Connections that the list gives more than one name. */
  readonly connectionNameConflicts: number;
}

/** The ends of a list, which are all that an incremental sync reads. */
export interface ListEnds {
  /** How they looked to the last run that was sure of them. */
  readonly edges: ListEdges;
  /** Begins to read them: pages are compared and staged as in a walk. */
  begin(): void;
  /** Forgets what was read of them. */
  giveUp(): void;
}

/** One list of the mirror, while a run works on it. */
export interface ListMirror {
  /** Records in the mirror now. */
  readonly recordCount: number;
  /** The page size that worked last time with this service; null when there was none. */
  readonly pageSizeThatWorked: number | null;
  /**
   * Begins a walk. Where an interrupted run left one under the same envelope and with the same first page, that one is
   * taken up again, and what its pages showed is returned.
   */
  beginWalk(envelope: WalkEnvelope, firstPage: Page): PageFindings[];
  /** How many items pages with that digest hold, where their rows are known from the last sweep; null where they are not. */
  knownItemCount(itemsDigest: string): number | null;
  /** For reading only the ends of the list; null where an incremental sync has nothing to start from. */
  readonly ends: ListEnds | null;
  /** Compares a page of the walk with the mirror, and stages what is new in it. */
  takeIn(facts: PageFacts, page: Page): PageFindings;
  /** Records of the mirror that this walk has not seen so far. */
  unseenCount(): number;
  /**
   * Writes what was found, and with it the outcome that follows from it, all or nothing. Ends early, with nothing written,
   * when the signal is aborted.
   */
  apply(
    order: ApplyOrder,
    outcome: (applied: Applied) => ListOutcome,
    signal: AbortSignal,
  ): Promise<ListOutcome>;
}

export type RunStatus = 'running' | 'completed' | 'partial' | 'failed' | 'cancelled' | 'interrupted';
export type Completeness = 'proven' | 'count_matched' | 'incremental' | 'unproven';
export type Trigger = 'manual' | 'schedule';

export interface RunError {
  readonly code: string;
  readonly message: string;
}

/** How one list of a run ended, as it is recorded and reported. */
export interface ListOutcome {
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
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly removalsWithheld: number;
  readonly walks: number;
  readonly requests: number;
  readonly retries: number;
  readonly bytes: number;
  readonly waitedMs: number;
  readonly error: RunError | null;
  /** Why completeness is not better than it is, in words; null where there is nothing to say. */
  readonly reason: string | null;
}

export interface RunStart {
  readonly trigger: Trigger;
  readonly startedAt: string;
  readonly baseUrl: string;
  readonly docmirrorVersion: string;
}

/** The mirror, held by one run from `beginRun` to `endRun`. */
export interface Mirror {
  /** Records that a run began, and returns its id; null where nothing is recorded, in a dry run. */
  beginRun(start: RunStart): Promise<number | null>;
  openList(list: ListDefinition, startedAt: string): Promise<ListMirror>;
  /** Records a list that ended without being applied. */
  recordList(outcome: ListOutcome): Promise<void>;
  endRun(status: RunStatus, completedAt: string, error: RunError | null): Promise<void>;
}

export type Clock = () => Date;
