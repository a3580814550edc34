import { expect, onTestFinished, test } from 'vitest';
import type { ResourceName } from '../../../src/contract/lists.ts';
import { openInMemory } from '../../../src/store/file/open-to-write.ts';
import { ConnectionClaims } from '../../../src/store/tables/connection-claims.ts';
import { ConnectionTable } from '../../../src/store/tables/connection-table.ts';

interface Word {
  readonly id?: number;
  readonly name?: string | null;
  readonly extra?: string | null;
  readonly time?: string | null;
}

function claimsOf(words: readonly Word[]): ConnectionClaims {
  const claims = new ConnectionClaims();
  for (const { id = 9, name = null, extra = null, time = null } of words)
    claims.offer({ id, name, extra }, time);
  return claims;
}

/** Connections in memory, with short functions that give connection 9 a name and read it. */
function setUp() {
  const file = openInMemory();
  onTestFinished(() => file.close());
  const { sqlite } = file;
  const table = new ConnectionTable(sqlite);
  return {
    sqlite,
    table,
    whole: (list: ResourceName, ...words: Word[]) =>
      table.apply(table.changes(list, claimsOf(words), true), 1),
    part: (list: ResourceName, ...words: Word[]) =>
      table.apply(table.changes(list, claimsOf(words), false), 1),
    name: () => table.read(9)?.name,
    extra: () => table.read(9)?.extra,
    noted: () =>
      sqlite
        .prepare('SELECT resource, connection_id, name, _extra, named_at FROM _connection_names')
        .raw()
        .all(),
  };
}

const [early, late] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
const exports = 'document-exports';

test('a list that was read whole replaces what it said of connections before', () => {
  const { whole, name, noted } = setUp();
  whole(exports, { name: 'new', time: late }, { id: 8, name: 'other', time: late });
  whole(exports, { name: 'old', time: early });
  expect(name()).toBe('old');
  expect(noted()).toEqual([[exports, 9, 'old', null, early]]);
});

test('a list that was read in part adds names that are not older, by the instants of their times', () => {
  const { part, name, noted } = setUp();
  part(exports, { name: 'A', time: '2026-01-01T12:00:00Z' });
  part(exports, { name: 'older', time: '2026-01-01T12:30:00+01:00' });
  expect(name()).toBe('A');
  part(exports, { name: null, time: late });
  expect(noted()).toEqual([[exports, 9, 'A', null, '2026-01-01T12:00:00Z']]);
  part(exports, { name: 'newer', time: '2026-01-01T11:30:00-01:00' });
  expect(name()).toBe('newer');
  part('webhooks', { name: 'B' });
  part('webhooks', { name: 'C' });
  expect(name()).toBe('C');
});

test('the name is that of collections, else of webhooks, else of exports, and stays if none gives any', () => {
  const { whole, name, extra } = setUp();
  whole(exports, { name: 'E', extra: '{"x":1}', time: late });
  whole('webhooks', { name: 'W' });
  whole('collections', { name: 'C', extra: '{"y":1}' });
  expect([name(), extra()]).toEqual(['C', '{"y":1}']);
  whole('collections');
  expect([name(), extra()]).toEqual(['W', '{"x":1}']);
  whole('webhooks', { name: null });
  expect(name()).toBe('E');
  whole(exports, { name: null, time: late });
  expect([name(), extra()]).toEqual(['E', '{"x":1}']);
});

test('a version ends only if the name or the further fields are others', () => {
  const { whole } = setUp();
  expect(whole('collections', { name: 'A', extra: '{"x":1,"y":2}' })).toEqual([]);
  expect(whole('collections', { name: 'A', extra: '{"y":2,"x":1}' })).toEqual([]);
  expect(whole('webhooks', { name: 'W' })).toEqual([]);
  expect(whole('collections', { name: 'B' })).toMatchObject([
    { row: { id: 9, name: 'A' }, endedBy: 'update' },
  ]);
});

test('a connection that no record refers to goes, with all that lists say of it', () => {
  const { whole, table, sqlite, noted } = setUp();
  whole('collections', { name: 'A' }, { id: 8, name: 'B' });
  sqlite.exec(`INSERT INTO collections (id, source_connection_id, _first_seen_run_id, _changed_run_id, _content)
    VALUES (1, 8, 1, 1, zeroblob(16))`);
  expect(table.removeUnreferenced()).toMatchObject([{ row: { id: 9, name: 'A' }, endedBy: 'removal' }]);
  expect([...table.rows()]).toMatchObject([{ id: 8 }]);
  expect(noted()).toEqual([['collections', 8, 'B', null, null]]);
});
