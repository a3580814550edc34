import { type Flow, flows } from './connections.ts';
import type { Random } from './random.ts';
import type { DocumentExport } from './shapes.ts';
import { titleAndKind } from './titles.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const reexportShare = 0.2;
const unansweredShare = 0.01;
/** How many of the latest documents can be exported once more. */
const revisableMax = 300;
const drawsMax = 1_000;

/**
 * Exports at these moments, in milliseconds, in the order of the moments; some documents are exported again as a new
 * version.
 */
export function exportsAt(random: Random, momentsMs: readonly number[]): DocumentExport[] {
  const revisable: SourceDocument[] = [];
  return momentsMs.map(moment => {
    const earlier = random.chance(reexportShare)
      ? revisable[random.integer(0, revisable.length - 1)]
      : undefined;
    const document = earlier ?? newDocument(random);
    document.revision++;
    if (earlier === undefined) revisable.push(document);
    if (revisable.length > revisableMax) revisable.shift();
    return toExport(random, document, new Date(moment));
  });
}

interface SourceDocument {
  readonly flow: Flow;
  readonly reference: string;
  readonly title: string | null;
  readonly kind: string | null;
  revision: number;
}

function newDocument(random: Random): SourceDocument {
  const flow = random.weighted(flows);
  return {
    flow,
    reference: flow.source.reference(random),
    ...titleAndKind(random, flow.source.topic),
    revision: 0,
  };
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
    destinationReference: random.chance(unansweredShare)
      ? null
      : destination.reference(random, at, document.reference),
    exportedAt: at.toISOString(),
  };
}

/**
 * Moments of the days before `nowMs`, in rising order: many in office hours, few at night and on weekends, more lately.
 */
export function moments(random: Random, nowMs: number, days: number, count: number): number[] {
  const startMs = nowMs - days * dayMs;
  const drawn = Array.from({ length: count }, () => busyMoment(random, startMs, nowMs));
  return drawn.sort((a, b) => a - b);
}

function busyMoment(random: Random, startMs: number, endMs: number): number {
  let moment = startMs;
  for (let draw = 0; draw < drawsMax; draw++) {
    moment = startMs + Math.floor(random.fraction() * (endMs - startMs));
    const growth = 0.6 + (0.4 * (moment - startMs)) / (endMs - startMs);
    if (random.chance(activity(new Date(moment)) * growth)) break;
  }
  return moment;
}

/** How busy an hour is, from 0 to 1. */
function activity(at: Date): number {
  const isWeekend = at.getUTCDay() === 0 || at.getUTCDay() === 6;
  const isOfficeHour = at.getUTCHours() >= 7 && at.getUTCHours() < 18;
  return (isWeekend ? 0.12 : 1) * (isOfficeHour ? 1 : 0.1);
}
