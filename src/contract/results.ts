import { receiptHead, resource } from './run.ts';
import * as is from './shapes.ts';

// What the rooms find out or make, as values and as JSON.

/** The labels of a mirror or a run. */
export const labels = is.anyObject<Record<string, string>>('the labels, by their names');

/** Why records of a list were rejected, and how many. */
export const rejectionCount = is.object({
  resource,
  reason: is.text('why they could not be read'),
  count: is.whole('how many'),
  firstRunId: is.whole('the first run that rejected one'),
  lastRunId: is.whole('the last one'),
  isCurrent: is.yesOrNo('whether the newest run of the list still rejected them'),
});

/** The same, as a type. */
export type RejectionCount = is.ValueOf<typeof rejectionCount>;

/** The result of erasing a record. */
export const erased = {
  versions: is.whole('ended versions that lost their text'),
  rejectedRecords: is.whole('rejected records that lost theirs'),
  isListed: is.yesOrNo('whether the service still lists the record, so its current version stays'),
  receipt: is.orNull(receiptHead('the newest receipt; null if there was nothing to erase')),
};

/** The same, as a type. */
export type Erased = is.FieldsOf<typeof erased>;

/** The result of a publication: ClickHouse was compared with the mirror, and no difference was found. */
export const publication = {
  tenant: is.text('the tenant'),
  mirrorId: is.text('which mirror it is'),
  fromRunId: is.orNull(is.whole('the first run that was sent; null if all were there')),
  throughRunId: is.whole('the newest run that ClickHouse has'),
  runs: is.whole('runs that were sent'),
  rows: is.whole('rows that were sent'),
  changes: is.whole('changes that were sent'),
};

/** The same, as a type. */
export type Publication = is.FieldsOf<typeof publication>;

const verifiedList = is.object({
  resource,
  recordCount: is.whole('its rows'),
  versionCount: is.whole('its versions in the history'),
  runId: is.orNull(is.whole('the last run that wrote it; null if none has')),
  checksum: is.hex(32, 'recomputed from its rows'),
});

const otherObject = is.object({ type: is.text('`table`, `view` or `index`'), name: is.text('its name') });

const difference = is.object({
  table: is.orNull(is.text('the table; null if the file itself is damaged')),
  id: is.orNull(is.whole('the row; null if it is not one row')),
  what: is.text('what is wrong'),
  severity: is.oneOf(['content', 'record of runs', 'shortcut'], 'what it is in'),
});

/** Something in the mirror that is not as docmirror wrote it. */
export type Difference = is.ValueOf<typeof difference>;

/** The result of an audit of a mirror's file. */
export const verification = {
  path: is.text('the mirror'),
  lists: is.list(verifiedList, 'each list'),
  connectionCount: is.whole('connections'),
  versionCount: is.whole('versions in the history'),
  runCount: is.whole('runs'),
  receiptCount: is.whole('receipts'),
  prunedBefore: is.orNull(is.time('ended versions before this were deleted, so they were not recomputed')),
  rebuiltAfterRunId: is.orNull(is.whole('the last run that a rebuild leaves unchecked')),
  erasedCount: is.whole('texts that were erased'),
  otherObjects: is.list(otherObject, 'made by others; no difference'),
  differenceCount: is.whole('differences'),
  differences: is.list(difference, 'as many as `--limit` says'),
};

/** The same, as a type. */
export type Verification = is.FieldsOf<typeof verification>;

/** A description of a backup, in a JSON file beside it, so that nobody has to open the backup itself. */
export const manifest = {
  mirrorId: is.text('which mirror it is of: a UUID'),
  baseUrl: is.orNull(is.text('the address of the service; null if no run was recorded')),
  labels,
  runId: is.whole('the newest run in it; 0 if there is none'),
  rootHash: is.text('the root hash of all receipts, in hexadecimal digits'),
  recordCounts: is.anyObject<Record<string, number>>('records, by the name of the list'),
  bytes: is.whole('its size'),
  sha256: is.hex(64, 'SHA-256 of the file'),
  docmirrorVersion: is.text('the version that made it'),
  at: is.time('when it was made'),
};

/** The same, as a type. */
export type Manifest = is.FieldsOf<typeof manifest>;
