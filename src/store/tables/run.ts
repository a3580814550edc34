import { resourceNames } from '../../contract/lists.ts';
import { traffic, unknownField } from '../../contract/page.ts';
import {
  anyObject,
  type FieldsOf,
  hex,
  list,
  object,
  oneOf,
  orNull,
  text,
  time,
  type ValueOf,
  whole,
} from '../../contract/shapes.ts';
import type { Finding } from '../../proof/findings.ts';

// How a run is described: how each of its lists ended, how it is recorded and reported.

/** A list by its name. */
export const resource = oneOf(resourceNames);

/** An error: no secret is in it. */
export const error = object({
  code: text('one of the errors in docs/reference.md'),
  message: text(),
});
/** Why a run or a list failed. */
export type RunError = ValueOf<typeof error>;

/** How a run, or a list in it, can end, or not yet have ended. */
export const runStatuses = [
  'running',
  'died',
  'completed',
  'partial',
  'failed',
  'cancelled',
  'interrupted',
] as const;
/** How a list can be read. */
export const modes = ['full', 'incremental'] as const;
/** How sure a run can be of a list. */
export const completenesses = ['proven', 'incremental', 'unproven'] as const;

const status = oneOf(runStatuses, '`died` if its process is gone, `interrupted` once that is recorded');
/** The status of a run, or of a list in it. */
export type RunStatus = ValueOf<typeof status>;

const finding = anyObject<Finding>();

const applied = {
  inserted: whole(),
  updated: whole(),
  removed: whole(),
  unchanged: whole(),
  rejected: whole(),
  removalsWithheld: whole('records that are gone and were kept'),
  undecided: whole('records that might be gone'),
  checksum: orNull(hex(32, 'the sum of the contents of its rows')),
  reasons: list(finding, 'what was found out: each has a `code` of docs/troubleshooting.md, and its facts'),
};

/** What is decided by the acceptances of the mirror whenever it is asked, and so has no column. */
export const judged = {
  open: orNull(list(text(), 'the codes of `reasons` that are not accepted; null in runs before 0.6')),
  accepted: list(whole(), 'the ids of the acceptances that cover the others'),
};

/** How a list of a run ended. */
export const listOutcome = {
  resource,
  status,
  startedAt: time(),
  completedAt: orNull(time()),
  mode: orNull(oneOf(modes)),
  completeness: orNull(oneOf(completenesses)),
  firstPageNo: orNull(whole()),
  pageSize: orNull(whole()),
  pageCount: orNull(whole('as the service stated')),
  totalRecordCount: orNull(whole('as the service stated')),
  recordsSeen: whole('each once'),
  ...applied,
  readSince: orNull(time('the moment of the oldest answer in use, as of which it is proven')),
  walks: whole('readings that were begun'),
  ...traffic,
  error: orNull(error),
  retryAfterUntil: orNull(time('until then the service wants no requests, which ended the list')),
  reason: orNull(text('the same in words')),
  ...judged,
  ignoredFields: list(text(), 'those of `DOCMIRROR_IGNORE_FIELDS`'),
};

/** Records of a list with a text for their time that can't be read. */
export const unreadableOfList = { count: whole(), example: text('one of these texts, cut') };

/** What is reported of a list and not recorded. */
export const news = {
  errorOfAnyList: orNull(text("the error's message without what only this list has in it")),
  newFields: list(object(unknownField), 'new ones without a column'),
  restlessFields: list(text(), 'those that differ in most records from what they were before'),
  unreadableTimes: orNull(object(unreadableOfList, 'records whose time can not be read')),
};
/** How one list of a run ended. */
export type ListOutcome = FieldsOf<typeof listOutcome & typeof news>;

/** The column of a member of a run or of a list's outcome: `readSince` is `read_since`. */
export function columnNamed(member: string): string {
  return member.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}

const recordedList = {
  ...listOutcome,
  reasons: orNull(list(finding, 'null in runs before 0.6, and until the list has ended')),
  runId: whole(),
  recordCount: orNull(whole('after the run')),
};
/** How a list ended in a run that is recorded. */
export type RecordedList = FieldsOf<typeof recordedList>;

/** The result of writing a list. */
export type Applied = Omit<FieldsOf<typeof applied & typeof news>, 'errorOfAnyList'>;

/** The labels of a mirror or a run. */
export const labels = anyObject<Record<string, string>>();

/** When a run was, and how it ended. */
export const run = {
  runId: whole(),
  status,
  trigger: text('what started it: `manual`, `schedule` in `watch`, or the value of `DOCMIRROR_TRIGGER`'),
  startedAt: time(),
  completedAt: orNull(time()),
  error: orNull(error),
};

/** A run as it is recorded. */
export const recordedRun = {
  ...run,
  docmirrorVersion: text(),
  baseUrl: text(),
  actor: orNull(text('who ran it')),
  labels,
  resources: list(object(recordedList)),
};
/** The same, as a type. */
export type RecordedRun = FieldsOf<typeof recordedRun>;

/** The record of a run at its start. */
export type RunStart = Pick<RecordedRun, 'trigger' | 'startedAt' | 'baseUrl' | 'docmirrorVersion'> &
  Partial<Pick<RecordedRun, 'labels'>> & { readonly actor: string; readonly query?: string | null };
