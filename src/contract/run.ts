import { type ListDefinition, resourceNames } from './lists.ts';
import type { Page } from './page.ts';
import {
  anyObject,
  type FieldsOf,
  hex,
  list,
  object,
  oneOf,
  optional,
  orNull,
  text,
  time,
  type ValueOf,
  whole,
  yesOrNo,
} from './shapes.ts';

// How a run is described: how each of its lists ended, how it is recorded and reported.

/** A list by its name. */
export const resource = oneOf(resourceNames);

/** An error: no secret is in it. */
export const error = object({
  code: text('one of those under Errors in docs/reference.md'),
  message: text(),
});
/** Why a run or a list failed. */
export type RunError = ValueOf<typeof error>;

const status = oneOf(
  ['running', 'died', 'completed', 'partial', 'failed', 'cancelled', 'interrupted'],
  'how it ended; `died` if its process is gone, `interrupted` once that is recorded',
);
/** The status of a run, or of a list in it. */
export type RunStatus = ValueOf<typeof status>;

/** What identifies a field that the service adds. */
export const addedField = {
  field: text(),
  jsonType: oneOf<string>(['string', 'number', 'boolean', 'object', 'array', 'null'], 'of its values'),
};

const counts = {
  inserted: whole(),
  updated: whole(),
  removed: whole(),
  unchanged: whole(),
  rejected: whole('records that could not be read'),
  removalsWithheld: whole('records that were gone but were kept (removals withheld)'),
  undecided: whole('known records whose presence the run could not decide'),
  checksum: orNull(hex(32, "the sum of the contents of the list's rows")),
};

const traffic = {
  requests: whole(),
  retries: whole('how many of them were further tries'),
  bytes: whole('those that were received'),
  waitedMs: whole('because the service asked for it, or failed'),
};
/** The requests to the service so far, and their cost. */
export type Traffic = FieldsOf<typeof traffic>;

const listOutcome = {
  resource,
  status,
  startedAt: time('when it was begun'),
  completedAt: orNull(time('when it ended')),
  mode: orNull(oneOf(['full', 'incremental'], 'how it was read')),
  completeness: orNull(oneOf(['proven', 'incremental', 'unproven'], 'how sure the run is')),
  firstPageNo: orNull(whole('the number of the first page')),
  pageSize: orNull(whole()),
  pageCount: orNull(whole('pages, by the word of the service')),
  totalRecordCount: orNull(whole('records, as the service stated')),
  recordsSeen: whole('records that the run saw, each once'),
  ...counts,
  walks: whole('readings that were begun'),
  ...traffic,
  error: orNull(error),
  reason: orNull(text('why it is not proven, or why removals were withheld')),
};

const news = {
  newFields: list(
    object({ ...addedField, isInAnswer: optional(yesOrNo('true if it is beside `items` in an answer')) }),
    'fields without a column that are new',
  ),
  emptiedColumns: list(text(), 'those that lost all their values'),
  changedIdentity: orNull(text('the one field in which withheld records differ from new ones')),
};
/** How one list of a run ended. */
export type ListOutcome = FieldsOf<typeof listOutcome & typeof news>;

const recordedList = { ...listOutcome, runId: whole(), recordCount: orNull(whole('after the run')) };
/** How a list ended in a run that is recorded. */
export type RecordedList = FieldsOf<typeof recordedList>;

/** The result of writing a list. */
export type Applied = FieldsOf<typeof counts & typeof news>;

/** The labels of a mirror or a run. */
export const labels = anyObject<Record<string, string>>();

/** The newest receipt in the log. */
export const receipt = orNull(
  object({
    leafIndex: whole('its place in the log, from 0'),
    leafHash: hex(64, 'its own'),
    treeSize: whole('receipts in the log'),
    rootHash: hex(64, 'that of all receipts'),
  }),
);

const run = {
  runId: whole(),
  status,
  trigger: text('what started it: `manual`, `schedule` in `watch`, or the value of `DOCMIRROR_TRIGGER`'),
  startedAt: time('when it began'),
  completedAt: orNull(time('when it ended')),
  error: orNull(error),
};

/** A run as it is recorded. */
export const recordedRun = {
  ...run,
  docmirrorVersion: text(),
  baseUrl: text('the address of the service'),
  actor: orNull(text('the person or program that ran it')),
  labels,
  resources: list(object(recordedList)),
};
/** The same, as a type. */
export type RecordedRun = FieldsOf<typeof recordedRun>;

/** The record of a run at its start. */
export type RunStart = Pick<RecordedRun, 'trigger' | 'startedAt' | 'baseUrl' | 'docmirrorVersion'> &
  Partial<Pick<RecordedRun, 'labels'>> & { readonly actor: string };

/** How a run ended. */
export const runSummary = {
  ...run,
  runId: orNull(whole('null in a dry run')),
  rowsDropped: orNull(whole('altered rows that `--rebuild` dropped; null without it')),
  completedAt: time('when it ended'),
  durationMs: whole(),
  resources: list(object({ ...listOutcome, ...news })),
  versionsPruned: whole('old versions that were deleted (`DOCMIRROR_KEEP_HISTORY`)'),
  receipt,
};
/** The same, as a type. */
export type RunSummary = FieldsOf<typeof runSummary>;

/** The page to ask for; null leaves the parameter out, so that the service's own default counts. */
export interface PageRequest {
  readonly pageNo: number | null;
  readonly pageSize: number | null;
  /** True if, by all that is known, there is no page at this address: an empty answer might then be right. */
  readonly isBeyond?: boolean;
  /** How often a page that the service fails to make is asked for; as long as the service is given up if it is left out. */
  readonly triesMax?: number;
  /** Tells whether items with that digest need no parsing. */
  readonly isKnown?: (digest: string) => boolean;
}

/** The service, as a run sees it: pages of lists, and what they cost. `service/` implements it. */
export interface PageSource {
  readonly baseUrl: string;
  readonly traffic: Traffic;
  /** How many page requests can be in flight now. */
  readonly concurrency: number;
  /** Gets one page, with all its retries. Throws a ServiceError if all failed or another try can't help. */
  getPage(list: ListDefinition, request: PageRequest, signal: AbortSignal): Promise<Page>;
}
