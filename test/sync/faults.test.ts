import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ListContext } from '../../src/store/write/mirror.ts';
import { memoryFolder, run, stored } from '../support/in-process.ts';
import { labelOf, MovingList } from '../support/moving-list.ts';
import { sqlite } from '../support/run-cli.ts';

// Faults that no service and no file is known to cause.

test('a fault of docmirror itself in one list is that of the run, and the other lists are synced', async () => {
  await using folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const source = new MovingList(10, 3, 1);
  source.play([]);
  let opened = 0;
  const onList = (list: ListContext) => {
    if (++opened > 1) return;
    const get = () => {
      throw new TypeError('nobody foresaw this');
    };
    Object.defineProperty(list, 'table', { get });
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
