import { type ListDefinition, type ResourceName, resourceNames } from './lists.ts';
import type { Page } from './page.ts';
import * as is from './shapes.ts';

// How a run is described: by what it is begun with, what becomes of each list, and how it is recorded.

/** A list by its name. */
export const resource = is.oneOf<string>(resourceNames, 'the list');

/** What ended a run or a list: no secret is in it. */
export const errorShape = (description: string) =>
  is.object(
    {
      code: is.text('one of the codes under Errors in docs/reference.md, for programs'),
      message: is.text('what happened and what to do, for people'),
    },
    description,
  );

/** Why a run or a list failed. */
export type RunError = is.ValueOf<ReturnType<typeof errorShape>>;

/** The same, or null. */
export const errorOrNull = is.orNull(errorShape('what ended it; null if nothing went wrong'));

/** The status of a run or of a list in it; `interrupted` is one whose process died. */
export type RunStatus = 'running' | 'completed' | 'partial' | 'failed' | 'cancelled' | 'interrupted';

/** A status in an output. */
export const statusShape = (description: string) =>
  is.oneOf<string>(
    ['running', 'died', 'completed', 'partial', 'failed', 'cancelled', 'interrupted'],
    `${description}; \`died\` if its process is gone, \`interrupted\` once that is recorded`,
  );

/** The name of a field. */
export const fieldName = is.text('its name');

/** The type of a field's values. */
export const jsonType = is.oneOf<string>(
  ['string', 'number', 'boolean', 'object', 'array', 'null'],
  'of its values',
);

const written = {
  inserted: is.whole('records that were new'),
  updated: is.whole('records that had changed'),
  removed: is.whole('records that were gone, and were removed'),
  unchanged: is.whole('records that were as before'),
  rejected: is.whole('records that could not be read'),
  removalsWithheld: is.whole('records that were gone but were kept (removals withheld)'),
  undecided: is.whole('known records whose presence the run could not decide'),
};

const traffic = {
  requests: is.whole('requests that were sent'),
  retries: is.whole('how many of them were further tries'),
  bytes: is.whole('bytes that were received'),
  waitedMs: is.whole('time spent waiting because of the service, in milliseconds'),
};

/** The requests to the service so far, and their cost. */
export type Traffic = is.FieldsOf<typeof traffic>;

/** How one list of a run ended, as it is recorded and reported. */
export const listOutcome = {
  resource,
  status: statusShape('how the list ended'),
  mode: is.orNull(is.oneOf<string>(['full', 'incremental'], 'how it was read; null if it was not read')),
  completeness: is.orNull(
    is.oneOf<string>(['proven', 'incremental', 'unproven'], 'how sure the run is; null if not written'),
  ),
  firstPageNo: is.orNull(is.whole('the number of the first page')),
  pageSize: is.orNull(is.whole('records a page')),
  pageCount: is.orNull(is.whole('pages, by the word of the service')),
  totalRecordCount: is.orNull(is.whole('records, as the service stated')),
  recordsSeen: is.whole('records that the run saw, each once'),
  ...written,
  walks: is.whole('readings that were begun'),
  ...traffic,
  error: errorOrNull,
  reason: is.orNull(is.text('why it is not proven, or why removals were withheld')),
  checksum: is.orNull(is.hex(32, "the sum of the contents of the list's rows")),
};

const listNews = {
  newFields: is.list(
    is.object({
      field: fieldName,
      jsonType,
      isInAnswer: is.optional(is.yesOrNo('true if it is beside `items` in an answer')),
    }),
    'fields without a column that are new',
  ),
  emptiedColumns: is.list(is.text('a column'), 'columns that lost all their values'),
  changedIdentity: is.orNull(
    is.text('the one field in which withheld records differ from new ones, or null'),
  ),
};

/** How one list of a run ended. */
export interface ListOutcome extends is.FieldsOf<typeof listOutcome & typeof listNews> {
  readonly resource: ResourceName;
  readonly startedAt: string;
  readonly completedAt: string;
  readonly status: RunStatus;
  readonly mode: 'full' | 'incremental' | null;
  readonly completeness: 'proven' | 'incremental' | 'unproven' | null;
}

/** The changes of a list's fields that this run was the first to see. */
export type FieldNews = Pick<ListOutcome, 'newFields' | 'emptiedColumns'>;

/** The result of writing a list. */
export interface Applied extends is.FieldsOf<typeof written & typeof listNews> {
  readonly recordCount: number;
  readonly checksum: string;
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

const receiptPlace = {
  leafIndex: is.whole('its place in the log, from 0'),
  leafHash: is.hex(64, 'its hash'),
  treeSize: is.whole('receipts in the log'),
  rootHash: is.hex(64, 'the root hash of all receipts'),
};

/** The place of a receipt in the log. */
export const receiptHead = (description: string) => is.object(receiptPlace, description);

/** The same, as a type. */
export type ReceiptHead = is.ValueOf<ReturnType<typeof receiptHead>>;

/** What is said of every run. */
export const runHead = {
  runId: is.whole('the number of the run'),
  status: statusShape('how it ended'),
  trigger: is.text('what started it: `manual`, `schedule` in `watch`, or the value of `DOCMIRROR_TRIGGER`'),
  startedAt: is.time('when it began'),
};

const syncedList = is.object({ ...listOutcome, ...listNews });

/** How a run ended. */
export const runSummary = {
  ...runHead,
  runId: is.orNull(is.whole('the number of the run; null in a dry run')),
  rowsDropped: is.orNull(is.whole('altered rows that `--rebuild` dropped; null without it')),
  completedAt: is.time('when it ended'),
  durationMs: is.whole('how long it took, in milliseconds'),
  error: is.orNull(errorShape('the first error; null if there was none')),
  resources: is.list(syncedList, 'how each list ended, in the order of their definition'),
  versionsPruned: is.whole('old versions that were deleted (`DOCMIRROR_KEEP_HISTORY`)'),
  receipt: is.orNull(receiptHead("the run's receipt; null in a dry run")),
};

/** The same, as a type. A list also has its times. */
export interface RunSummary extends Omit<is.FieldsOf<typeof runSummary>, 'status' | 'resources'> {
  readonly status: RunStatus;
  readonly resources: readonly ListOutcome[];
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
