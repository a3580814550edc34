import type Database from 'better-sqlite3';
import {
  columnsOfConnection,
  connectionContent,
  type NameAndExtra,
  type StoredConnection,
} from '../../contract/content.ts';
import { lists, type ResourceName } from '../../contract/lists.ts';
import type { ConnectionMention, MirrorRecord } from '../../contract/record.ts';
import { keyOfTime } from '../../contract/record-key.ts';
import {
  type ConnectionRow,
  ConnectionTable,
  isAsWritten,
  isUnreferenced,
  missingConnections,
  saidIn,
} from '../tables/connection-table.ts';
import { connectionJson } from '../tables/view-sql.ts';

/** What a record says of a connection: its id, its name and its further fields. */
export type NameEntry = readonly [id: number, name: string | null, extra: string | null];

/** A text, and when it was given. */
interface Said {
  readonly text: string;
  /** The time of the record that gives it; minus infinity if it has none. */
  readonly time: number;
  readonly round: number;
}

/** The newest name and further fields of a connection. */
interface Newest {
  name: Said | null;
  extra: Said | null;
}

/**
 * What the records of a list say of connections. The newest name counts. Of equally new ones it is the one of the later reading, and
 * then the one that sorts last, so that the outcome does not depend on the order in which pages arrive. Further fields follow the same
 * rule.
 */
export class SaidNames {
  /** What records say, each once. Pages have the numbers of entries. */
  readonly entries: NameEntry[] = [];
  readonly #numbers = new Map<number, number[]>();
  readonly #newest = new Map<number, Newest>();
  #round = 0;

  /** @param entries those of remembered pages. */
  constructor(entries: readonly NameEntry[]) {
    for (const [id, name, extra] of entries) this.#numberOf({ id, name, extra });
  }

  beginRound(): void {
    this.#round++;
  }

  /** The number of an entry; a new one gets the next number. */
  #numberOf({ id, name, extra }: ConnectionMention): number {
    const known = this.#numbers.get(id) ?? [];
    for (const number of known) {
      const entry = this.entries[number] as NameEntry;
      if (entry[1] === name && entry[2] === extra) return number;
    }
    this.#numbers.set(id, [...known, this.entries.length]);
    this.entries.push([id, name, extra]);
    return this.entries.length - 1;
  }

  /** Enters what a page's records say, and returns it, as `enter` takes it. */
  read(
    records: readonly MirrorRecord[],
    places: readonly number[],
    timeAt: (place: number) => number,
  ): Int32Array {
    const newest = new Map<number, number>();
    for (const [at, { mentions }] of records.entries()) {
      const place = places[at] as number;
      for (const mention of mentions) {
        const number = this.#numberOf(mention);
        const known = newest.get(number);
        if (known === undefined || timeAt(place) > timeAt(known)) newest.set(number, place);
      }
    }
    const pairs = Int32Array.from([...newest].flat());
    this.enter(pairs, timeAt);
    return pairs;
  }

  /**
   * Enters what a page says.
   *
   * @param pairs each the number of an entry, and the place of its newest record.
   * @param timeAt the time of the record at a place.
   */
  enter(pairs: Int32Array, timeAt: (place: number) => number): void {
    for (let at = 0; at < pairs.length; at += 2) {
      const [id, name, extra] = this.entries[pairs[at] as number] as NameEntry;
      const time = timeAt(pairs[at + 1] as number);
      const newest = this.#newest.get(id) ?? { name: null, extra: null };
      newest.name = newerOf(newest.name, name, time, this.#round);
      newest.extra = newerOf(newest.extra, extra, time, this.#round);
      this.#newest.set(id, newest);
    }
  }

  /** The newest of each connection. */
  get newest(): ReadonlyMap<number, Readonly<Newest>> {
    return this.#newest;
  }
}

function newerOf(known: Said | null, text: string | null, time: number, round: number): Said | null {
  if (text === null) return known;
  if (known === null) return { text, time, round };
  const isNewer = time - known.time || round - known.round || (text > known.text ? 1 : 0);
  return isNewer > 0 ? { text, time, round } : known;
}

/** A time for comparing: minus infinity if it is none. */
export const comparable = (ms: number): number => (Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms);

/** Pages with the numbers of new entries that have only what these pages say. */
export function compacted<Page extends { readonly names: Int32Array }>(
  pages: readonly Page[],
  { entries }: SaidNames,
): { pages: Page[]; entries: NameEntry[] } {
  const numbers = new Map<number, number>();
  const numberOf = (number: number) => {
    const known = numbers.get(number) ?? numbers.size;
    numbers.set(number, known);
    return known;
  };
  const renumbered = pages.map(page => {
    const names = page.names.map((value, at) => (at % 2 === 0 ? numberOf(value) : value));
    return { ...page, names };
  });
  return { pages: renumbered, entries: [...numbers.keys()].map(number => entries[number] as NameEntry) };
}

/** The name and further fields that a list gives to a connection. */
interface Given extends NameAndExtra {
  /** The time of the record that gave the name; null in lists without a time. */
  readonly namedAt: string | null;
}

/** The lists, those first whose names count most. */
const ranked = lists.toSorted((a, b) => b.connectionNameRank - a.connectionNameRank);

/** The name and further fields that each list gives to each connection. */
export class ConnectionNames {
  readonly #sqlite: Database.Database;
  readonly #given = new Map<number, Map<string, Given>>();

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    type Row = Given & { readonly resource: string; readonly id: number };
    const rows = sqlite.prepare<[], Row>(
      'SELECT resource, connection_id AS id, name, _extra AS extra, named_at AS namedAt FROM _connection_names',
    );
    for (const { resource, id, namedAt, ...columns } of rows.iterate())
      this.#ofOne(id).set(resource, { ...saidIn(columns), namedAt });
  }

  /**
   * Enters what a list says; nothing is written.
   *
   * @param isWhole whether it is all that the list says: it then replaces what is known. Otherwise newer texts are added.
   */
  enter(resource: ResourceName, { newest }: SaidNames, isWhole: boolean): void {
    if (isWhole) for (const given of this.#given.values()) given.delete(resource);
    for (const [id, { name, extra }] of newest) {
      const known = this.#ofOne(id).get(resource) ?? { name: null, extra: null, namedAt: null };
      const since = comparable(keyOfTime(known.namedAt));
      const isName = name !== null && name.time >= since;
      const isExtra = extra !== null && (known.extra === null || extra.time >= since);
      this.#ofOne(id).set(resource, {
        name: isName ? name.text : known.name,
        namedAt: isName
          ? Number.isFinite(name.time)
            ? new Date(name.time).toISOString()
            : null
          : known.namedAt,
        extra: isExtra ? extra.text : known.extra,
      });
    }
  }

  /** Writes what a list gives, and the rows of connections that are new. */
  write(resource: ResourceName, runId: number): void {
    this.#sqlite.prepare('DELETE FROM _connection_names WHERE resource = ?').run(resource);
    const write = this.#sqlite.prepare(
      'INSERT INTO _connection_names (resource, connection_id, name, _extra, named_at) VALUES (?, ?, ?, ?, ?)',
    );
    const connections = new ConnectionTable(this.#sqlite);
    for (const [id, ofLists] of this.#given) {
      const given = ofLists.get(resource);
      if (given === undefined) continue;
      const { name, extra } = columnsOfConnection(given);
      write.run(resource, id, name, extra, given.namedAt);
      if (connections.read(id) === undefined) insertConnection(this.#sqlite, this.believedOf(id), runId);
    }
  }

  /** A connection as it is to be called: the name and the further fields are each of the first list that gives any, or stay. */
  believedOf(id: number, row: NameAndExtra = { name: null, extra: null }): StoredConnection {
    const given = this.#given.get(id);
    const all = [...ranked.flatMap(list => given?.get(list.resource) ?? []), saidIn(row)];
    const name = all.find(each => each.name !== null)?.name ?? null;
    const extra = all.find(each => each.extra !== null)?.extra ?? null;
    return { id, ...columnsOfConnection({ name, extra }) };
  }

  /** The connections that are to be called otherwise. Nulls among the further fields, and their order, do not count. */
  renamed(): { readonly row: ConnectionRow; readonly after: StoredConnection }[] {
    return [...new ConnectionTable(this.#sqlite).rows()].flatMap(row => {
      const after = this.believedOf(row.id, row);
      if (after.name === row.name && after.extra === row.extra) return [];
      return connectionContent(row).equals(connectionContent(after)) ? [] : [{ row, after }];
    });
  }

  #ofOne(id: number): Map<string, Given> {
    const known = this.#given.get(id) ?? new Map<string, Given>();
    this.#given.set(id, known);
    return known;
  }
}

/** Inserts a connection's row. */
function insertConnection(sqlite: Database.Database, connection: StoredConnection, runId: number): void {
  const { id, name, extra } = connection;
  sqlite
    .prepare(
      `INSERT INTO connections (id, name, _first_seen_run_id, _changed_run_id, _extra, _content) VALUES (?, ?, ?, ?, ?, ?)`,
    )
    .run(id, name, runId, runId, extra, connectionContent(connection));
}

/** Removes the connections that no record refers to, and calls the others as their lists do; to be called at the end of a run. */
export function settleConnections(sqlite: Database.Database, runId: number): void {
  const end = (endedBy: string, condition: string) =>
    sqlite.prepare(
      `INSERT INTO record_history (resource, record_id, first_seen_run_id, valid_from_run_id, valid_to_run_id, ended_by, record, content)
       SELECT 'connections', c.id, c._first_seen_run_id, c._changed_run_id, @runId, '${endedBy}', ${connectionJson}, c._content
       FROM connections c WHERE c._changed_run_id <> @runId AND ${condition}`,
    );
  end('removal', isUnreferenced).run({ runId });
  sqlite.exec(`DELETE FROM connections AS c WHERE ${isUnreferenced};
    DELETE FROM _connection_names WHERE connection_id NOT IN (SELECT id FROM connections)`);
  const endVersion = end('update', 'c.id = @id');
  const update = sqlite.prepare(
    'UPDATE connections SET name = ?, _changed_run_id = ?, _extra = ?, _content = ? WHERE id = ?',
  );
  for (const { after } of new ConnectionNames(sqlite).renamed()) {
    const { id, name, extra } = after;
    endVersion.run({ runId, id });
    update.run(name, runId, extra, connectionContent(after), id);
  }
}

/**
 * Prepares the connections for a run that reads all lists again after another program altered them. A row whose columns do not match
 * its content is removed, as is a row that no record refers to. Missing rows that records refer to are made again, without a name.
 *
 * @returns how many rows were removed or made.
 */
export function dropAlteredConnections(sqlite: Database.Database, runId: number): number {
  sqlite.exec('DELETE FROM _connection_names');
  const dropped = new Set(
    sqlite.prepare<[], number>(`SELECT c.id FROM connections c WHERE ${isUnreferenced}`).pluck().all(),
  );
  for (const row of new ConnectionTable(sqlite).rows()) if (!isAsWritten(row)) dropped.add(row.id);
  for (const id of dropped) sqlite.prepare('DELETE FROM connections WHERE id = ?').run(id);
  for (const id of missingConnections(sqlite)) {
    insertConnection(sqlite, { id, name: null, extra: null }, runId);
    dropped.add(id);
  }
  return dropped.size;
}
