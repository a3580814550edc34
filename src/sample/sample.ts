import { Random } from './random.ts';
import { flows, hooks, titleAndKind } from './systems.ts';

type DocumentExport = ReturnType<typeof toExport>;

/** All lists of a sample service; document exports are newest first, as in an export log. */
export interface Sample {
  readonly 'document-exports': readonly DocumentExport[];
  readonly collections: readonly ReturnType<typeof toCollection>[];
  readonly webhooks: readonly ReturnType<typeof toWebhook>[];
  /** What connections are called that were renamed, by their ids. */
  readonly names: ReadonlyMap<number, string>;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const daysBack = 120;
const collectionCount = 24;
/** The place of the second duplicate; both are on one page of any usual size. */
const duplicateAt = 11;

/** Generates the lists of a service up to the time `now`; the same options always give the same sample. */
export function generateSample(options: { now: Date; documentExports?: number; seed?: number }): Sample {
  const { now, documentExports: count = 4_000, seed = 1 } = options;
  const random = new Random(seed);
  const log = exportsAt(random, moments(random, now.getTime(), count)).reverse();
  const twin = count > duplicateAt ? log[duplicateAt - 1] : undefined;
  return {
    'document-exports': twin === undefined ? log : log.with(duplicateAt, { ...twin }),
    collections: Array.from({ length: collectionCount }, (_, at) => toCollection(at)),
    webhooks: hooks.map((hook, at) => toWebhook(random, hook, at)),
    names: new Map(),
  };
}

function toWebhook(random: Random, { path, ...hook }: (typeof hooks)[number], at: number) {
  return { id: 11 + at * 2, endpoint: `https://hooks.example.com/${path}?sig=${random.hex(32)}`, ...hook };
}

const sites = ['', ' (Zürich)', ' (Łódź)'];

function toCollection(at: number) {
  const { name, from, to } = flows[at % flows.length] ?? flows[0];
  return {
    id: 101 + at * 3,
    name: `${name}${sites[Math.floor(at / flows.length)]}`,
    sourceConnection: from.connection,
    // A collection that is being set up has no destination yet.
    destinationConnection: at === collectionCount - 1 ? null : to.connection,
  };
}

/** How many of the latest documents can be exported once more. */
const revisableMax = 300;

/** Exports at these moments, in their order; some documents are exported again as a new version. */
function exportsAt(random: Random, momentsMs: readonly number[]): DocumentExport[] {
  const revisable: ReturnType<typeof newDocument>[] = [];
  return momentsMs.map(moment => {
    const earlier = random.chance(0.2) ? revisable[random.integer(0, revisable.length - 1)] : undefined;
    const document = earlier ?? newDocument(random);
    document.revision++;
    if (earlier === undefined) revisable.push(document);
    if (revisable.length > revisableMax) revisable.shift();
    return toExport(random, document, new Date(moment));
  });
}

function newDocument(random: Random) {
  const flow = random.weighted(flows);
  const reference = flow.from.reference(random);
  return { flow, reference, ...titleAndKind(random, flow.from.topic), revision: 0 };
}

/** A document export, in the shape in which the service sends it. */
function toExport(random: Random, document: ReturnType<typeof newDocument>, at: Date) {
  const { from, to } = document.flow;
  return {
    sourceConnection: from.connection,
    sourceDocumentTitle: document.title,
    sourceDocumentReference: document.reference,
    sourceDocumentVersion: from.version?.(document.revision) ?? null,
    sourceDocumentKind: document.kind,
    destinationConnection: to.connection,
    destinationReference: random.chance(0.01) ? null : to.reference(random, at, document.reference),
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
      const at = new Date(moment);
      const isWeekend = at.getUTCDay() === 0 || at.getUTCDay() === 6;
      const isOfficeHour = at.getUTCHours() >= 7 && at.getUTCHours() < 18;
      const activity = (isWeekend ? 0.12 : 1) * (isOfficeHour ? 1 : 0.1);
      if (random.chance(activity * (0.6 + (0.4 * sinceMs) / lengthMs))) return moment;
    }
  };
  return Array.from({ length: count }, busy).sort((a, b) => a - b);
}

const newExportCount = 25;
const correctedCount = 3;
const removedCount = 2;

/** The sample at a later time, with new exports at the head of its log, which also have the further fields. */
export function growSample(sample: Sample, now: Date, seed: number, further: object = {}): Sample {
  const log = sample['document-exports'];
  const added = additions(new Random(seed), log, now.getTime()).map(item => ({ ...item, ...further }));
  return { ...sample, 'document-exports': [...added, ...log] };
}

/** The sample at a later time: exports are new, corrected and removed, a webhook is removed, a collection and a connection are renamed. */
export function changeSample(sample: Sample, now: Date, seed = 2): Sample {
  const random = new Random(seed);
  const { 'document-exports': log, collections, webhooks } = sample;
  const [renamed] = random.some(collections, 1);
  const [removed] = random.some(webhooks, 1);
  const added = additions(random, log, now.getTime());
  const kept = edited(random, log);
  const connections = new Set(flows.flatMap(({ from, to }) => [from.connection, to.connection]));
  const called = random.some([...connections], 1).map(({ id, name }) => {
    return [id, `${sample.names.get(id) ?? name} (EU)`] as const;
  });
  return {
    ...sample,
    'document-exports': [...added, ...kept],
    collections: collections.map(each =>
      each === renamed ? { ...each, name: `${each.name} – archive` } : each,
    ),
    webhooks: webhooks.filter(each => each !== removed),
    names: new Map([...sample.names, ...called]),
  };
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
