import { keptResources, resourceNames } from '../contract/lists.ts';
import { MalformedError } from './malformed-error.ts';
import {
  type ConnectionsReceipt,
  type EraseReceipt,
  type KeptSum,
  type ListReceipt,
  type ListSum,
  type PruneReceipt,
  type RebuildReceipt,
  type Receipt,
  type RunReceipt,
  receiptText,
  type UpgradeReceipt,
} from './receipt.ts';

/**
 * Reads a stored receipt. It must be one of the five kinds, with exactly its fields, and every byte as `receiptText` writes it.
 * This refuses everything that a parser would ignore: spaces, another order, a repeated name, `1.0`.
 */
export function readReceipt(text: string): Receipt {
  const receipt = parse(text);
  if (!isReceipt(receipt)) {
    throw new MalformedError(
      'A receipt is of kind run, upgrade, prune, rebuild or erase, with exactly the fields of its kind.',
    );
  }
  if (receiptText(receipt) !== text) throw new MalformedError('A receipt is canonical JSON (RFC 8785).');
  return receipt;
}

/** Reads a stored receipt; null if somebody altered it, which an audit reports. */
export function receiptOrNull(text: string): Receipt | null {
  try {
    return readReceipt(text);
  } catch (error) {
    if (error instanceof MalformedError) return null;
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MalformedError('A receipt is JSON.', { cause });
  }
}

type OfResource = Pick<ListSum, 'resource'>;
type Check<T> = (value: unknown) => value is T;

/** Accepts an object with exactly these fields. */
function objectOf<T extends object>(checks: { readonly [Name in keyof T]: Check<T[Name]> }): Check<T> {
  const entries = Object.entries<(value: unknown) => boolean>(checks);
  return (value): value is T =>
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === entries.length &&
    entries.every(([name, check]) => Object.hasOwn(value, name) && check(Reflect.get(value, name)));
}

function oneOf<const Word>(...words: readonly Word[]): Check<Word> {
  return (value): value is Word => words.some(word => word === value);
}

function textLike(pattern: RegExp): Check<string> {
  return (value): value is string => typeof value === 'string' && value.isWellFormed() && pattern.test(value);
}

function orNull<T>(check: Check<T>): Check<T | null> {
  return (value): value is T | null => value === null || check(value);
}

/** The lists of a receipt are in the order of the contract, each at most once. */
function inOrder<T extends OfResource>(check: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] =>
    Array.isArray(value) &&
    value.every(check) &&
    value.map(placeOf).every((place, at, places) => at === 0 || place > Number(places[at - 1]));
}

const placeOf = ({ resource }: OfResource) => keptResources.indexOf(resource);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isRunId = (value: unknown): value is number => isCount(value) && value > 0;
const isText = textLike(/^/);
const isVersion = textLike(/./);
const isMirrorId = textLike(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
const isSum = textLike(/^[\da-f]{32}$/);
const isHash = textLike(/^[\da-f]{64}$/);
const isStatus = oneOf('completed', 'partial', 'failed', 'cancelled', 'interrupted');

const isInstant: Check<string> = (value): value is string => {
  if (typeof value !== 'string') return false;
  const instant = new Date(value);
  return !Number.isNaN(instant.getTime()) && instant.toISOString() === value;
};

const state = { recordCount: isCount, checksum: isSum };
const work = { changes: isHash, ended: isHash };

const isConnectionsReceipt = objectOf<ConnectionsReceipt>({
  resource: oneOf('connections'),
  ...state,
  ...work,
});

const isListReceipt = objectOf<ListReceipt>({
  resource: oneOf(...resourceNames),
  ...state,
  ...work,
  status: isStatus,
  completeness: orNull(oneOf('proven', 'incremental', 'unproven')),
  inserted: isCount,
  updated: isCount,
  removed: isCount,
  rejected: isCount,
  removalsWithheld: isCount,
});

const isAnyListReceipt = (value: unknown): value is ListReceipt | ConnectionsReceipt =>
  isListReceipt(value) || isConnectionsReceipt(value);

const isRunReceipt = objectOf<RunReceipt>({
  kind: oneOf('run'),
  mirrorId: isMirrorId,
  runId: isRunId,
  status: isStatus,
  trigger: isText,
  startedAt: isInstant,
  completedAt: orNull(isInstant),
  actor: isText,
  baseUrl: isText,
  docmirrorVersion: isVersion,
  books: isHash,
  lists: inOrder(isAnyListReceipt),
});

const isListSum = objectOf<ListSum>({ resource: oneOf(...keptResources), ...state });

const isKeptSum = objectOf<KeptSum>({ resource: oneOf(...keptResources), count: isCount, sum: isSum });

const isUpgradeReceipt = objectOf<UpgradeReceipt>({
  kind: oneOf('upgrade'),
  mirrorId: isMirrorId,
  at: isInstant,
  fromVersion: isVersion,
  docmirrorVersion: isVersion,
  lists: inOrder(isListSum),
  kept: inOrder(isKeptSum),
});

const isPruneReceipt = objectOf<PruneReceipt>({
  kind: oneOf('prune'),
  mirrorId: isMirrorId,
  at: isInstant,
  before: isInstant,
  kept: inOrder(isKeptSum),
});

const isRebuildReceipt = objectOf<RebuildReceipt>({
  kind: oneOf('rebuild'),
  mirrorId: isMirrorId,
  at: isInstant,
  actor: isText,
  lists: inOrder(isListSum),
  kept: inOrder(isKeptSum),
});

const isEraseReceipt = objectOf<EraseReceipt>({
  kind: oneOf('erase'),
  mirrorId: isMirrorId,
  at: isInstant,
  actor: isText,
  resource: oneOf(...keptResources, 'rejected-records'),
  recordId: (value): value is number => Number.isSafeInteger(value),
  versions: isCount,
  ended: (value): value is EraseReceipt['ended'] =>
    Array.isArray(value) &&
    value.every(objectOf<EraseReceipt['ended'][number]>({ runId: isRunId, ended: isHash })),
});

const isReceipt = (value: unknown): value is Receipt =>
  [isRunReceipt, isUpgradeReceipt, isPruneReceipt, isRebuildReceipt, isEraseReceipt].some(is => is(value));
