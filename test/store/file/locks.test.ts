import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MirrorBusyError } from '../../../src/errors.ts';
import { openForReading, openForWriting } from '../../../src/store/file/open.ts';
import { holdLock } from '../../../src/store/file/staging-file.ts';
import { temporaryFolder } from '../../support/run-cli.ts';

/** Asks another process whether it can hold the lock. */
function canOtherHold(path: string): boolean {
  const script = `
    import { holdLock } from './src/store/file/staging-file.ts';
    holdLock(process.argv[1])();`;
  const { status } = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', script, path]);
  return status === 0;
}

test('a look at a file that this process holds takes no lock away', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const giveBack = holdLock(path);
  expect(canOtherHold(path)).toBe(false);
  // Each of these looks at the staging file or the mirror, and lets go of it again.
  expect(() => holdLock(path)).toThrow(MirrorBusyError);
  openForWriting(path).close();
  openForReading(path).close();
  expect(() => holdLock(path)).toThrow(MirrorBusyError);
  expect(canOtherHold(path)).toBe(false);
  giveBack();
  expect(canOtherHold(path)).toBe(true);
});
