import { receiptShapes } from '../audit/receipt.ts';
import { keptResources } from '../contract/lists.ts';
import { unknownField } from '../contract/page.ts';
import {
  anyObject,
  anyOf,
  anything,
  hex,
  list,
  object,
  oneOf,
  optional,
  orNull,
  partial,
  text,
  time,
  type ValueOf,
  whole,
  yesOrNo,
} from '../contract/shapes.ts';
import { rejectedRecord, rejectionCount } from '../store/read/runs/rejected.ts';
import { error, labels, listOutcome, news, recordedRun, resource, run } from '../store/tables/run.ts';
import { serviceChange } from '../store/tables/service-facts.ts';

// Members that several outputs have.
const { baseUrl, docmirrorVersion } = recordedRun;
const path = text();
const bytes = whole();
const runId = whole();
const newestRunId = whole('the newest one in it; 0 if there is none');
const mirrorId = text();
const keptResource = oneOf<string>(keptResources);
const recordId = whole();
const recordCount = whole();
const differenceCount = whole();
const notes = list(text());
const isErased = optional(yesOrNo('left out if false'));
const recordThen = (when: string) => orNull(anyObject(`the record ${when}; null if its text was erased`));

const lastRun = recordedRun.resources.items.properties;
const seenField = object({
  field: unknownField.field,
  jsonType: unknownField.jsonType,
  firstSeenRunId: whole(),
  lastSeenRunId: whole(),
  recordCount: orNull(whole('records that had it after the last full sync')),
});
const acceptance = object({
  id: whole(),
  resource: text(),
  code: text('of the finding'),
  rejectedRecordId: orNull(whole('the one rejected record that it is about')),
  atMost: orNull(whole('the greatest count that it covers')),
  until: orNull(time()),
  why: orNull(text('null in a share')),
  actor: text('who accepted it'),
  acceptedAt: time(),
  withdrawnAt: orNull(time()),
  withdrawnBy: orNull(text()),
  withdrawnWhy: orNull(text()),
});
const listStatus = object({
  resource,
  recordCount,
  verdict: text('such as `failed: timeout`'),
  lastCompletedAt: orNull(time('the end of its last completed run')),
  readSince: orNull(time('since when that run is true: its oldest answer')),
  lastFullAt: orNull(time('the same of its last completed full sync')),
  acceptances: list(acceptance, 'those that cover what its last run found out'),
  ageMs: orNull(whole('time since `readSince`')),
  endedInFuture: yesOrNo("by this machine's clock"),
  unknownFields: list(seenField, 'those without a column'),
  unreadableTimes: news.unreadableTimes,
  lastRun: orNull(object({ ...lastRun, baseUrl }, 'the newest run that worked on it')),
});
const mirrorState = {
  state: text('the worst that applies: `ok`, `failed`, `died` and so on'),
  why: text(),
  run: orNull(object(recordedRun)),
  resources: list(listStatus),
};
const nextRunAt = orNull(time('if a `watch` keeps the mirror'));
const oneMirror = object({ ...mirrorState, nextRunAt }, 'for one mirror');
const mirror = object({
  database: path,
  ...mirrorState,
  labels,
  baseUrl: orNull(baseUrl),
  ageMs: orNull(whole('time since the oldest list was complete')),
  docmirrorVersion: orNull(docmirrorVersion),
});
const manyMirrors = object({ mirrors: list(mirror, 'the worst first') }, 'for files that are named');

const version = object({
  fromRunId: whole(),
  fromAt: orNull(time()),
  toRunId: orNull(whole('null if it is current')),
  toAt: orNull(time()),
  endedBy: orNull(oneOf<string>(['update', 'removal'])),
  isFirst: yesOrNo('the record was new, or had come back'),
  record: recordThen('then'),
  isErased,
});
const shownRecord = object({
  recordId,
  stands: yesOrNo('in the mirror now'),
  versionCount: whole('not all have to be listed'),
  record: orNull(anyObject('what it says now; null if it is gone')),
  versions: list(version, 'the newest first'),
});
const show = object({
  resource: keptResource,
  matchedBy: oneOf(['id', 'reference']),
  matchCount: whole('not all have to be listed'),
  alsoReferenceOf: list(recordId, 'ids of other records that have the id for their reference'),
  records: list(shownRecord),
});

const changes = object({
  runId,
  changedAt: orNull(time('when the run had written the list')),
  resource: keptResource,
  recordId,
  operation: oneOf(['insert', 'update', 'removal']),
  changedFields: orNull(list(text(), 'the fields that an update changed; a connection by its id')),
  record: recordThen('after the change or, if it was removed, before it'),
  before: recordThen('before an update'),
  isErased,
});

const check = object({
  check: text(),
  status: oneOf(['ok', 'warning', 'failed', 'skipped']),
  found: text(),
  todo: orNull(text()),
  code: orNull(text('of an error')),
});

const verifiedList = object({
  resource,
  recordCount,
  versionCount: whole('those in the history'),
  runId: orNull(whole('the last run that wrote it')),
  checksum: hex(32, 'of its rows'),
});
const difference = object({
  table: orNull(text('null if the file itself is damaged')),
  id: orNull(whole('null if it is not one row')),
  what: text(),
  severity: oneOf(['content', 'record of runs', 'shortcut']),
});
const checkpoint = object({
  file: path,
  size: whole('receipts that it covers'),
  signature: oneOf(['verified', 'forged', 'absent', 'unchecked'], 'by the key; `unchecked` without one'),
  notes,
});
const checkpointBefore = object({
  file: path,
  at: time('of the restore'),
  actor: text(),
  fromRunId: whole('the newest run of the backup'),
});
const liveDifference = object({
  kind: oneOf(['missing', 'extra', 'different'], 'of the mirror'),
  resource: keptResource,
  id: orNull(whole()),
  key: text('what identifies the record'),
  fields: list(object({ field: text(), mirror: anything(), service: anything() })),
});
const live = { isProven: yesOrNo(), notes, differenceCount, differences: list(liveDifference) };
const covering = 'how that receipt covers what was left; only `hash` is compared';
const verify = object({
  ok: yesOrNo('no difference; with `--live`, all could be compared, too'),
  path,
  lists: list(verifiedList),
  connectionCount: whole(),
  versionCount: whole('those in the history'),
  runCount: whole(),
  receiptCount: whole(),
  prunedBefore: orNull(time('versions that ended before were deleted')),
  prunedKept: orNull(oneOf(['hash', 'sum', 'nothing'], covering)),
  rebuiltAfterRunId: orNull(whole('what it and earlier runs changed is not recomputed')),
  erasedCount: whole(),
  otherObjects: list(object({ type: text(), name: text() }), 'made by others; no difference'),
  differenceCount,
  differences: list(difference),
  checkpoints: optional(list(checkpoint)),
  restored: list(checkpointBefore, 'checkpoints that fit receipts that a restore left behind'),
  live: orNull(object(live)),
});

const manifest = {
  mirrorId,
  baseUrl: orNull(baseUrl),
  runId: newestRunId,
  bytes,
  labels,
  rootHash: text('of all receipts, in hexadecimal digits'),
  recordCounts: anyObject<Record<string, number>>('by the name of the list'),
  sha256: hex(64, 'of the file'),
  docmirrorVersion,
  at: time(),
};
const keepRule = text('`newest`, `daily`, `weekly` or `monthly`');
const listedBackup = object({
  ...partial(manifest),
  path,
  isNewest: yesOrNo('of its mirror'),
  isSound: orNull(yesOrNo('it has its SHA-256; null if not checked')),
  ageMs: orNull(whole('time since it was made')),
  state: orNull(text('`ok`, `too old`, `in the future`, `altered`, `missing`, `no manifest`; null if older')),
  keptBy: optional(list(keepRule, 'the rules that keep it; with `--keep…`')),
});
const listedCopy = object({ path, at: time(), bytes, canGoFrom: time() }, 'from before an upgrade');
const madeBackup = { path, ...manifest, removed: list(text(), 'older copies') };
const restoredBackup = {
  path,
  runId: newestRunId,
  bytes,
  mirrorId: orNull(mirrorId),
  baseUrl: orNull(baseUrl),
  isVerified: yesOrNo('it was audited; an older shape can only be looked at'),
  acceptances: orNull(list(acceptance, 'lost, or no longer withdrawn; null if not known')),
};
const backup = anyOf([
  object(madeBackup, 'for a backup that was made'),
  object({ backups: list(listedBackup), copies: list(listedCopy) }, 'for `--list`'),
  object(restoredBackup, 'for `--restore`'),
  { ...verify, description: 'for `--check`, and if a copy is not sound' },
]);

const receipt = {
  leafIndex: whole('its place in the log, from 0'),
  leafHash: hex(64, 'its own'),
  treeSize: whole('receipts in the log'),
  rootHash: hex(64, 'of all receipts'),
};
const orNoReceipt = orNull(object(receipt));
const sync = {
  ...run,
  runId: orNull(whole('null in a dry run')),
  rowsDropped: orNull(whole('by `--rebuild`; null without it')),
  completedAt: time(),
  durationMs: whole(),
  resources: list(object({ ...listOutcome, ...news })),
  versionsPruned: whole('old versions that were deleted'),
  serviceChanges: list(object(serviceChange), 'facts of `service_facts` that are no longer as they were'),
  accepted: list(whole(), 'the ids of the acceptances that cover what it found out'),
  receipt: orNoReceipt,
  share: orNull(object({ path, error: orNull(error) })),
};
const rowOfFacts = 'a row of `service_facts`, with its `section`, and the start of its run in `since`';
const rate = '`new`, `changed` and `removed` a day, as the medians of `days`; null without a whole day';
const service = {
  runId: newestRunId,
  baseUrl,
  query: orNull(text()),
  facts: list(anyObject(), rowOfFacts),
  rates: list(anyObject(), rate),
};
const share = {
  path,
  runId: orNull(whole('the newest one in it')),
  bytes,
  leftOut: list(text(), "views that can't be read without what the share lacks"),
};
const erase = {
  resource: oneOf([...keptResources, 'rejected-records'], 'where the record was'),
  recordId,
  versions: whole('ended versions that lost their text'),
  rejectedRecords: whole('rejected records that lost theirs'),
  isListed: yesOrNo('the service still lists the record, so its current version stays'),
  receipt: orNoReceipt,
  copies: list(text(), 'of before an upgrade; they can have the text'),
};
const sent = whole('sent now');
const publication = {
  tenant: text(),
  mirrorId,
  fromRunId: orNull(whole('the first one that was sent')),
  throughRunId: whole('the newest one that ClickHouse has'),
  runs: sent,
  rows: sent,
  changes: sent,
  verified: yesOrNo(),
  durationMs: whole(),
};

/** All outputs for programs, by their command: its `--json`, and a line of `changes`. Schemas, the reference and tests are made from it. */
export const outputs = {
  sync: object(sync),
  status: anyOf([oneMirror, manyMirrors]),
  runs: list(object(recordedRun)),
  show,
  rejected: object({ counts: list(rejectionCount), records: list(rejectedRecord) }),
  changes,
  doctor: object({ ok: yesOrNo(), exitCode: whole('that of `sync`'), checks: list(check) }),
  verify,
  backup,
  share: object(share),
  erase: object(erase),
  service: object(service),
  accept: object({ accepted: list(acceptance, 'all, or the one that was made or withdrawn') }),
  'publish clickhouse': object(publication),
  'audit receipts': anyOf(Object.values(receiptShapes)),
};

/** The outputs as values. */
export type OutputOf = { readonly [Name in keyof typeof outputs]: ValueOf<(typeof outputs)[Name]> };

/** The output of a command that fails before it has anything else to say. */
export const failureOutput = object({ error });
