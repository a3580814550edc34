import {
  anyOf,
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
} from '../../contract/shapes.ts';
import { completedAt, error, jsonType, labels, receiptHead, resource, status } from './parts.ts';

const outcome = {
  resource,
  status: status('how the list ended'),
  mode: orNull(oneOf<string>(['full', 'incremental'], 'how it was read; null if it was not read')),
  completeness: orNull(
    oneOf<string>(
      ['proven', 'incremental', 'unproven'],
      'how sure the run is of it; null if it was not written',
    ),
  ),
  firstPageNo: orNull(whole('the number of the first page')),
  pageSize: orNull(whole('records a page')),
  pageCount: orNull(whole('pages, by the word of the service')),
  totalRecordCount: orNull(whole('records, as the service stated')),
  recordsSeen: whole('records that the run saw, each once'),
  inserted: whole('records that were new'),
  updated: whole('records that had changed'),
  removed: whole('records that were gone, and were removed'),
  unchanged: whole('records that were as before'),
  rejected: whole('records that could not be read'),
  removalsWithheld: whole('records that were gone but were kept (removals withheld)'),
  undecided: whole('known records whose presence the run could not decide'),
  walks: whole('readings that were begun'),
  requests: whole('requests that were sent'),
  retries: whole('how many of them were further tries'),
  bytes: whole('bytes that were received'),
  waitedMs: whole(
    'time spent waiting because the service failed or asked docmirror to wait, in milliseconds',
  ),
  error: orNull(error('what ended it; null if nothing went wrong')),
  reason: orNull(text('why it is not proven, or why removals were withheld')),
  checksum: orNull(hex(32, "the sum of the contents of the list's rows")),
};

const recordedOutcome = {
  ...outcome,
  startedAt: time('when the run began with the list'),
  completedAt: orNull(time('when it was done with it; null while it goes on')),
  recordCount: orNull(whole('records in the mirror after the run')),
};

const runHead = {
  runId: whole('the number of the run'),
  status: status('how it ended'),
  trigger: text('what started it: `manual`, `schedule` in `watch`, or the value of `DOCMIRROR_TRIGGER`'),
  startedAt: time('when it began'),
};

/** The output of `sync --json`. */
export const syncOutput = object({
  ...runHead,
  runId: orNull(whole('the number of the run; null in a dry run')),
  rowsDropped: orNull(whole('altered rows that `--rebuild` dropped; null if the mirror was not rebuilt')),
  completedAt: time('when it ended'),
  durationMs: whole('how long it took, in milliseconds'),
  error: orNull(error('the first error; null if there was none')),
  resources: list(
    object({
      ...outcome,
      newFields: list(
        object({
          field: text('its name'),
          jsonType,
          isInAnswer: optional(yesOrNo('true for a member of the answers beside `items` and `pagination`')),
        }),
        'fields that no column exists for and that no run has met before',
      ),
      emptiedColumns: list(
        text('a column'),
        'columns that no record has a value in any more, though each had one after the last full sync',
      ),
      changedIdentity: orNull(
        text('the one field in which withheld records differ from as many newer ones; null if there is none'),
      ),
    }),
    'how each list ended, in the order of their definition',
  ),
  versionsPruned: whole('ended versions that were deleted from the history (`DOCMIRROR_KEEP_HISTORY`)'),
  receipt: receiptHead("the run's receipt; null in a dry run"),
  share: orNull(
    object(
      {
        path: text('the file'),
        error: orNull(error('why it could not be made; null if it is as the mirror')),
      },
      'the copy for everybody; null if none is set',
    ),
  ),
});
/** The same as a value. */
export type SyncOutput = ValueOf<typeof syncOutput>;

const recordedRun = object({
  ...runHead,
  completedAt,
  docmirrorVersion: text('the version that made it'),
  baseUrl: text('the address of the service'),
  labels,
  error: orNull(error('what ended it; null if nothing went wrong')),
  resources: list(object(recordedOutcome), 'how each list ended'),
});

/** The output of `runs --json`. */
export const runsOutput = list(recordedRun, 'the runs, the newest first');
/** The same as a value. */
export type RunsOutput = ValueOf<typeof runsOutput>;

const listStatus = object({
  resource,
  recordCount: whole('records in the mirror'),
  verdict: text('how the last run left it, in few words: `complete: proven`, `unproven`, `failed: timeout`'),
  lastCompletedAt: orNull(time('when its last completed run ended; null if none has')),
  lastFullAt: orNull(time('when its last completed full sync ended; null if none has')),
  ageMs: orNull(whole('time since `lastCompletedAt`, in milliseconds')),
  endedInFuture: yesOrNo("whether `lastCompletedAt` is in the future, by this machine's clock"),
  unknownFields: list(
    object({
      field: text('its name'),
      jsonType,
      firstSeenRunId: whole('the run that first met it'),
      lastSeenRunId: whole('the last run that met it'),
      recordCount: orNull(
        whole('records that had it after the last full sync; null if no full sync has seen it yet'),
      ),
    }),
    'fields that the service sends and that have no column',
  ),
  lastRun: orNull(
    object(
      {
        runId: whole('the number of the run'),
        ...recordedOutcome,
        baseUrl: text('the address of the service'),
      },
      'the newest run that worked on it; null if none has',
    ),
  ),
});
/** The state of a list in an output. */
export type ListStatusOutput = ValueOf<typeof listStatus>;

const newestRun = orNull(
  object(
    {
      runId: whole('its number'),
      status: status('how it ended'),
      startedAt: time('when it began'),
      completedAt,
      error: orNull(error('what ended it; null if nothing went wrong')),
    },
    'the newest run; null if there was none',
  ),
);

const standing = {
  state: text('the worst state that applies to the mirror, in a word: `ok`, `failed`, `died` and so on'),
  why: text('more about it; empty if there is nothing to say'),
};

const oneMirror = object(
  {
    ...standing,
    run: newestRun,
    resources: list(listStatus, 'the lists, in the order of their definition'),
    nextRunAt: orNull(time('when `watch` is to start its next run; null if no watch keeps the mirror')),
  },
  'for one mirror',
);

const manyMirrors = object(
  {
    mirrors: list(
      object({
        database: text('the file'),
        ...standing,
        labels,
        baseUrl: orNull(text('the address of the service; null if it is not known')),
        ageMs: orNull(whole('time since the list that is the oldest was complete, in milliseconds')),
        docmirrorVersion: orNull(text('the version that made the newest run')),
        run: newestRun,
        resources: list(listStatus, 'its lists; none if it could not be read'),
      }),
      'the mirrors, the worst first',
    ),
  },
  'for files that are named',
);

/** The output of `status --json`. */
export const statusOutput = anyOf([oneMirror, manyMirrors]);
/** The state of one mirror as a value. */
export type StatusOutput = ValueOf<typeof oneMirror>;
/** The states of several mirrors as a value. */
export type OverviewOutput = ValueOf<typeof manyMirrors>;
