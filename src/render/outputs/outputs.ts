import { receiptShapes } from '../../audit/receipt.ts';
import { keptResources } from '../../contract/lists.ts';
import {
  erased,
  labels,
  manifest,
  publication,
  rejectionCount,
  verification,
} from '../../contract/results.ts';
import { resource } from '../../contract/run.ts';
import * as is from '../../contract/shapes.ts';
import * as runs from './runs.ts';

const { keptResource } = runs;
const notes = (description: string) => is.list(is.text('a note'), description);
const record = (description: string) => is.orNull(is.anyObject(description));

const version = is.object({
  fromRunId: is.whole('the run that wrote the version'),
  fromAt: is.orNull(is.time('when; null while that is not recorded')),
  toRunId: is.orNull(is.whole('the run that ended it; null if it is current')),
  toAt: is.orNull(is.time('when')),
  endedBy: is.orNull(is.oneOf<string>(['update', 'removal'], 'what ended it')),
  isFirst: is.yesOrNo('whether the record was new, or had come back'),
  record: record('what it said; null if it was erased'),
  isErased: is.optional(is.yesOrNo('true if it was erased; else left out')),
});

const shownRecord = is.object({
  recordId: is.whole('its id'),
  stands: is.yesOrNo('whether it is in the mirror now'),
  versionCount: is.whole('versions that are kept; not all have to be listed'),
  record: record('what it says now; null if it is gone'),
  versions: is.list(version, 'the newest first'),
});

const show = is.object({
  resource: keptResource,
  matchedBy: is.oneOf(['id', 'reference'], 'by what the records were found'),
  matchCount: is.whole('records that were found; not all have to be listed'),
  alsoReferenceOf: is.list(is.whole('an id'), 'ids of other records that have the id for their reference'),
  records: is.list(shownRecord, 'the records'),
});

const rejectedRecord = is.object({
  id: is.whole('its number in `rejected_records`'),
  resource,
  runId: is.whole('the run that first received it'),
  lastRunId: is.whole('the last run that received it with the same text'),
  pageNo: is.whole('its page'),
  position: is.whole('its place on the page, from 0'),
  reason: is.text('why it could not be read'),
  record: is.orNull(is.text('its JSON; null if it was erased, and in a share')),
});

const rejected = is.object({
  counts: is.list(rejectionCount, 'by list and reason; first those that still are'),
  records: is.list(rejectedRecord, 'as many as `--limit` says'),
});

/** A line that `changes --format ndjson` prints, and an item of `/v2/changes`. */
export const changesOutput = is.object({
  runId: is.whole('the run that made it'),
  changedAt: is.orNull(is.time('when the run had written the list')),
  resource: keptResource,
  recordId: is.whole('the record'),
  operation: is.oneOf(['insert', 'update', 'removal'], 'what happened'),
  changedFields: is.orNull(
    is.list(is.text('a field'), 'the fields that an update changed; a connection by its id'),
  ),
  record: record('the record after the change or, if it was removed, before it; null if it was erased'),
  before: record('the record before an update; else null'),
  isErased: is.optional(is.yesOrNo('true if the text was erased; else left out')),
});

const erase = is.object({
  resource: is.oneOf([...keptResources, 'rejected-records'], 'where the record was'),
  recordId: is.whole('its id'),
  ...erased,
});

const publishClickhouse = is.object({
  ...publication,
  verified: is.yesOrNo('true: it was compared with the mirror, and is equal'),
  durationMs: is.whole('how long it took, in milliseconds'),
});

const finding = is.object({
  check: is.text('what was tried'),
  status: is.oneOf(['ok', 'warning', 'failed', 'skipped'], 'how it went'),
  found: is.text('what was found'),
  todo: is.orNull(is.text('what to do; null if there is nothing to do')),
  code: is.orNull(is.text('the code of the error that it met; null if there is none')),
});

const doctor = is.object({
  ok: is.yesOrNo('whether no check failed'),
  exitCode: is.whole('what `sync` would end with'),
  checks: is.list(finding, 'in the order in which a run needs things'),
});

const checkpoint = is.object({
  file: is.text('the file'),
  size: is.whole('receipts that it covers'),
  signature: is.oneOf(
    ['verified', 'forged', 'absent', 'unchecked'],
    'whether the key signed it; `unchecked` without a key',
  ),
  notes: notes('what else there is to say'),
});

const differingField = is.object({
  field: is.text('its name'),
  mirror: is.anything('its value in the mirror'),
  service: is.anything('its value at the service'),
});

const liveDifference = is.object({
  kind: is.oneOf(['missing', 'extra', 'different'], 'missing from the mirror, extra in it, or different'),
  resource: keptResource,
  id: is.orNull(is.whole('the row; null if there is none')),
  key: is.text('what identifies the record'),
  fields: is.list(differingField, 'fields that differ'),
});

const live = {
  isProven: is.yesOrNo('whether each list was proven'),
  notes: notes('what could not be compared'),
  differenceCount: is.whole('differences'),
  differences: is.list(liveDifference, 'as many as `--limit` says'),
};

const verify = is.object({
  ok: is.yesOrNo('whether there is no difference and, with `--live`, the service was read completely'),
  ...verification,
  checkpoints: is.optional(is.list(checkpoint, 'those that `--checkpoint` names; left out without it')),
  live: is.orNull(is.object(live, 'what `--live` found; null without it')),
});

const listedBackup = is.object({
  ...is.partial(manifest),
  path: is.text('the copy'),
  isNewest: is.yesOrNo('whether it is the newest of its mirror'),
  isSound: is.orNull(is.yesOrNo('whether it has its SHA-256; null if it was not looked at')),
  ageMs: is.orNull(is.whole('time since it was made, in milliseconds')),
  state: is.orNull(is.text('`ok`, `too old`, `altered` or `no manifest`; null of older ones')),
});
const madeBackup = {
  path: is.text('the copy'),
  ...manifest,
  removed: is.list(is.text('a file'), 'older copies that were removed'),
};
const restoredBackup = {
  path: is.text('the mirror'),
  runId: is.whole('the newest run in it; 0 if there is none'),
  bytes: is.whole('its size'),
  mirrorId: is.orNull(is.text('which mirror it is: a UUID')),
  baseUrl: is.orNull(is.text('the address of the service')),
  isVerified: is.yesOrNo('whether it was audited; an older shape can only be looked at'),
};

const backup = is.anyOf([
  is.object(madeBackup, 'for a backup that was made'),
  is.object({ backups: is.list(listedBackup, 'the copies in the folder') }, 'for `--list`'),
  is.object(restoredBackup, 'for `--restore`'),
  { ...verify, description: 'for `--check`, and if a copy is not sound' },
]);

const share = is.object({
  path: is.text('the file'),
  runId: is.orNull(is.whole('the newest run that it contains; null if none has ended')),
  bytes: is.whole('its size'),
  leftOut: is.list(is.text('a view'), "views that can't be read without what the share lacks"),
});

/** The output of a command. */
export interface Output<S extends is.Shape = is.Shape> {
  /** The flags that make the command print it. */
  readonly flags: string;
  readonly about: string;
  /** The shape of one line, if the command prints several. */
  readonly shape: S;
}

const json = <S extends is.Shape>(about: string, shape: S): Output<S> => ({
  flags: '--json',
  about,
  shape: withLabels(shape) as S,
});

const all = {
  sync: json('How the run ended.', runs.syncOutput),
  status: json('How the lists are.', runs.statusOutput),
  runs: json('The newest runs, as an array.', runs.runsOutput),
  show: json('Records with all their versions.', show),
  rejected: json('Records that could not be read.', rejected),
  changes: { flags: '--format ndjson', about: 'A change a line.', shape: changesOutput },
  doctor: json('The checks before a run.', doctor),
  verify: json('The result of an audit.', verify),
  backup: json('The copy that was made, copies that are there, or what was restored.', backup),
  share: json('The copy that was made.', share),
  erase: json('The texts that were erased.', erase),
  'publish clickhouse': json('The rows that were sent.', publishClickhouse),
  'audit receipts': {
    flags: '--json',
    about: 'A receipt a line, as it is stored. docs/audit.md says how each hash is made.',
    shape: is.anyOf(Object.values(receiptShapes)),
  },
};

/** All outputs for programs, by their command. Schemas, the reference and tests are made from it. */
export const outputs: Readonly<Record<string, Output>> = all;

/** What a command prints with `--json`, and a line of `changes`, as values. */
export type OutputOf = { readonly [Name in keyof typeof all]: is.ValueOf<(typeof all)[Name]['shape']> };

/** The JSON Schema of a command's output, also of a failure if it can print one. */
export function schemaOf(command: string, { flags, about, shape }: Output): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `docmirror ${command} ${flags}`,
    description: about,
    ...(flags === '--json' ? { anyOf: [shape, runs.failureOutput] } : shape),
  };
}

/** The name of a command's schema in the package: `audit-receipts`. */
export function schemaName(command: string): string {
  return command.replaceAll(' ', '-');
}

/** An output with the labels, which it has if some are set. */
function withLabels(shape: is.JsonShape): is.Shape {
  if (shape.anyOf !== undefined) return { ...shape, anyOf: shape.anyOf.map(withLabels) };
  if (shape.properties === undefined || 'labels' in shape.properties) return shape;
  const own = { ...labels, description: 'the labels; left out if none are set' };
  return { ...shape, properties: { labels: own, ...shape.properties } };
}
