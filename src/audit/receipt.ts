import canonicalize from 'canonicalize';
import { keptResources, resourceNames } from '../contract/lists.ts';
import {
  anyObject,
  anyOf,
  exact,
  hex,
  isValid,
  list,
  object,
  oneOf,
  optional,
  orNull,
  type Shape,
  text,
  time,
  type ValueOf,
  whole,
} from '../contract/shapes.ts';

const mirrorId = text('', '^[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}$');
const count = (description = '') => whole(description, 0);
const statuses = ['completed', 'partial', 'failed', 'cancelled', 'interrupted'] as const;
const at = time();
/** In a share, what could show something that it lacks is null. */
const hash = (digits: number, description: string) => orNull(hex(digits, description));
const why = orNull(text('null in a share', '.'));
const actor = text('who did it; empty if nobody is named');

const state = { recordCount: count('its rows'), checksum: hash(32, 'the sum of the contents of its rows') };
const work = {
  changes: hash(64, 'over the changes of the run'),
  ended: hash(64, 'over the versions that the run ended'),
};
const resource = oneOf(keptResources, 'the list, or `connections`');
const listSum = object({ resource, ...state });
const listReceipt = object({
  resource: oneOf(resourceNames, '`connections` if the run changed some, with the next four members only'),
  ...state,
  ...work,
  status: oneOf(statuses),
  completeness: orNull(oneOf(['proven', 'incremental', 'unproven'], 'null if nothing was written')),
  inserted: count(),
  updated: count(),
  removed: count(),
  rejected: count(),
  removalsWithheld: count(),
  readSince: optional(time('only if an answer came')),
  ignoredFields: optional(list(text(), 'only if there are any')),
  reasons: optional(list(anyObject('a finding'), 'not before 0.6')),
});
const connectionsReceipt = object({ resource: oneOf(['connections'], 'the connections'), ...state, ...work });
const versions = { resource, count: count('versions that are left') };
const overVersions = 'over the runs that wrote them and their contents';
const keptSum = object({ ...versions, sum: hash(32, overVersions) });
const keptHash = object({ ...versions, hash: hash(64, overVersions) });
const kept = list(keptSum, 'versions of the runs before it, whose hashes do not have to agree any more');
const lists = list(listSum, 'its lists and the connections after it');
const facts = optional(hash(64, 'over `service_facts` without times and rates; not before 0.6'));
const rejectedOfRun = object({
  runId: whole('a run that lost some', 1),
  count: count('those that are left'),
  hash: hash(64, 'over them; of a run before 0.6 its `books` from now on'),
});
const rejectedMeaning = 'rejected records of these runs were deleted; only if there were any';
const rejected = optional(list(rejectedOfRun, rejectedMeaning));

/** A receipt of one kind, and what it is about. */
const kind = <const Kind extends string, Fields extends Record<string, Shape>>(
  name: Kind,
  meaning: string,
  fields: Fields,
) => object({ kind: oneOf([name]), mirrorId, ...fields }, meaning);

const writtenRejected = { count: count('rows that it wrote'), hash: hash(64, 'over these rows') };
const run = kind('run', 'a run', {
  runId: whole('', 1),
  status: oneOf(statuses, '`interrupted` if its process died'),
  trigger: text(),
  startedAt: time(),
  completedAt: orNull(time('null if its process died')),
  actor,
  baseUrl: text(),
  docmirrorVersion: text('', '.'),
  books: hash(64, "the SHA-256 over the run's own rows"),
  rejected: optional(object(writtenRejected, 'its rejected records; before 0.6 `books` had them')),
  facts,
  lists: list(anyOf([listReceipt, connectionsReceipt]), 'its lists, the connections last'),
});
const pruned =
  'the last of the runs whose ended versions were deleted; 0 if none ever were; not by docmirror 0.4';
const prunedKept = 'versions of the runs up to it; docmirror 0.3 wrote sums, and 0.4 left it out';
const prune = kind('prune', 'ended versions were deleted', {
  at,
  before: time('they had ended before this'),
  throughRunId: optional(count(pruned)),
  kept: optional(list(anyOf([keptHash, keptSum]), prunedKept)),
  rejected,
});
const upgrade = kind('upgrade', 'the file got another shape', {
  at,
  fromVersion: text('the version before', '.'),
  docmirrorVersion: text('the version after', '.'),
  lists,
  kept,
  rejected,
});
const rebuilt = 'rows that another program altered were dropped';
const rebuild = kind('rebuild', rebuilt, { at, actor, lists, kept });
const endedOfRun = object({
  runId: whole('a run that had ended one', 1),
  ended: hash(64, 'the `ended` hash of its list from now on'),
});
const erase = kind('erase', 'texts were erased', {
  at,
  actor,
  resource: oneOf([...keptResources, 'rejected-records'], 'where the record was'),
  recordId: whole('its id; of `rejected-records` that of the row', Number.MIN_SAFE_INTEGER),
  versions: count('versions that lost their text; 0 of a rejected record'),
  ended: list(endedOfRun, 'for each of these runs, by its number'),
  facts,
});

const ofAcceptance = { at, actor, id: whole('its number in `accepted_findings`', 1) };
const accept = kind('accept', 'a finding was accepted', {
  ...ofAcceptance,
  resource: oneOf(resourceNames, 'the list'),
  code: text('of the finding', '.'),
  rejectedRecordId: orNull(whole('the one rejected record that it is about', 1)),
  atMost: orNull(count('the greatest count that it covers')),
  until: orNull(time()),
  why,
});
const withdraw = kind('withdraw', 'an acceptance was withdrawn', { ...ofAcceptance, why });

const shared = count('receipts at the beginning of that log that this one has, too');
const leafHash = hex(64, 'a leaf hash');
const left = 'receipts that the replaced mirror had from there on; null if it could not be read';
const earlier = object({ shared, leftBehind: list(leafHash) });
const restore = kind('restore', 'a backup took the place of the mirror', {
  at,
  actor,
  fromRunId: count('the newest run of the backup; 0 if it has none'),
  shared,
  leftBehind: orNull(list(leafHash, left)),
  earlier: list(earlier, 'the same of logs that only receipts left behind tell of'),
});

/** The declaration of each kind of receipt. A reader finds how each hash is made in docs/audit.md. */
export const receiptShapes = { run, prune, upgrade, rebuild, erase, accept, withdraw, restore };

/** One leaf of the log. */
export type Receipt = ValueOf<(typeof receiptShapes)[keyof typeof receiptShapes]>;
/** The statement of a run about itself and its lists. */
export type RunReceipt = ValueOf<typeof run>;
/** That texts were erased. */
export type EraseReceipt = ValueOf<typeof erase>;
/** The result of a run for one list. */
export type ListReceipt = ValueOf<typeof listReceipt>;
/** The state of a list. */
export type ListSum = ValueOf<typeof listSum>;

/** A text is no receipt, note, checkpoint or key, although it should be one. Only the caller knows the name of its file. */
export class MalformedError extends Error {
  override readonly name = 'MalformedError';
}

/** A receipt as it is stored: canonical JSON (RFC 8785), whose UTF-8 bytes are the leaf of the log. It throws for what JSON can't have. */
export function receiptText(receipt: Receipt): string {
  return canonicalize(receipt) as string;
}

const exactShapes = new Map(Object.entries(receiptShapes).map(([kind, shape]) => [kind, exact(shape)]));

/** A stored receipt; null if it is not byte for byte as `receiptText` writes it: other spaces, another order, a repeated name, `1.0`. */
export function receiptOrNull(text: string): Receipt | null {
  try {
    const receipt: Receipt = JSON.parse(text);
    const shape = exactShapes.get(receipt.kind);
    return shape !== undefined && isValid(shape, receipt) && receiptText(receipt) === text ? receipt : null;
  } catch {
    return null;
  }
}
