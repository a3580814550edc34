import type Database from 'better-sqlite3';
import { lists, type ResourceName } from '../../contract/lists.ts';

/** A record that was found. */
export interface SearchHit {
  readonly resource: string;
  /** What the list is called. */
  readonly list: string;
  readonly recordId: number;
  /** Its title or name; null where it has none. */
  readonly title: string | null;
  /** What else tells it from others: references, version, time. */
  readonly details: readonly string[];
}

/** What a search came to. */
export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** How many records were found: there may be more than are told. */
  readonly hitCount: number;
  /** False where the time was over before everything was looked at. */
  readonly isWhole: boolean;
}

/** How far a search may go. */
export interface SearchBounds {
  readonly hitsMax: number;
  /** How long it goes on, in milliseconds. */
  readonly timeMsMax: number;
}

/** Words that are looked for; further ones are left out. */
const wordsMax = 8;
/** Rows that are looked at in one go: a few milliseconds, in which a server answers no one else. */
const rowsPerTurn = 10_000;

interface Searched {
  readonly resource: string;
  readonly list: string;
  readonly table: string;
  readonly title: string;
  /** Further columns in which the words may stand. */
  readonly references: readonly string[];
  /** Columns that are shown, but not searched. */
  readonly shown: readonly string[];
  /** By which the hits are sorted, the greatest first; null for the id, so that those that the mirror got last come first. */
  readonly order: string | null;
}

/** Where titles and references stand. An endpoint is not among them: parts of it are secret. */
const columns: Record<
  ResourceName | 'connections',
  Pick<Searched, 'title' | 'references' | 'shown' | 'order'>
> = {
  'document-exports': {
    title: 'source_document_title',
    references: ['source_document_reference', 'destination_reference'],
    shown: ['source_document_version', 'exported_at'],
    // Ids say little of when: a first sync gives them in the order of the list.
    order: 'exported_at',
  },
  collections: { title: 'name', references: [], shown: [], order: null },
  webhooks: { title: 'description', references: [], shown: [], order: null },
  connections: { title: 'name', references: [], shown: [], order: null },
};

/** The short lists first: their hits are soon found. */
const searched: readonly Searched[] = [
  { resource: 'connections', list: 'Connections', table: 'connections', ...columns.connections },
  ...lists
    .map(({ resource, title, table }) => ({ resource, list: title, table, ...columns[resource] }))
    .toReversed(),
];

type Row = readonly [
  found: number,
  order: string | null,
  id: number,
  title: string | null,
  ...details: (string | null)[],
];

/**
 * Finds records whose title and references hold all words of a text: the exports made last come first, and of another list those that
 * the mirror got last. No index is kept for it, for that would cost each sync: it goes through the rows, and yields now and then, so
 * that a server can answer others meanwhile.
 *
 * Letters of the alphabet match in either case; others, such as umlauts, as they are.
 */
export function* search(
  sqlite: Database.Database,
  text: string,
  { hitsMax, timeMsMax }: SearchBounds,
): Generator<void, SearchResult> {
  const patterns = text.split(/\s+/).filter(Boolean).slice(0, wordsMax).map(patternOf);
  const hits: SearchHit[] = [];
  let hitCount = 0;
  let isWhole = true;
  let isLate = false;
  const endsAtMs = performance.now() + timeMsMax;
  for (const place of patterns.length === 0 ? [] : searched) {
    let best: Row[] = [];
    for (const rows of slices(sqlite, place, patterns, hitsMax)) {
      isWhole = !isLate;
      if (!isWhole) break;
      hitCount += rows[0]?.[0] ?? 0;
      best = [...best, ...rows].sort(byOrder).slice(0, hitsMax);
      isLate = performance.now() > endsAtMs;
      yield;
    }
    hits.push(...best.slice(0, hitsMax - hits.length).map(row => hitOf(place, row)));
    if (!isWhole) break;
  }
  return { hits, hitCount, isWhole };
}

function byOrder([, orderA, idA]: Row, [, orderB, idB]: Row): number {
  if (orderA === orderB) return idB - idA;
  if (orderA === null || orderB === null) return orderA === null ? 1 : -1;
  return orderA < orderB ? 1 : -1;
}

function hitOf({ resource, list }: Searched, [, , recordId, title, ...details]: Row): SearchHit {
  return { resource, list, recordId, title, details: details.filter(detail => detail !== null) };
}

/** The first hits among some rows of a table at a time, from the row that came last to the first; each says how many there are. */
function* slices(
  sqlite: Database.Database,
  { table, title, references, shown, order }: Searched,
  patterns: readonly string[],
  hitsMax: number,
): Generator<Row[]> {
  const text = [title, ...references].map(column => `coalesce(${column}, '')`).join(` || char(10) || `);
  const conditions = patterns.map(() => `(${text}) LIKE ? ESCAPE '\\'`).join(' AND ');
  // By hand: a window function.
  const select = sqlite
    .prepare<(string | number)[], Row>(
      `SELECT count(*) OVER (), ${[order ?? 'NULL', 'id', title, ...references, ...shown].join(', ')} FROM ${table}
       WHERE id BETWEEN ? AND ? AND ${conditions} ORDER BY ${order ?? 'NULL'} DESC NULLS LAST, id DESC LIMIT ?`,
    )
    .raw();
  // By hand: an aggregate of a bounded subquery, over a table that is named at run time.
  const lowestOfTurn = sqlite
    .prepare<[number, number], number>(
      `SELECT min(id) FROM (SELECT id FROM ${table} WHERE id <= ? ORDER BY id DESC LIMIT ?)`,
    )
    .pluck();
  for (let highest = Number.MAX_SAFE_INTEGER; ; ) {
    const lowest = lowestOfTurn.get(highest, rowsPerTurn) ?? null;
    if (lowest === null) return;
    yield select.all(lowest, highest, ...patterns, hitsMax);
    highest = lowest - 1;
  }
}

function patternOf(word: string): string {
  return `%${word.replace(/[\\%_]/g, '\\$&')}%`;
}
