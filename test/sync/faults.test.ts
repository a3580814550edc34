import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ListContext } from '../../src/store/write/mirror.ts';
import { memoryFolder, run, stored } from '../support/in-process.ts';
import { labelOf, MovingList } from '../support/moving-list.ts';
import { sqlite } from '../support/run-cli.ts';

// Faults that no service and no file is known to cause.

const exports = { resources: ['document-exports'], pageSize: 3 };

test('a list whose rows do not match what was read is read again, without any shortcut', async () => {
  await using folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const source = new MovingList(10, 3, 2);
  source.play([]);
  await run(path, source, exports);
  let applied = 0;
  const onList = (list: ListContext) => {
    // A row that nobody sees shuts the gate, until the transaction is rolled back.
    const unseen = Buffer.alloc(16, 1);
    const { sqlite } = list.file;
    const { exec } = sqlite;
    sqlite.exec = text => {
      if (text === 'BEGIN IMMEDIATE' && applied++ === 0) list.sum.add(unseen);
      if (text === 'ROLLBACK' && applied === 1) list.sum.subtract(unseen);
      return exec.call(sqlite, text);
    };
  };
  source.change({ kind: 'insert', at: 4 });
  const { resources } = await run(path, source, { ...exports, onList });
  expect(applied).toBeGreaterThanOrEqual(2);
  expect(resources[0]).toMatchObject({ completeness: 'proven', inserted: 1 });
  expect(stored(path)).toEqual(source.entries.map(labelOf).sort());
});

test('a fault of docmirror itself in one list is that of the run, and the other lists are synced', async () => {
  await using folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const source = new MovingList(10, 3, 1);
  source.play([]);
  let opened = 0;
  const onList = (list: ListContext) => {
    if (++opened > 1) return;
    list.memory.remember = () => {
      throw new TypeError('nobody foresaw this');
    };
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
