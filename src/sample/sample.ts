import { Random } from './random.ts';
import { type ConnectionRef, type Flow, flows, hooks, titleAndKind } from './systems.ts';

/** A document export, in the shape in which the service sends it. */
export interface DocumentExport {
  readonly sourceConnection: ConnectionRef;
  readonly sourceDocumentTitle: string | null;
  readonly sourceDocumentReference: string;
  readonly sourceDocumentVersion: string | null;
  readonly sourceDocumentKind: string | null;
  readonly destinationConnection: ConnectionRef;
  readonly destinationReference: string | null;
  readonly exportedAt: string;
}

interface Collection {
  readonly id: number;
  readonly name: string;
  readonly sourceConnection: ConnectionRef;
  readonly destinationConnection: ConnectionRef | null;
}

interface Webhook {
  readonly id: number;
  readonly endpoint: string;
  readonly description: string | null;
  readonly events: readonly string[];
  readonly connections: readonly ConnectionRef[];
}

/** All lists of a sample service; document exports are newest first, as in an export log. */
export interface Sample {
  readonly 'document-exports': readonly DocumentExport[];
  readonly collections: readonly Collection[];
  readonly webhooks: readonly Webhook[];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const daysBack = 120;
const collectionCount = 24;
/** The place of the second duplicate; both are on one page of any usual size. */
const duplicateAt = 11;

/**
 * Generates the lists of a service; the same options always give the same sample.
 *
 * @param options `now` is the end of the sample's time.
 */
export function generateSample(options: { now: Date; documentExports?: number; seed?: number }): Sample {
  const { now, documentExports: count = 4_000, seed = 1 } = options;
  const random = new Random(seed);
  const log = exportsAt(random, moments(random, now.getTime(), count)).reverse();
  const twin = count > duplicateAt ? log[duplicateAt - 1] : undefined;
  return {
    'document-exports': twin === undefined ? log : log.with(duplicateAt, { ...twin }),
    collections: Array.from({ length: collectionCount }, (_, at) => collection(at)),
    webhooks: hooks.map(({ path, ...hook }, at) => ({
      id: 11 + at * 2,
      endpoint: `https://hooks.example.com/${path}?sig=${random.hex(32)}`,
      ...hook,
    })),
  };
}

const sites = ['', ' (Zürich)', ' (Łódź)'];

function collection(at: number): Collection {
  const { name, source, destination } = flows[at % flows.length] as Flow;
  // A collection that is being set up has no destination yet.
  const isUnfinished = at === collectionCount - 1;
  return {
    id: 101 + at * 3,
    name: `${name}${sites[Math.floor(at / flows.length)]}`,
    sourceConnection: source.connection,
    destinationConnection: isUnfinished ? null : destination.connection,
  };
}

/** How many of the latest documents can be exported once more. */
const revisableMax = 300;

interface SourceDocument {
  readonly flow: Flow;
  readonly reference: string;
  readonly title: string | null;
  readonly kind: string | null;
  revision: number;
}

/** Exports at these moments, in their order; some documents are exported again as a new version. */
function exportsAt(random: Random, momentsMs: readonly number[]): DocumentExport[] {
  const revisable: SourceDocument[] = [];
  return momentsMs.map(moment => {
    const earlier = random.chance(0.2) ? revisable[random.integer(0, revisable.length - 1)] : undefined;
    const document = earlier ?? newDocument(random);
    document.revision++;
    if (earlier === undefined) revisable.push(document);
    if (revisable.length > revisableMax) revisable.shift();
    return toExport(random, document, new Date(moment));
  });
}

function newDocument(random: Random): SourceDocument {
  const flow = random.weighted(flows);
  const reference = flow.source.reference(random);
  return { flow, reference, ...titleAndKind(random, flow.source.topic), revision: 0 };
}

function toExport(random: Random, document: SourceDocument, at: Date): DocumentExport {
  const { source, destination } = document.flow;
  return {
    sourceConnection: source.connection,
    sourceDocumentTitle: document.title,
    sourceDocumentReference: document.reference,
    sourceDocumentVersion: source.version?.(document.revision) ?? null,
    sourceDocumentKind: document.kind,
    destinationConnection: destination.connection,
    destinationReference: random.chance(0.01) ? null : destination.reference(random, at, document.reference),
    exportedAt: at.toISOString(),
  };
}

/** Moments before `nowMs`, in rising order: many in office hours, few at night and on weekends, more lately. */
function moments(random: Random, nowMs: number, count: number): number[] {
  const lengthMs = daysBack * dayMs;
  const busy = () => {
    for (;;) {
      const sinceMs = Math.floor(random.fraction() * lengthMs);
      const moment = nowMs - lengthMs + sinceMs;
      if (random.chance(activity(new Date(moment)) * (0.6 + (0.4 * sinceMs) / lengthMs))) return moment;
    }
  };
  return Array.from({ length: count }, busy).sort((a, b) => a - b);
}

/** How busy an hour is, from 0 to 1. */
function activity(at: Date): number {
  const isWeekend = at.getUTCDay() === 0 || at.getUTCDay() === 6;
  const isOfficeHour = at.getUTCHours() >= 7 && at.getUTCHours() < 18;
  return (isWeekend ? 0.12 : 1) * (isOfficeHour ? 1 : 0.1);
}

const newExportCount = 25;
const correctedCount = 3;
const removedCount = 2;

/**
 * The sample at a later time, with new exports at the head of its log. Another seed makes other changes.
 *
 * @param further fields of the new exports that the service did not send before.
 */
export function growSample(sample: Sample, now: Date, seed: number, further: object = {}): Sample {
  const log = sample['document-exports'];
  const added = additions(new Random(seed), log, now.getTime()).map(item => ({ ...item, ...further }));
  return withNames({ ...sample, 'document-exports': [...added, ...log] }, connectionNames(sample));
}

/**
 * The sample at a later time, with new exports, corrected titles and removed exports. A collection and a connection are renamed,
 * and a webhook is removed.
 */
export function changeSample(sample: Sample, now: Date, seed = 2): Sample {
  const random = new Random(seed);
  const log = sample['document-exports'];
  const [renamed] = random.some(sample.collections, 1);
  const [removed] = random.some(sample.webhooks, 1);
  const changed = {
    ...sample,
    'document-exports': [...additions(random, log, now.getTime()), ...edited(random, log)],
    collections: sample.collections.map(each =>
      each === renamed ? { ...each, name: `${each.name} – archive` } : each,
    ),
    webhooks: sample.webhooks.filter(each => each !== removed),
  };
  const names = connectionNames(sample);
  const [connection] = random.some([...names], 1);
  if (connection !== undefined) names.set(connection[0], `${connection[1]} (EU)`);
  return withNames(changed, names);
}

/** New exports, the newest first, later than all others. */
function additions(random: Random, log: readonly DocumentExport[], nowMs: number): DocumentExport[] {
  const [newest] = log;
  const startMs = newest === undefined ? nowMs - hourMs : Date.parse(newest.exportedAt);
  const stepMs = Math.max(1_000, Math.floor((nowMs - startMs) / newExportCount));
  const later = Array.from(
    { length: newExportCount },
    (_, at) => startMs + at * stepMs + random.integer(1, stepMs),
  );
  return exportsAt(random, later).reverse();
}

/** The log with a few titles corrected and a few exports removed. Twins are left alone, so that they stay twins. */
function edited(random: Random, log: readonly DocumentExport[]): DocumentExport[] {
  const isTwin = (item: DocumentExport, other: DocumentExport | undefined) =>
    JSON.stringify(item) === JSON.stringify(other);
  const single = log.filter((item, at) => !isTwin(item, log[at - 1]) && !isTwin(item, log[at + 1]));
  const chosen = random.some(single, correctedCount + removedCount);
  const corrected = new Set(chosen.slice(0, correctedCount));
  const removed = new Set(chosen.slice(correctedCount));
  return log
    .filter(item => !removed.has(item))
    .map(item =>
      corrected.has(item)
        ? { ...item, sourceDocumentTitle: `${item.sourceDocumentTitle ?? 'Untitled'} (corrected)` }
        : item,
    );
}

function connectionNames(sample: Sample): Map<number, string> {
  const refs = [
    ...sample['document-exports'].flatMap(item => [item.sourceConnection, item.destinationConnection]),
    ...sample.collections.flatMap(item => [item.sourceConnection, item.destinationConnection ?? []].flat()),
    ...sample.webhooks.flatMap(item => item.connections),
  ];
  return new Map(refs.map(({ id, name }) => [id, name]));
}

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
