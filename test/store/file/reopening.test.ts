import { renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MirrorFileError } from '../../../src/errors.ts';
import { Reopening } from '../../../src/store/file/reopening.ts';
import { temporaryFolder } from '../../support/run-cli.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a file that is gone counts for a moment, and no longer; once it is back it is opened again', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'file');
  writeFileSync(path, '');
  let opened = 0;
  const file = new Reopening(path, () => ({ number: ++opened, [Symbol.dispose]() {} }));
  renameSync(path, `${path}.away`);
  expect(file.current().number).toBe(1);
  vi.advanceTimersByTime(4_000);
  expect(file.current().number).toBe(1);
  vi.advanceTimersByTime(2_000);
  expect(() => file.current()).toThrow(MirrorFileError);
  writeFileSync(path, '');
  expect(file.current().number).toBe(2);
});

test('a file that has been gone for long counts no longer, though nobody looked since', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'file');
  writeFileSync(path, '');
  const file = new Reopening(path, () => ({ [Symbol.dispose]() {} }));
  renameSync(path, `${path}.away`);
  const goneAt = new Date(Date.now() - 20_000);
  utimesSync(folder.path, goneAt, goneAt);
  expect(() => file.current()).toThrow(MirrorFileError);
});
