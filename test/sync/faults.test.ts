import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GateError } from '../../src/proof/gate.ts';
import type { ListMirror } from '../../src/sync/ports.ts';
import { memoryFolder, run, stored } from '../support/in-process.ts';
import { labelOf, MovingList } from '../support/moving-list.ts';
import { sqlite } from '../support/run-cli.ts';

// What no service and no file is known to bring about.

const exports = { resources: ['document-exports'], pageSize: 3 };

/** Rolls back whatever is about to be committed as the whole list. */
function shutGate(list: ListMirror): void {
  const apply = list.apply.bind(list);
  const refuse = () => {
    throw new GateError('the gate is shut');
  };
  list.apply = (order, outcome, signal) => apply(order, order.kind === 'list' ? refuse : outcome, signal);
}

test('where the rows never come to what was read, what was seen is stored all the same', async () => {
  await using folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const source = new MovingList(10, 3, 2);
  source.play([]);
  for (const seen of [10, 12]) {
    while (source.entries.length < seen) source.change({ kind: 'insert', at: 4 });
    const { resources } = await run(path, source, { ...exports, onList: shutGate });
    expect(resources[0]).toMatchObject({ completeness: 'unproven', reason: 'the gate is shut' });
    expect(stored(path)).toEqual(source.entries.map(labelOf).sort());
  }
  const { resources } = await run(path, source, exports);
  expect(resources[0]).toMatchObject({ completeness: 'proven', unchanged: 12 });
});

test('a fault of docmirror itself amid a first sync is recorded, and leaves nothing behind', async () => {
  await using folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const source = new MovingList(10, 3, 1);
  source.play([]);
  const onList = (list: ListMirror) => {
    const keep = list.keep.bind(list);
    list.keep = (walk, answer) => {
      if (answer.index === 2) throw new TypeError('nobody foresaw this');
      keep(walk, answer);
    };
  };
  await expect(run(path, source, { ...exports, onList })).rejects.toThrow('nobody foresaw this');
  expect(sqlite(path, 'SELECT status, error_code, error_message FROM sync_runs')).toEqual([
    { status: 'failed', error_code: 'internal', error_message: 'nobody foresaw this' },
  ]);
  expect(stored(path)).toEqual([]);
});

test('a fault of docmirror itself in one list is that of the run, and the other lists are synced', async () => {
  await using folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const source = new MovingList(10, 3, 1);
  source.play([]);
  let opened = 0;
  const onList = (list: ListMirror) => {
    if (++opened > 1) return;
    list.apply = () => Promise.reject(new TypeError('nobody foresaw this'));
  };
  await expect(run(path, source, { pageSize: 3, onList })).rejects.toThrow('nobody foresaw this');
  const error = { error_code: 'internal', error_message: 'nobody foresaw this' };
  const fine = { status: 'completed', error_code: null, error_message: null };
  expect(sqlite(path, 'SELECT status, error_code, error_message FROM sync_runs')).toEqual([
    { status: 'partial', ...error },
  ]);
  expect(sqlite(path, 'SELECT status, error_code, error_message FROM sync_run_resources')).toEqual([
    { status: 'failed', ...error },
    fine,
    fine,
  ]);
  expect(stored(path)).toEqual(source.entries.map(labelOf).sort());
  expect(await run(path, source)).toMatchObject({ status: 'completed' });
});
