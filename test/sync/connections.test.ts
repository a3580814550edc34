import { describe, expect, test } from 'vitest';
import type { ListDefinition } from '../../src/contract/lists.ts';
import { syncScene } from '../support/in-process.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection, documentExport, webhook } from '../support/stand-in.ts';

type Records = Partial<Record<ListDefinition['resource'], readonly object[]>>;

/** The name of connection 9 in the mirror after each run, if the service lists these records one after the other. */
async function saidOver(...states: readonly Records[]): Promise<unknown[]> {
  await using scene = await setScene({}, { exports: 1, collections: 1, webhooks: 1 });
  for (const resource of ['document-exports', 'collections', 'webhooks'] as const)
    scene.service.lists[resource].length = 0;
  const said: unknown[] = [];
  for (const state of states) {
    let isEmptied = false;
    for (const resource of ['document-exports', 'collections', 'webhooks'] as const) {
      const records = (state[resource] ?? []) as never[];
      const before = scene.service.lists[resource].splice(0, Number.POSITIVE_INFINITY, ...records);
      isEmptied ||= records.length === 0 && before.length > 0;
    }
    // An emptied list is believed if the next run finds it empty, too.
    if (isEmptied) expect(await syncScene(scene, { allowMassRemoval: true })).toMatchObject({ code: 3 });
    expect(await syncScene(scene, { allowMassRemoval: true })).toMatchObject({ code: 0 });
    said.push(await connectionIn(scene));
  }
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
  return said;
}

/** Name and further fields of connection 9; the service and the mirror must agree on both. */
async function connectionIn(scene: Scene): Promise<unknown> {
  expect(await scene.run('verify', '--live')).toMatchObject({ code: 0 });
  const [row] = sqlite(scene.database, 'SELECT name, _extra FROM connections WHERE id = 9');
  return row === undefined ? null : [row.name, row._extra];
}

const refers = (sourceConnection: object) => ({ sourceConnection, destinationConnection: null });
const exported = (at: number, said: object) =>
  documentExport(at, { ...refers({ id: 9, ...said }), destinationConnection: null });
const collected = (id: number, said: object) => collection(id, refers({ id: 9, ...said }));
const hooked = (id: number, said: object) => webhook(id, { connections: [{ id: 9, ...said }] });

describe.concurrent('a connection', () => {
  test('keeps its name when the service gives it none any more, in whatever way', async () => {
    for (const nameless of [{ name: null }, {}, { name: null, region: 'eu' }]) {
      const collections = [collected(1, nameless)];
      const said = await saidOver(
        { collections: [collected(1, { name: 'A' })] },
        { collections },
        { collections },
      );
      const now = ['A', 'region' in nameless ? '{"region":"eu"}' : null];
      expect(said).toEqual([['A', null], now, now]);
    }
  });

  test('has the name that is left when a list that counts more gives it none, until it is given another', async () => {
    const exports = [exported(1, { name: 'D' })];
    const said = await saidOver(
      { 'document-exports': exports, collections: [collected(1, { name: 'A' })] },
      { 'document-exports': exports, collections: [collected(1, { name: null })] },
      { collections: [collected(1, { name: null })] },
      { collections: [collected(1, { name: null })], webhooks: [hooked(1, { name: 'E' })] },
    );
    expect(said).toEqual([
      ['A', null],
      ['D', null],
      ['D', null],
      ['E', null],
    ]);
  });

  test('keeps further fields that only a list which counts less gives, until it gives others', async () => {
    const collections = [collected(1, { name: 'A' })];
    const said = await saidOver(
      { collections, 'document-exports': [exported(1, { name: 'A', color: 'red' })] },
      { collections, 'document-exports': [exported(1, { name: 'A', color: 'blue' })] },
      { collections, 'document-exports': [exported(1, { name: 'A' })] },
    );
    expect(said).toEqual([
      ['A', '{"color":"red"}'],
      ['A', '{"color":"blue"}'],
      ['A', '{"color":"blue"}'],
    ]);
  });
});

test('of a name with half a surrogate pair, the rest is kept', async () => {
  const said = await saidOver({ webhooks: [hooked(1, { name: '\ud800x', zone: 1 })] });
  expect(said).toEqual([['\ufffdx', '{"zone":1}']]);
});

test('a connection that one list lets go and another one takes up in the same run has not ended', async () => {
  await using scene = await setScene({}, { exports: 1, collections: 1, webhooks: 1 });
  const { lists } = scene.service;
  for (const records of Object.values(lists)) records.length = 0;
  const refersToNone = { sourceConnection: null, destinationConnection: null };
  const connection = { name: 'A', zone: 1 };
  // No list is ever emptied: that takes two runs.
  lists.collections.push(collected(1, connection), collection(2, refersToNone));
  lists.webhooks.push(webhook(1, { connections: [] }));
  expect(await syncScene(scene)).toMatchObject({ code: 0 });
  const changes = "SELECT run_id, operation FROM changes WHERE resource = 'connections' AND record_id = 9";
  const was = sqlite(scene.database, changes);
  for (const said of [connection, { name: 'B' }]) {
    lists.collections.splice(0, 1, collection(1, refersToNone));
    lists.webhooks.push(hooked(7, said));
    expect(await scene.sync('--resource', 'collections', '--resource', 'webhooks')).toMatchObject({
      code: 0,
    });
    if (said === connection) expect(sqlite(scene.database, changes)).toEqual(was);
    else expect(sqlite(scene.database, changes)).toContainEqual({ run_id: 4, operation: 'update' });
    expect(await connectionIn(scene)).toEqual([said.name, '{"zone":1}']);
    lists.webhooks.pop();
    lists.collections.splice(0, 1, collected(1, connection));
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
  }
  const ended = "SELECT ended_by FROM record_history WHERE resource = 'connections'";
  expect(new Set(sqlite(scene.database, ended).map(row => row.ended_by))).toEqual(new Set(['update']));
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
  lists.collections.shift();
  lists.webhooks.push(webhook(8, { connections: [{ id: 10, name: 'C' }] }));
  expect(await syncScene(scene)).toMatchObject({ code: 0 });
  expect(sqlite(scene.database, changes)).toContainEqual({ run_id: 6, operation: 'removal' });
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('a dry run names a connection that has another name now, once, and nothing else', async () => {
  await using scene = await setScene({}, { exports: 1, collections: 1, webhooks: 1 });
  const { lists } = scene.service;
  const say = (name: string) => {
    lists['document-exports'] = [exported(1, { name })];
    lists.collections = [collected(1, { name })];
    lists.webhooks = [];
  };
  say('old');
  await scene.sync();
  const before = sqlite(scene.database, 'SELECT * FROM connections');
  say('new');
  const { code, stdout } = await scene.run('sync', '--dry-run');
  expect(code).toBe(0);
  expect(stdout.match(/^[~+−] .*$/gm)).toEqual([expect.stringMatching(/^~ connections 9 +name: old → new$/)]);
  expect(sqlite(scene.database, 'SELECT * FROM connections')).toEqual(before);
  await scene.sync();
  expect((await scene.run('sync', '--dry-run')).stdout).not.toContain('connections');
});
