import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Folders that are not about one room. `clickhouse` is installed apart. */
const ofNoRoom = ['clickhouse', 'docs', 'simulation', 'support'];
const alone = ['architecture.test.ts', 'package.long.test.ts', 'printable.test.ts', 'sql-by-hand.test.ts'];

test('tests lie in folders that mirror the rooms', () => {
  const entries = readdirSync(join(root, 'test'), { withFileTypes: true });
  const folders = entries.filter(entry => entry.isDirectory()).map(({ name }) => name);
  const isRoom = (name: string) => existsSync(join(root, 'src', name));
  expect(folders.filter(name => !isRoom(name) && !ofNoRoom.includes(name))).toEqual([]);
  const inStore = readdirSync(join(root, 'test', 'store'), { withFileTypes: true });
  const rooms = inStore.filter(entry => entry.isDirectory()).map(({ name }) => `store/${name}`);
  expect(rooms.filter(name => !isRoom(name))).toEqual([]);
  expect(
    entries
      .filter(entry => entry.isFile())
      .map(({ name }) => name)
      .sort(),
  ).toEqual(alone);
});
