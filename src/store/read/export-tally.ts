import type Database from 'better-sqlite3';
import { instantBytesMax, instantMs } from '../../contract/time.ts';

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
  const total = sqlite.prepare<[], number>('SELECT count(*) FROM document_exports').pluck().get() ?? 0;
  const days = yield* tallyDays(sqlite);
  const undated = total - days.reduce((sum, { count }) => sum + count, 0);
  return { days, undated, ...(yield* tallyGroups(sqlite)) };
}

const oneOfNextDay = `SELECT exported_at FROM document_exports
  WHERE exported_at >= ? AND exported_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
  ORDER BY exported_at LIMIT 1`;
const ofDay = 'exported_at >= @from AND exported_at < @to';
/** Of a text that begins with a day of the calendar: that it names a time of that day in UTC, in the usual notations. */
const isPlain = `exported_at < @day || 'T24' AND (exported_at GLOB '??????????T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z'
  OR exported_at GLOB '??????????T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]Z')`;
const plainOfDay = `SELECT count(*) AS "all", total(${isPlain}) AS plain FROM document_exports WHERE ${ofDay}`;
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
  const next = sqlite.prepare<[string], string>(oneOfNextDay).pluck();
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

const groupsOfSome = `SELECT source_connection_id, destination_connection_id, source_document_kind, count(*)
  FROM document_exports WHERE id >= ? AND id < ? GROUP BY 1, 2, 3`;
const nextId = 'SELECT min(id) FROM document_exports WHERE id >= ?';

function* tallyGroups(
  sqlite: Database.Database,
): Generator<void, Pick<ExportTally, 'flows' | 'kinds' | 'otherKinds'>> {
  const next = sqlite.prepare<[number], number | null>(nextId).pluck();
  const some = sqlite.prepare<[number, number], Group>(groupsOfSome).raw();
  const flows = new Map<string, Flow>();
  const kinds = new Map<string | null, number>();
  let otherKinds = 0;
  for (let id = next.get(0) ?? null; id !== null; id = next.get(id + rowsPerTurn) ?? null) {
    for (const [sourceId, destinationId, kind, count] of some.all(id, id + rowsPerTurn)) {
      const flow = `${sourceId} ${destinationId}`;
      flows.set(flow, { sourceId, destinationId, count: count + (flows.get(flow)?.count ?? 0) });
      if (kinds.size >= kindsMax && !kinds.has(kind)) otherKinds += count;
      else kinds.set(kind, count + (kinds.get(kind) ?? 0));
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
