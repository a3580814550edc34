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
} from '../../contract/shapes.ts';
import { keptResource, labels, notes, resource } from './parts.ts';

const finding = object({
  check: text('what was tried'),
  status: oneOf(['ok', 'warning', 'failed', 'skipped'], 'how it went'),
  found: text('what was found'),
  todo: orNull(text('what to do; null if there is nothing to do')),
  code: orNull(text('the code of the error that it met; null if there is none')),
});
/** The result of one check of `doctor`. */
export type Finding = ValueOf<typeof finding>;

/** The output of `doctor --json`. */
export const doctorOutput = object({
  ok: yesOrNo('whether no check failed'),
  exitCode: whole('what `sync` would end with'),
  checks: list(finding, 'in the order in which a run needs things'),
});
/** The same as a value. */
export type DoctorOutput = ValueOf<typeof doctorOutput>;

const checkpoint = object({
  file: text('the file'),
  size: whole('receipts that it covers'),
  signature: oneOf(
    ['verified', 'forged', 'absent', 'unchecked'],
    'whether the key that is known signed it; `unchecked` if none is known',
  ),
  notes: notes('what else there is to say'),
});
/** A checkpoint that a mirror was compared with. */
export type ShownCheckpoint = ValueOf<typeof checkpoint>;

const liveDifference = object({
  kind: oneOf(['missing', 'extra', 'different'], 'missing from the mirror, not at the service, or in both'),
  resource: keptResource,
  id: orNull(whole('the row; null if there is none')),
  key: text('what identifies the record'),
  fields: list(
    object({
      field: text('its name'),
      mirror: anything('its value in the mirror'),
      service: anything('its value at the service'),
    }),
    'fields that differ',
  ),
});

/** The output of `verify --json`. */
export const verifyOutput = object({
  ok: yesOrNo('whether there is no difference and, with `--live`, the service was read completely'),
  path: text('the mirror'),
  lists: list(
    object({
      resource,
      recordCount: whole('its rows'),
      versionCount: whole('its versions in the history'),
      runId: orNull(whole('the last run that wrote it; null if none has')),
      checksum: hex(32, 'recomputed from its rows'),
    }),
    'each list',
  ),
  connectionCount: whole('connections'),
  versionCount: whole('versions in the history'),
  runCount: whole('runs'),
  receiptCount: whole('receipts'),
  prunedBefore: orNull(time('ended versions before this were deleted, so they were not recomputed')),
  rebuiltAfterRunId: orNull(whole('the last run before a rebuild; what came before was not recomputed')),
  erasedCount: whole('texts that were erased'),
  otherObjects: list(
    object({ type: text('`table`, `view` or `index`'), name: text('its name') }),
    'objects that docmirror did not make in the file; they are not a difference',
  ),
  checkpoints: optional(list(checkpoint, 'those that `--checkpoint` names; left out without it')),
  differenceCount: whole('differences'),
  differences: list(
    object({
      table: orNull(text('the table; null if the file itself is damaged')),
      id: orNull(whole('the row; null if it is not one row')),
      what: text('what is wrong'),
      severity: oneOf(['content', 'record of runs', 'shortcut'], 'what it is in'),
    }),
    'as many as `--limit` says',
  ),
  live: orNull(
    object(
      {
        isProven: yesOrNo('whether each list was proven'),
        notes: notes('what could not be compared'),
        differenceCount: whole('differences'),
        differences: list(liveDifference, 'as many as `--limit` says'),
      },
      'what `--live` found; null without it',
    ),
  ),
});
/** The same as a value. */
export type VerifyOutput = ValueOf<typeof verifyOutput>;

const manifest = {
  mirrorId: text('which mirror it is of: a UUID'),
  baseUrl: orNull(text('the address of the service; null if no run was recorded')),
  labels,
  runId: whole('the newest run in it; 0 if there is none'),
  rootHash: text('the root hash of all receipts, in hexadecimal digits'),
  recordCounts: anyObject<Record<string, number>>('records, by the name of the list'),
  bytes: whole('its size'),
  sha256: hex(64, 'SHA-256 of the file'),
  docmirrorVersion: text('the version that made it'),
  at: time('when it was made'),
};

const madeBackup = object(
  { path: text('the copy'), ...manifest, removed: list(text('a file'), 'older copies that were removed') },
  'for a backup that was made',
);

const listedBackup = object({
  ...partial(manifest),
  path: text('the copy'),
  isNewest: yesOrNo('whether it is the newest of its mirror'),
  isSound: orNull(yesOrNo('whether it has its SHA-256; null if it was not looked at')),
  ageMs: orNull(whole('time since it was made, in milliseconds')),
  state: orNull(text('`ok`, `too old`, `altered` or `no manifest`; null of older ones')),
});

const listedBackups = object({ backups: list(listedBackup, 'the copies in the folder') }, 'for `--list`');

const restoredBackup = object(
  {
    path: text('the mirror'),
    runId: whole('the newest run in it; 0 if there is none'),
    bytes: whole('its size'),
    mirrorId: orNull(text('which mirror it is: a UUID')),
    baseUrl: orNull(text('the address of the service')),
    isVerified: yesOrNo('whether it was audited; an older shape can only be looked at'),
  },
  'for `--restore`',
);

/** The output of `backup --json`. */
export const backupOutput = anyOf([
  madeBackup,
  listedBackups,
  restoredBackup,
  { ...verifyOutput, description: 'for `--check`, and if a copy is not sound' },
]);

/** The output of `share --json`. */
export const shareOutput = object({
  path: text('the file'),
  runId: orNull(whole('the newest run that it contains; null if none has ended')),
  bytes: whole('its size'),
  leftOut: list(text('a view'), "views that can't be read without what the share lacks"),
});

/** What `--json` prints. */
export type ShareOutput = ValueOf<typeof shareOutput>;
