import type { ListDefinition, ResourceName } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import type { Answer, ItemsOf } from '../proof/answer.ts';
import type { Envelope } from '../proof/envelope.ts';
import type { FoundOnPage, ListEdges } from '../proof/incremental.ts';
import type { Standing } from '../proof/standing.ts';
import type { Strip } from '../proof/strip.ts';
import type { Changed } from '../proof/verdict.ts';

// What a run needs of the world. The rooms that do the work implement these, so a run knows neither HTTP nor SQLite.

/** Which page to ask for; null leaves the parameter out, so that the service's own default counts. */
export interface PageRequest {
  readonly pageNo: number | null;
  readonly pageSize: number | null;
  /** True where by what is known there is no such page: an answer that holds nothing may then be the right one. */
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

/** What a page that was read comes to, wherever it stands in the list, and what of it the mirror does not hold. */
export interface PageReading extends Omit<Answer, 'index' | 'total'> {
  readonly found: FoundOnPage;
}

/** What is to be written. */
export type ApplyOrder = {
  readonly firstPageNo: number;
  /** Records a page: of the last walk's pages, and of the list's own, by which places are told. */
  readonly pageSizes: { readonly read: number; readonly own: number };
} & (
  | {
      /** The strip is the list: what the mirror has otherwise is updated or removed. */
      readonly kind: 'list';
      readonly strip: Strip;
      /** What of it the mirror may not have. */
      readonly changed: Changed;
      /** The most records that may be removed; more are withheld, all of them. */
      readonly removalsMax: number;
      readonly edges: ListEdges | null;
      /** The pages that the next run may know: those of a walk with the list's own page size; null where there is none. */
      readonly knownPages: readonly Answer[] | null;
    }
  /** What was read is part of the list, and only new records are in it. */
  | { readonly kind: 'edges'; readonly pages: readonly Answer[]; readonly edges: ListEdges }
  /** No reading is proven: all that was seen is stored, and nothing removed. Each walk by its strip or, where it has none, page by page. */
  | { readonly kind: 'seen'; readonly walks: readonly SeenWalk[] }
);

/** A walk that proves nothing. */
export interface SeenWalk {
  /** Null where the walk is contradicted: only what one page holds is then known to stand side by side. */
  readonly strip: Strip | null;
  /** Every page that came with records. */
  readonly pages: readonly Answer[];
}

/** What writing a list came to. */
export interface Applied {
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly removalsWithheld: number;
  readonly recordCount: number;
  /** 32 hexadecimal digits: the sum of the contents of the list's rows. */
  readonly checksum: string;
}

/** One list of the mirror, as a run sees it. */
export interface ListMirror {
  readonly standing: Standing;
  /** How the ends of the list looked to the last proven run; null where an incremental sync has nothing to start from. */
  edges(): ListEdges | null;
  /** Finds what was read of a page of this run, by the digest of its items. */
  readonly itemsOf: ItemsOf;
  /**
   * What a page with that digest comes to without reading it; null where it has to be read.
   *
   * @param isTrusting whether pages that are known from the last proven sweep count, besides those that this run has read.
   */
  known(digest: string, isTrusting: boolean): PageReading | null;
  /** Reads a page, holds it against the mirror and keeps what is new in it. */
  read(page: Page): PageReading;
  /**
   * Begins a walk, counted from 1. Where an interrupted run left a first walk of the same list with the same first page, that
   * one is taken up, and its pages are returned.
   */
  beginWalk(walk: number, envelope: Envelope, firstDigest: string): readonly Answer[];
  /** Remembers a page of the current walk, so that an interrupted run can be taken up. */
  keep(walk: number, answer: Answer): void;
  /** Forgets what this run has read of the list: the next walk is a first one. */
  readAnew(): void;
  /**
   * Forgets every shortcut of the list.
   *
   * @throws MirrorAlteredError if the mirror's rows are not what they should be, so that no shortcut was at fault.
   */
  distrust(): void;
  /**
   * Writes what was found, and with it the outcome that follows from it, all or nothing. Ends early, with nothing written,
   * when the signal is aborted.
   *
   * @throws GateError where the rows would not come to what was read; nothing is then written.
   */
  apply(
    order: ApplyOrder,
    outcome: (applied: Applied) => ListOutcome,
    signal: AbortSignal,
  ): Promise<ListOutcome>;
}

/** How a run or a list of it stands; `interrupted` is one whose process died. */
export type RunStatus = 'running' | 'completed' | 'partial' | 'failed' | 'cancelled' | 'interrupted';
/** How sure a run is of a list. */
export type Completeness = 'proven' | 'incremental' | 'unproven';

/** What started a run: a person or script (`sync`), or `watch`. */
export type Trigger = 'manual' | 'schedule';

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
