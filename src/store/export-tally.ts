import type Database from 'better-sqlite3';

/** How many exports went from one connection to another. */
export interface Flow {
  readonly sourceId: number | null;
  readonly destinationId: number | null;
  readonly count: number;
}

/** The document exports, counted in the ways in which people ask for them. */
export interface ExportTally {
  /** By the day in the service's own time, `2026-11-20`, the oldest first. */
  readonly days: readonly { readonly day: string; readonly count: number }[];
  /** Exports whose time is missing or begins with no date. */
  readonly undated: number;
  /** The most frequent first. */
  readonly flows: readonly Flow[];
  /** The most frequent first; null is for exports without a kind. */
  readonly kinds: readonly { readonly kind: string | null; readonly count: number }[];
  /** Exports of kinds that were not counted one by one, for there are too many kinds. */
  readonly otherKinds: number;
}

/** So many rows are counted before others get their turn. */
const rowsPerTurn = 20_000;
/** More kinds than this are no kinds but texts; they are not kept one by one. */
const kindsMax = 10_000;

const everyExport = `SELECT source_connection_id, destination_connection_id, source_document_kind, substr(exported_at, 1, 10)
  FROM document_exports`;

type Row = [sourceId: number | null, destinationId: number | null, kind: string | null, day: string | null];

/**
 * Counts all document exports in one pass: grouping in SQL would sort a million rows for each question, at twice the time.
 * It yields now and then, so that a server can answer others meanwhile.
 */
export function* tallyExports(sqlite: Database.Database): Generator<void, ExportTally> {
  const flows = new Map<number | null, Map<number | null, number>>();
  const kinds = new Map<string | null, number>();
  const days = new Map<string | null, number>();
  let otherKinds = 0;
  let rows = 0;
  const select = sqlite.prepare<[], Row>(everyExport).raw();
  for (const [sourceId, destinationId, kind, day] of select.iterate()) {
    let destinations = flows.get(sourceId);
    if (destinations === undefined) flows.set(sourceId, (destinations = new Map()));
    add(destinations, destinationId);
    if (kinds.size < kindsMax || kinds.has(kind)) add(kinds, kind);
    else otherKinds++;
    add(days, day);
    if (++rows % rowsPerTurn === 0) yield;
  }
  const dated = [...days].flatMap(([day, count]) => (day !== null && isDay(day) ? [{ day, count }] : []));
  return {
    days: dated.sort((a, b) => (a.day < b.day ? -1 : 1)),
    undated: rows - dated.reduce((sum, { count }) => sum + count, 0),
    flows: [...flows]
      .flatMap(([sourceId, counts]) =>
        [...counts].map(([destinationId, count]) => ({ sourceId, destinationId, count })),
      )
      .sort((a, b) => b.count - a.count),
    kinds: [...kinds].map(([kind, count]) => ({ kind, count })).sort((a, b) => b.count - a.count),
    otherKinds,
  };
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}
