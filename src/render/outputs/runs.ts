import { keptResources } from '../../contract/lists.ts';
import { labels } from '../../contract/results.ts';
import {
  errorOrNull,
  errorShape,
  fieldName,
  jsonType,
  listOutcome,
  resource,
  runHead,
  runSummary,
  statusShape,
} from '../../contract/run.ts';
import * as is from '../../contract/shapes.ts';

/** A list or the connections, by its name. */
export const keptResource = is.oneOf<string>(keptResources, 'the list, or `connections`');

/** The output of a command that fails before it has anything else to say. */
export const failureOutput = is.object({ error: errorShape('what went wrong') });

const completedAt = is.orNull(is.time('when it ended; null while it goes on, and if its process died'));
const recordedOutcome = {
  ...listOutcome,
  startedAt: is.time('when the run began with the list'),
  completedAt: is.orNull(is.time('when it was done with it; null while it goes on')),
  recordCount: is.orNull(is.whole('records in the mirror after the run')),
};

const share = {
  path: is.text('the file'),
  error: is.orNull(errorShape('why it could not be made; null if it is as the mirror')),
};

/** The output of `sync --json`. */
export const syncOutput = is.object({
  ...runSummary,
  share: is.orNull(is.object(share, 'the copy for everybody; null if none is set')),
});

const recordedRun = is.object({
  ...runHead,
  completedAt,
  docmirrorVersion: is.text('the version that made it'),
  baseUrl: is.text('the address of the service'),
  labels,
  error: errorOrNull,
  resources: is.list(is.object(recordedOutcome), 'how each list ended'),
});

/** The output of `runs --json`. */
export const runsOutput = is.list(recordedRun, 'the runs, the newest first');

const unknownField = is.object({
  field: fieldName,
  jsonType,
  firstSeenRunId: is.whole('the run that first met it'),
  lastSeenRunId: is.whole('the last run that met it'),
  recordCount: is.orNull(is.whole('records that had it after the last full sync, or null')),
});

const lastRun = {
  runId: is.whole('the number of the run'),
  ...recordedOutcome,
  baseUrl: is.text('the address of the service'),
};

const listStatus = is.object({
  resource,
  recordCount: is.whole('records in the mirror'),
  verdict: is.text('how the last run left it: `complete: proven`, `failed: timeout`'),
  lastCompletedAt: is.orNull(is.time('when its last completed run ended; null if none has')),
  lastFullAt: is.orNull(is.time('when its last completed full sync ended; null if none has')),
  ageMs: is.orNull(is.whole('time since `lastCompletedAt`, in milliseconds')),
  endedInFuture: is.yesOrNo("whether `lastCompletedAt` is in the future, by this machine's clock"),
  unknownFields: is.list(unknownField, 'fields that the service sends and that have no column'),
  lastRun: is.orNull(is.object(lastRun, 'the newest run that worked on it; null if none has')),
});

const newestRun = {
  runId: is.whole('its number'),
  status: statusShape('how it ended'),
  startedAt: is.time('when it began'),
  completedAt,
  error: errorOrNull,
};

const standing = {
  state: is.text('the worst state that applies to the mirror, in a word: `ok`, `failed`, `died` and so on'),
  why: is.text('more about it; empty if there is nothing to say'),
  run: is.orNull(is.object(newestRun, 'the newest run; null if there was none')),
};

const oneMirror = is.object(
  {
    ...standing,
    resources: is.list(listStatus, 'the lists, in the order of their definition'),
    nextRunAt: is.orNull(is.time('when `watch` is to start its next run; null if no watch keeps the mirror')),
  },
  'for one mirror',
);

const mirrorOfMany = is.object({
  database: is.text('the file'),
  ...standing,
  labels,
  baseUrl: is.orNull(is.text('the address of the service; null if it is not known')),
  ageMs: is.orNull(is.whole('time since the list that is the oldest was complete, in milliseconds')),
  docmirrorVersion: is.orNull(is.text('the version that made the newest run')),
  resources: is.list(listStatus, 'its lists; none if it could not be read'),
});
const mirrors = is.list(mirrorOfMany, 'the mirrors, the worst first');
const manyMirrors = is.object({ mirrors }, 'for files that are named');

/** The output of `status --json`. */
export const statusOutput = is.anyOf([oneMirror, manyMirrors]);

/** The state of one mirror as a value. */
export type StatusOutput = is.ValueOf<typeof oneMirror>;

/** The states of several mirrors. */
export type OverviewOutput = is.ValueOf<typeof manyMirrors>;
