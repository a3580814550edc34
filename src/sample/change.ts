import { exportsAt } from './document-exports.ts';
import { Random } from './random.ts';
import type { ConnectionRef, DocumentExport, Sample } from './shapes.ts';

/** When a sample is changed, and how one change differs from the next. */
interface ChangeOptions {
  /** The moment of the change; the new exports are between the newest one before and this. */
  readonly now: Date;
  /** Another seed for each change, if one sample is changed several times. */
  readonly seed?: number;
}

const newExportCount = 25;
const correctedTitleCount = 3;
const removedExportCount = 2;
const secondMs = 1_000;
const hourMs = 3_600 * secondMs;

/**
 * The sample some time later. The log has new exports at its head, corrected titles and removed exports. A collection
 * and a connection are renamed, and a webhook is removed.
 */
export function changeSample(sample: Sample, { now, seed = 2 }: ChangeOptions): Sample {
  const random = new Random(seed);
  const log = sample['document-exports'];
  const [renamedCollection] = random.some(sample.collections, 1);
  const [removedWebhook] = random.some(sample.webhooks, 1);
  const changed: Sample = {
    ...sample,
    'document-exports': [...additions(random, log, now.getTime()), ...edited(random, log)],
    collections: sample.collections.map(collection =>
      collection === renamedCollection ? { ...collection, name: `${collection.name} – archive` } : collection,
    ),
    webhooks: sample.webhooks.filter(webhook => webhook !== removedWebhook),
  };
  const names = connectionNames(sample);
  const [renamed] = random.some([...names], 1);
  if (renamed !== undefined) names.set(renamed[0], `${renamed[1]} (EU)`);
  return withNames(changed, names);
}

/**
 * The sample some time later, if the only change is that exports were made; with further fields that the service did
 * not send before.
 */
export function growSample(
  sample: Sample,
  { now, seed = 2 }: ChangeOptions,
  further: Readonly<Record<string, string>> = {},
): Sample {
  const log = sample['document-exports'];
  const added = additions(new Random(seed), log, now.getTime()).map(item => ({ ...item, ...further }));
  return withNames({ ...sample, 'document-exports': [...added, ...log] }, connectionNames(sample));
}

/** New exports, the newest first, later than all others. */
function additions(random: Random, log: readonly DocumentExport[], nowMs: number): DocumentExport[] {
  const newest = log[0];
  const startMs = newest === undefined ? nowMs - hourMs : Date.parse(newest.exportedAt);
  const stepMs = Math.max(secondMs, Math.floor((nowMs - startMs) / newExportCount));
  const momentsMs = Array.from(
    { length: newExportCount },
    (_, at) => startMs + at * stepMs + random.integer(1, stepMs),
  );
  return exportsAt(random, momentsMs).reverse();
}

/**
 * The log with a few titles corrected and a few older exports removed; duplicates are not changed, so that they stay
 * duplicates.
 */
function edited(random: Random, log: readonly DocumentExport[]): DocumentExport[] {
  const single = log.filter((item, at) => !isDuplicate(item, log[at - 1]) && !isDuplicate(item, log[at + 1]));
  const chosen = random.some(single, correctedTitleCount + removedExportCount);
  const corrected = new Set(chosen.slice(0, correctedTitleCount));
  const removed = new Set(chosen.slice(correctedTitleCount));
  return log
    .filter(item => !removed.has(item))
    .map(item => (corrected.has(item) ? { ...item, sourceDocumentTitle: correctedTitle(item) } : item));
}

function isDuplicate(item: DocumentExport, other: DocumentExport | undefined): boolean {
  return JSON.stringify(item) === JSON.stringify(other);
}

function correctedTitle({ sourceDocumentTitle }: DocumentExport): string {
  return `${sourceDocumentTitle ?? 'Untitled'} (corrected)`;
}

function connectionNames(sample: Sample): Map<number, string> {
  const refs = [
    ...sample['document-exports'].flatMap(item => [item.sourceConnection, item.destinationConnection]),
    ...sample.collections.flatMap(item => [item.sourceConnection, item.destinationConnection ?? []].flat()),
    ...sample.webhooks.flatMap(item => item.connections),
  ];
  return new Map(refs.map(({ id, name }) => [id, name]));
}

/** The sample with one name for each connection, also in records that were made with an older one. */
function withNames(sample: Sample, names: ReadonlyMap<number, string>): Sample {
  const named = (ref: ConnectionRef): ConnectionRef => ({ id: ref.id, name: names.get(ref.id) ?? ref.name });
  return {
    ...sample,
    'document-exports': sample['document-exports'].map(item => ({
      ...item,
      sourceConnection: named(item.sourceConnection),
      destinationConnection: named(item.destinationConnection),
    })),
    collections: sample.collections.map(item => ({
      ...item,
      sourceConnection: named(item.sourceConnection),
      destinationConnection: item.destinationConnection && named(item.destinationConnection),
    })),
    webhooks: sample.webhooks.map(item => ({ ...item, connections: item.connections.map(named) })),
  };
}
