import type Database from 'better-sqlite3';
import { count, isNull } from 'drizzle-orm';
import { firstValue } from '../tables/query.ts';
import { documentExports } from '../tables/schema.ts';
import { select } from '../tables/statement.ts';
import type { ReportPeriod, Span } from './report-period.ts';
import { type Counted, type SomeExports, Volume, type VolumeNumbers, Volumes } from './volume.ts';

/** The two connections of an export: from which one to which one. */
export interface Route {
  readonly sourceId: number | null;
  readonly destinationId: number | null;
}

/** The document exports of a period and of the one before, counted in several ways. */
export interface ExportTally {
  /**
   * The period is known up to this time, in milliseconds since 1970. Later exports are missing, because the period is not over or
   * the mirror is behind.
   */
  readonly knownMs: number;
  /** The part of the period before that is as long as the known part of this one, for comparison. */
  readonly compared: Span;
  /** Exports in each stretch of the period, and of the period before. */
  readonly counts: readonly number[];
  readonly countsBefore: readonly number[];
  readonly all: VolumeNumbers;
  /** Exports whose time is missing or can't be read. */
  readonly undated: number;
  /** The most frequent in the period first, as in the next fields. Null is for exports without one. */
  readonly sources: Counted<number | null>;
  readonly destinations: Counted<number | null>;
  readonly kinds: Counted<string | null>;
  readonly routes: Counted<Route>;
}

/** Rows that are counted before others get their turn. */
const rowsPerTurn = 20_000;

// By hand: an expression is grouped by its place.
const groupsOfSome = `SELECT source_connection_id AS sourceId, destination_connection_id AS destinationId,
    source_document_kind AS kind, min(exported_at_ms) AS firstMs, max(exported_at_ms) AS lastMs, count(*) AS count
  FROM document_exports WHERE exported_at_ms >= ? AND exported_at_ms < ? GROUP BY 1, 2, 3`;
// By hand: an index is stepped through.
const timeAfterSome = `SELECT exported_at_ms FROM document_exports WHERE exported_at_ms >= ? AND exported_at_ms < ?
  ORDER BY exported_at_ms LIMIT 1 OFFSET ${rowsPerTurn}`;

function countWithoutTime() {
  return select({ count: count() }).from(documentExports).where(isNull(documentExports.exportedAtMs));
}

interface Group extends Route {
  readonly kind: string | null;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

/** All times are between these. */
const everMs = 8.64e15;

/**
 * Counts all document exports, by the index on their time. It yields now and then, so that a server can answer others meanwhile.
 *
 * @param knownMs up to when the mirror knows the list, in milliseconds since 1970.
 */
export function* tallyExports(
  sqlite: Database.Database,
  period: ReportPeriod,
  knownMs: number,
): Generator<void, ExportTally> {
  const tally = new Tally(period, knownMs);
  const groups = sqlite.prepare<[number, number], Group>(groupsOfSome);
  const timeAfter = sqlite.prepare<[number, number], number>(timeAfterSome).pluck();
  const edges = [-everMs, ...tally.edgesMs, everMs];
  for (const [at, end] of edges.slice(1).entries()) {
    for (let from = edges[at] as number; from < end; ) {
      const next = timeAfter.get(from, end) ?? end;
      // Rows of one and the same time are read at once, even if they are more than a turn's.
      const to = next === from ? from + 1 : next;
      for (const group of groups.all(from, to)) tally.add(group);
      from = to;
      yield;
    }
  }
  return tally.result(firstValue(sqlite, countWithoutTime) ?? 0);
}

class Tally {
  /** The bounds of all stretches and of the compared part, in milliseconds since 1970, in ascending order. */
  readonly edgesMs: readonly number[];
  readonly #period: ReportPeriod;
  readonly #knownMs: number;
  readonly #now: Span;
  readonly #compared: Span;
  readonly #all: Volume;
  readonly #sources = new Volumes<number | null>();
  readonly #destinations = new Volumes<number | null>();
  readonly #kinds = new Volumes<string | null>();
  readonly #routes = new Volumes<Route>();
  /** Exports from one edge to the next; the first are those before the first edge. */
  readonly #counts: number[];

  constructor(period: ReportPeriod, knownMs: number) {
    this.#period = period;
    this.#now = period.span;
    const before = period.spanBefore;
    this.#knownMs = wholeSecond(Math.min(this.#now.toMs, Math.max(this.#now.fromMs, knownMs)));
    const cutMs = before.fromMs + (this.#knownMs - this.#now.fromMs);
    const isOver = this.#knownMs === this.#now.toMs;
    this.#compared = { fromMs: before.fromMs, toMs: isOver ? before.toMs : Math.min(before.toMs, cutMs) };
    const stretches = [...period.stretchesBefore, ...period.stretches];
    const edges = new Set([...stretches.flatMap(({ fromMs, toMs }) => [fromMs, toMs]), this.#compared.toMs]);
    this.edgesMs = [...edges].sort((a, b) => a - b);
    this.#counts = Array.from({ length: this.edgesMs.length + 1 }, () => 0);
    this.#all = new Volume();
  }

  add({ sourceId, destinationId, kind, firstMs, lastMs, count }: Group): void {
    const at = this.#placeOf(lastMs);
    this.#counts[at] = (this.#counts[at] ?? 0) + count;
    const when = this.#when(lastMs);
    if (when === 'later') return;
    const some = { when, count, firstMs, lastMs };
    this.#all.add(some);
    this.#sources.add(String(sourceId), sourceId, some);
    this.#destinations.add(String(destinationId), destinationId, some);
    this.#kinds.add(kind === null ? '' : `=${kind}`, kind, some);
    this.#routes.add(`${sourceId} ${destinationId}`, { sourceId, destinationId }, some);
  }

  #when(ms: number): SomeExports['when'] | 'later' {
    if (ms >= this.#now.toMs) return 'later';
    if (ms >= this.#now.fromMs) return 'now';
    return ms >= this.#compared.fromMs && ms < this.#compared.toMs ? 'before' : 'earlier';
  }

  /** How many edges are not after a time. */
  #placeOf(ms: number): number {
    let [low, high] = [0, this.edgesMs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.edgesMs[middle] ?? 0) <= ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #countIn({ fromMs, toMs }: Span): number {
    return this.#counts
      .slice(this.#placeOf(fromMs), this.#placeOf(toMs))
      .reduce((sum, each) => sum + each, 0);
  }

  result(withoutTime: number): ExportTally {
    const { stretches, stretchesBefore } = this.#period;
    return {
      knownMs: this.#knownMs,
      compared: this.#compared,
      counts: stretches.map(each => this.#countIn(each)),
      countsBefore: stretchesBefore.map(each => this.#countIn(each)),
      all: this.#all,
      undated: withoutTime,
      sources: this.#sources.counted(),
      destinations: this.#destinations.counted(),
      kinds: this.#kinds.counted(),
      routes: this.#routes.counted(),
    };
  }
}

function wholeSecond(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}
