import type Database from 'better-sqlite3';
import { type Connection, connectionContent } from '../../contract/content.ts';
import { lists, type ResourceName } from '../../contract/lists.ts';
import { checkRows } from '../receipts/altered-lists.ts';
import { allRows, allValues } from '../tables/ask.ts';
import { connectionJson } from '../tables/view-sql.ts';

/** A text of a connection, and the time of the record that gives it; minus infinity if it has none. */
interface Said {
  readonly text: string;
  readonly time: number;
}

/** What a record says of its connections: the number of an entry, and that of what it says before. */
export interface Saying {
  readonly before: number;
  readonly entry: number;
}

/** How many sayings have numbers, of two bytes. If records say more, pages that come later are not remembered. */
const sayingsMax = 2 ** 16 - 1;

/** What records say of connections. The newest name counts, and of equally new ones the one that sorts last; so do further fields. */
export class ConnectionNames {
  /** What records say of one connection, each once. */
  readonly entries: Connection[] = [];
  /** The newest time of each entry: minus infinity if it has none, and NaN if no record of this run says it. */
  readonly #times: number[] = [];
  /** What records say of all their connections, each once. Pages have their numbers, from 1; 0 is nothing. */
  readonly sayings: Saying[] = [];
  /** By the number of a saying: the numbers of those with one entry more, by that. */
  readonly #longer: Map<number, number>[] = [];
  /** For each connection, the number of the entry that came last, and those of all its entries by their texts. */
  readonly #numbers = new Map<number, { last: number; readonly byText: Map<string, number> }>();

  /** @param known what remembered pages say. */
  constructor(known: { readonly names: readonly Connection[]; readonly sayings: readonly Saying[] }) {
    for (const entry of known.names) this.#numberOf(entry);
    for (const { before, entry } of known.sayings) this.#sayingOf(before, entry);
  }

  /** Whether there is no number for what another record says. */
  get isFull(): boolean {
    return this.sayings.length >= sayingsMax;
  }

  /** The number of an entry; a new one gets the next number. */
  #numberOf(said: Connection): number {
    const { id, name, extra } = said;
    const known = this.#numbers.get(id) ?? { last: this.entries.length, byText: new Map() };
    const last = this.entries[known.last];
    if (last?.name === name && last.extra === extra) return known.last;
    const text = `${name?.length ?? ''}:${name}${extra}`;
    const number = known.byText.get(text) ?? this.entries.push(said) - 1;
    if (number === this.#times.length) this.#times.push(Number.NaN);
    known.byText.set(text, number);
    known.last = number;
    this.#numbers.set(id, known);
    return number;
  }

  /** The number of a saying; 0 for a new one if there is no number left. */
  #sayingOf(before: number, entry: number): number {
    const longer = this.#longer[before] ?? new Map<number, number>();
    const known = longer.get(entry);
    if (known !== undefined) return known;
    if (this.isFull) return 0;
    this.#longer[before] = longer;
    const number = this.sayings.push({ before, entry });
    longer.set(entry, number);
    return number;
  }

  /** Enters what a record of that time says, and returns its number. Names are as old as their records. */
  enter(mentions: readonly Connection[], time: number): number {
    let said = 0;
    for (const mention of mentions) {
      const entry = this.#numberOf(mention);
      this.#note(entry, time);
      said = this.#sayingOf(said, entry);
    }
    return said;
  }

  /** Enters what a record of that time says, by its number. */
  enterAgain(said: number, time: number): void {
    for (let left = said; left > 0; ) {
      const { before, entry } = this.sayings[left - 1] as Saying;
      this.#note(entry, time);
      left = before;
    }
  }

  /** What a record says, by its number. */
  mentionsOf(said: number): readonly Connection[] {
    const mentions: Connection[] = [];
    for (let left = said; left > 0; ) {
      const { before, entry } = this.sayings[left - 1] as Saying;
      mentions.push(this.entries[entry] as Connection);
      left = before;
    }
    return mentions.reverse();
  }

  #note(entry: number, time: number): void {
    const isOld = time <= (this.#times[entry] as number);
    if (!isOld) this.#times[entry] = time;
  }

  /** For each connection its newest name and further fields. */
  #newest(): Map<number, { readonly name: Said | null; readonly extra: Said | null }> {
    const newest = new Map<number, { readonly name: Said | null; readonly extra: Said | null }>();
    for (const [number, { id, name, extra }] of this.entries.entries()) {
      const time = this.#times[number] as number;
      if (Number.isNaN(time)) continue;
      const known = newest.get(id) ?? { name: null, extra: null };
      newest.set(id, { name: newerOf(known.name, name, time), extra: newerOf(known.extra, extra, time) });
    }
    return newest;
  }

  /** Writes what a list says of connections, and the rows of new ones. If it is all that the list says, it replaces what is known. */
  write(sqlite: Database.Database, resource: ResourceName, runId: number, isWhole: boolean): void {
    if (isWhole) sqlite.prepare('DELETE FROM _connection_names WHERE resource = ?').run(resource);
    const upsert = `INSERT INTO _connection_names (resource, connection_id, name, _extra, named_at)
      VALUES (@resource, @id, @name, @extra, @namedAt) ON CONFLICT DO UPDATE SET
        name = iif(${isNewer('name', '@namedAt')}, @name, name),
        named_at = iif(${isNewer('name', '@namedAt')}, @namedAt, named_at),
        _extra = iif(_extra IS NULL OR ${isNewer('extra', '@extraAt')}, @extra, _extra)`;
    const write = sqlite.prepare(upsert);
    for (const [id, { name, extra }] of this.#newest()) {
      const texts = { name: name?.text ?? null, extra: extra?.text ?? null };
      write.run({ resource, id, ...texts, namedAt: dateOf(name), extraAt: dateOf(extra) });
    }
    const added = `SELECT id, ${givenTo('name')} AS name, ${givenTo('_extra')} AS extra
      FROM (SELECT connection_id AS id, NULL AS name, NULL AS _extra FROM _connection_names WHERE resource = ?) c
      WHERE id NOT IN (SELECT id FROM connections)`;
    for (const each of allRows<Connection>(sqlite, added, resource)) insertConnection(sqlite, each, runId);
  }
}

function newerOf(known: Said | null, text: string | null, time: number): Said | null {
  if (text === null) return known;
  const isNewer = known === null || time > known.time || (time === known.time && text > known.text);
  return isNewer ? { text, time } : known;
}

/** A time for comparing: minus infinity if it is none. */
export const comparable = (ms: number): number => (Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms);

const isNewer = (text: 'name' | 'extra', at: string) =>
  `@${text} IS NOT NULL AND coalesce(${at}, '') >= coalesce(named_at, '')`;

function dateOf(said: Said | null): string | null {
  return said !== null && Number.isFinite(said.time) ? new Date(said.time).toISOString() : null;
}

/** The name or the further fields of the connection `c`: of the list that counts most of those that give any; or as it has them. */
function givenTo(column: 'name' | '_extra'): string {
  const ranked = lists.toSorted((a, b) => b.connectionNameRank - a.connectionNameRank);
  const given = ranked.map(
    ({ resource }) =>
      `(SELECT ${column} FROM _connection_names WHERE resource = '${resource}' AND connection_id = c.id)`,
  );
  return `coalesce(${given.join(', ')}, c.${column})`;
}

function insertConnection(sqlite: Database.Database, connection: Connection, runId: number): void {
  const { id, name, extra } = connection;
  const insert =
    'INSERT INTO connections (id, name, _first_seen_run_id, _changed_run_id, _extra, _content) VALUES (?, ?, ?, ?, ?, ?)';
  sqlite.prepare(insert).run(id, name, runId, runId, extra, connectionContent(connection));
}

/** Removes the connections that no record refers to, and calls the others as their lists do; to be called at the end of a run. */
export function updateConnections(sqlite: Database.Database, runId: number): void {
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
  const renamed = `SELECT id, given AS name, further AS extra, _content AS content
    FROM (SELECT *, ${givenTo('name')} AS given, ${givenTo('_extra')} AS further FROM connections c)
    WHERE given IS NOT name OR further IS NOT _extra`;
  for (const row of allRows<Connection & { readonly content: Buffer | null }>(sqlite, renamed)) {
    const { id, name, extra } = row;
    const content = connectionContent(row);
    // Nulls among the further fields, and their order, do not count.
    if (row.content?.equals(content)) continue;
    endVersion.run({ runId, id });
    update.run(name, runId, extra, content, id);
  }
}

/** For a rebuild: drops connections that are altered or that no record refers to, makes missing ones, and returns how many these are. */
export function dropAlteredConnections(sqlite: Database.Database, runId: number): number {
  sqlite.exec('DELETE FROM _connection_names');
  const unreferenced = `SELECT c.id FROM connections c WHERE ${isUnreferenced}`;
  const dropped = new Set(allValues<number>(sqlite, unreferenced));
  for (const { altered } of checkRows(sqlite, { resource: 'connections' }))
    for (const id of altered) dropped.add(id);
  for (const id of dropped) sqlite.prepare('DELETE FROM connections WHERE id = ?').run(id);
  const referred = referring
    .map(({ table, column }) => `SELECT ${column} AS id FROM ${table}`)
    .join(' UNION ');
  const missing = `SELECT id FROM (${referred}) r WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM connections WHERE id = r.id) ORDER BY id`;
  for (const id of allValues<number>(sqlite, missing)) {
    insertConnection(sqlite, { id, name: null, extra: null }, runId);
    dropped.add(id);
  }
  return dropped.size;
}

const referring = lists.flatMap(list =>
  list.fields.flatMap(field => {
    if (field.kind !== 'connection' && field.kind !== 'connections') return [];
    return [{ table: 'table' in field ? field.table : list.table, column: field.column }];
  }),
);

/** A condition: no record refers to the connection `c`. */
const isUnreferenced = referring
  .map(({ table, column }) => `NOT EXISTS (SELECT 1 FROM ${table} WHERE ${column} = c.id)`)
  .join(' AND ');
