import type Database from 'better-sqlite3';
import { and, count, gte, lt, min, sql } from 'drizzle-orm';
import { instantBytesMax, instantMs } from '../../contract/time.ts';
import { firstValue } from '../tables/query.ts';
import { documentExports } from '../tables/schema.ts';
import { prepareArrays, prepareValue, select } from '../tables/statement.ts';

/** How many exports went from one connection to another. */
export interface Flow {
  readonly sourceId: number | null;
  readonly destinationId: number | null;
  readonly count: number;
}

/** The document exports, counted in the ways in which people ask for them. */
export interface ExportTally {
  /** By the day in UTC, `2026-11-20`, the oldest first. */
  readonly days: readonly { readonly day: string; readonly count: number }[];
  /** Exports whose time is missing or can't be read. */
  readonly undated: number;
  /** The most frequent first. */
  readonly flows: readonly Flow[];
  /** The most frequent first; null is for exports without a kind. */
  readonly kinds: readonly { readonly kind: string | null; readonly count: number }[];
  /** Exports of kinds that were not counted one by one, for there are too many kinds. */
  readonly otherKinds: number;
}

/** So many rows are counted before others get their turn. Small groups are sorted fast: ten times as many take thrice as long. */
const rowsPerTurn = 20_000;
/** More kinds than this are no kinds but texts; they are not kept one by one. */
const kindsMax = 10_000;
/** More days than this are not looked for; exports of other days count as undated. */
const daysMax = 100_000;

type Group = [sourceId: number | null, destinationId: number | null, kind: string | null, count: number];

/** Counts all document exports. It yields now and then, so that a server can answer others meanwhile. */
export function* tallyExports(sqlite: Database.Database): Generator<void, ExportTally> {
  const total = firstValue(sqlite, () => select({ count: count() }).from(documentExports)) ?? 0;
  const days = yield* tallyDays(sqlite);
  const undated = total - days.reduce((sum, { count }) => sum + count, 0);
  return { days, undated, ...(yield* tallyGroups(sqlite)) };
}

const { id, exportedAt, sourceConnectionId, destinationConnectionId, sourceDocumentKind } = documentExports;

function oneOfNextDay(from: string) {
  return select({ exportedAt: sql<string>`${exportedAt}` })
    .from(documentExports)
    .where(and(gte(exportedAt, from), sql`${exportedAt} glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'`))
    .orderBy(exportedAt)
    .limit(1);
}

const ofDay = 'exported_at >= @from AND exported_at < @to';
/** Of a text that begins with a day of the calendar: that it names a time of that day in UTC, in the usual notations. */
const isPlain = `exported_at < @day || 'T24' AND (exported_at GLOB '??????????T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z'
  OR exported_at GLOB '??????????T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]Z')`;
// By hand: a day is bound once and stands in several places.
const plainOfDay = `SELECT count(*) AS "all", total(${isPlain}) AS plain FROM document_exports WHERE ${ofDay}`;
// By hand: the same.
const othersOfDay = `SELECT exported_at AS text, count(*) AS count FROM document_exports
  WHERE ${ofDay} AND NOT (${isPlain}) AND octet_length(exported_at) <= ${instantBytesMax}
  GROUP BY exported_at ORDER BY exported_at LIMIT ${rowsPerTurn}`;

/** All texts that begin with a day, from the first of them or a later one. */
interface TextsOfDay {
  readonly day: string;
  readonly from: string;
  readonly to: string;
}

/** Goes from day to day by the index on the time: reading a million texts one by one would take ten times as long. */
function* tallyDays(sqlite: Database.Database): Generator<void, { day: string; count: number }[]> {
  const next = prepareValue(sqlite, oneOfNextDay);
  const countOf = sqlite.prepare<[TextsOfDay], { all: number; plain: number }>(plainOfDay);
  const counts = new Map<string, number>();
  const add = (day: string, count: number) => counts.set(day, count + (counts.get(day) ?? 0));
  let from = '';
  for (let looked = 0; looked < daysMax; looked++) {
    const day = next.get(from)?.slice(0, 10);
    if (day === undefined) break;
    const texts = { day, from: day, to: afterAllThatBeginWith(day) };
    from = texts.to;
    if (instantMs(day) === null) continue;
    const { all, plain } = countOf.get(texts) ?? { all: 0, plain: 0 };
    if (plain > 0) add(day, plain);
    if (all > plain) yield* tallyOthers(sqlite, texts, add);
    if (looked % 100 === 99) yield;
  }
  return [...counts].map(([day, count]) => ({ day, count })).sort((a, b) => (a.day < b.day ? -1 : 1));
}

/** Reads the texts of a day in other notations one by one: with their zone, their day in UTC may be the one before or after. */
function* tallyOthers(
  sqlite: Database.Database,
  texts: TextsOfDay,
  add: (day: string, count: number) => void,
): Generator<void> {
  const some = sqlite.prepare<[TextsOfDay], { text: string; count: number }>(othersOfDay);
  for (let { from } = texts; from < texts.to; ) {
    const others = some.all({ ...texts, from });
    for (const { text, count } of others) {
      const ms = instantMs(text);
      if (ms !== null) add(new Date(ms).toISOString().slice(0, 10), count);
    }
    const last = others.at(-1);
    from = last === undefined ? texts.to : `${last.text}\u0000`;
    yield;
  }
}

function afterAllThatBeginWith(text: string): string {
  return text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
}

function groupsOfSome(from: number, to: number) {
  const of = [sourceConnectionId, destinationConnectionId, sourceDocumentKind] as const;
  return select({ source: of[0], destination: of[1], kind: of[2], count: count() })
    .from(documentExports)
    .where(and(gte(id, from), lt(id, to)))
    .groupBy(...of);
}

function nextId(from: number) {
  return select({ id: min(id) })
    .from(documentExports)
    .where(gte(id, from));
}

function* tallyGroups(
  sqlite: Database.Database,
): Generator<void, Pick<ExportTally, 'flows' | 'kinds' | 'otherKinds'>> {
  const next = prepareValue(sqlite, nextId);
  const some = prepareArrays<[number, number], Group>(sqlite, groupsOfSome);
  const flows = new Map<string, Flow>();
  const kinds = new Map<string | null, number>();
  let otherKinds = 0;
  for (let from = next.get(0) ?? null; from !== null; from = next.get(from + rowsPerTurn) ?? null) {
    for (const [sourceId, destinationId, kind, rowCount] of some.all(from, from + rowsPerTurn)) {
      const flow = `${sourceId} ${destinationId}`;
      flows.set(flow, { sourceId, destinationId, count: rowCount + (flows.get(flow)?.count ?? 0) });
      if (kinds.size >= kindsMax && !kinds.has(kind)) otherKinds += rowCount;
      else kinds.set(kind, rowCount + (kinds.get(kind) ?? 0));
    }
    yield;
  }
  return {
    flows: [...flows.values()].sort(byCount),
    kinds: [...kinds].map(([kind, count]) => ({ kind, count })).sort(byCount),
    otherKinds,
  };
}

function byCount(a: { count: number }, b: { count: number }): number {
  return b.count - a.count;
}
