import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Ask, answerTo } from './answers.ts';
import { Disk } from './disk.ts';
import { readAsOf, readMirror } from './mirror-rows.ts';
import { differencesIn, runOnce } from './run-real.ts';
import { listNames, plainList, plainService } from './scenario.ts';
import { World } from './world.ts';

const list = { ...plainList, size: 7, doubles: [{ at: 1, of: 0, text: 0 }] };

test('the tables have what the service lists, and rows and history together have its earlier states', async () => {
  using disk = new Disk();
  using place = disk.place();
  const lists = { 'document-exports': list, collections: list, webhooks: list };
  const world = new World({ connections: 6, synced: listNames, lists });
  const ask = async (asked: Ask) =>
    answerTo(asked, world.lists[asked.list], {
      ...plainService,
      ties: 1,
      nameOf: id => world.nameOf(asked.list, id),
      answerNo: 1,
      lag: 0,
    });
  const run = async () => {
    await runOnce({
      path: place.path,
      lists: listNames,
      pageSize: null,
      concurrency: 1,
      isIncremental: false,
      isGuarded: false,
      keepHours: null,
      ask,
      clock: () => new Date(),
      rebuilt() {},
      event() {},
      signal: new AbortController().signal,
    });
    return readMirror(place.path);
  };

  const first = await run();
  for (const name of listNames) {
    expect(first.lists[name], name).toEqual(world.lists[name].now);
    for (const kind of ['update', 'relink', 'remove', 'insert'] as const)
      world.change({ list: name, kind, at: listNames.indexOf(name) + 2, to: 2 });
  }
  const second = await run();
  for (const name of listNames) expect(second.lists[name], name).toEqual(world.lists[name].now);
  expect(second.connections).toEqual(world.connectionNames());
  expect(readAsOf(place.path)(first.runId)).toEqual(first.lists);
  expect(readAsOf(place.path)(second.runId)).toEqual(second.lists);
  expect(await differencesIn(place.path)).toEqual([]);

  using database = opened(place.path);
  database.it.exec("UPDATE record_history SET record = replace(record, 'title 0', 'title 9')");
  expect(readAsOf(place.path)(first.runId)).not.toEqual(first.lists);
  expect(await differencesIn(place.path)).not.toEqual([]);
});

function opened(path: string) {
  const it = new Database(path);
  return { it, [Symbol.dispose]: () => it.close() };
}
