import { keptResources } from '../../contract/lists.ts';
import {
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
import { keptResource, receiptHead, record, resource } from './parts.ts';

const version = object({
  fromRunId: whole('the run that wrote the version'),
  fromAt: orNull(time('when; null while that is not recorded')),
  toRunId: orNull(whole('the run that ended it; null if it is current')),
  toAt: orNull(time('when')),
  endedBy: orNull(oneOf<string>(['update', 'removal'], 'what ended it')),
  isFirst: yesOrNo('whether the record was new, or had come back'),
  record: record('what it said; null if it was erased'),
  isErased: optional(yesOrNo('true if it was erased; else left out')),
});

/** The output of `show --json`. */
export const showOutput = object({
  resource: keptResource,
  matchedBy: oneOf(['id', 'reference'], 'by what the records were found'),
  matchCount: whole('records that were found; not all have to be listed'),
  alsoReferenceOf: list(whole('an id'), 'ids of other records that have the id for their reference'),
  records: list(
    object({
      recordId: whole('its id'),
      stands: yesOrNo('whether it is in the mirror now'),
      versionCount: whole('versions that are kept; not all have to be listed'),
      record: record('what it says now; null if it is gone'),
      versions: list(version, 'the newest first'),
    }),
    'the records',
  ),
});
/** The same as a value. */
export type ShowOutput = ValueOf<typeof showOutput>;

/** The output of `rejected --json`. */
export const rejectedOutput = object({
  counts: list(
    object({
      resource,
      reason: text('why they could not be read'),
      count: whole('how many'),
      firstRunId: whole('the first run that rejected one'),
      lastRunId: whole('the last one'),
      isCurrent: yesOrNo('whether the newest run of the list still rejected them'),
    }),
    'by list and reason; first those that still are',
  ),
  records: list(
    object({
      id: whole('its number in `rejected_records`'),
      resource,
      runId: whole('the run that first received it'),
      lastRunId: whole('the last run that received it with the same text'),
      pageNo: whole('its page'),
      position: whole('its place on the page, from 0'),
      reason: text('why it could not be read'),
      record: orNull(text('its JSON; null if it was erased, and in a share')),
    }),
    'as many as `--limit` says',
  ),
});
/** The same as a value. */
export type RejectedOutput = ValueOf<typeof rejectedOutput>;

/** A line that `changes --format ndjson` prints, and an item of `/v2/changes`. */
export const changesOutput = object({
  runId: whole('the run that made it'),
  changedAt: orNull(time('when the run had written the list')),
  resource: keptResource,
  recordId: whole('the record'),
  operation: oneOf(['insert', 'update', 'removal'], 'what happened'),
  changedFields: orNull(
    list(text('a field'), 'the fields that an update changed; a connection only if its id changed'),
  ),
  record: record('the record after the change or, if it was removed, before it; null if it was erased'),
  before: record('the record before an update; else null'),
  isErased: optional(yesOrNo('true if the text was erased; else left out')),
});
/** The same as a value. */
export type ChangesOutput = ValueOf<typeof changesOutput>;

/** The output of `erase --json`. */
export const eraseOutput = object({
  resource: oneOf([...keptResources, 'rejected-records'], 'where the record was'),
  recordId: whole('its id'),
  versions: whole('ended versions that lost their text'),
  rejectedRecords: whole('rejected records that lost theirs'),
  isListed: yesOrNo('whether the service still lists the record, so its current version stays'),
  receipt: receiptHead('the newest receipt; null if there was nothing to erase'),
});

/** What `--json` prints. */
export type EraseOutput = ValueOf<typeof eraseOutput>;

/** The output of `publish clickhouse --json`. */
export const publishClickhouseOutput = object({
  tenant: text('the tenant'),
  mirrorId: text('which mirror it is'),
  fromRunId: orNull(whole('the first run that was sent; null if all were there')),
  throughRunId: whole('the newest run that ClickHouse has'),
  runs: whole('runs that were sent'),
  rows: whole('rows that were sent'),
  changes: whole('changes that were sent'),
  verified: yesOrNo('true: it was compared with the mirror, and is equal'),
  durationMs: whole('how long it took, in milliseconds'),
});
/** The same as a value. */
export type PublishClickhouseOutput = ValueOf<typeof publishClickhouseOutput>;
