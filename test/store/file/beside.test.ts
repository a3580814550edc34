import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  assertNoForeignJournal,
  assertOwnBeside,
  assertReadableBeside,
} from '../../../src/store/file/beside.ts';
import { temporaryFolder } from '../../support/run-cli.ts';

/** Makes and removes a file again and again, whole each time. */
const comeAndGo = `
  const { linkSync, unlinkSync } = require('node:fs');
  const [, from, to] = process.argv;
  for (let isSaid = false; ; ) {
    linkSync(from, to);
    unlinkSync(to);
    if (!isSaid) process.send('begun');
    isSaid = true;
  }`;

test.each([
  ['-wal', '377f0682'],
  ['-shm', '18e22d00'.padEnd(2 * 4096, '0')],
  ['-journal', '00'],
])('what SQLite keeps beside a mirror may vanish while a reader looks at it: %s', async (name, hex) => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  writeFileSync(path, Buffer.alloc(8192));
  writeFileSync(join(folder.path, 'whole'), Buffer.from(hex, 'hex'));
  const args = ['-e', comeAndGo, join(folder.path, 'whole'), `${path}${name}`];
  const other = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    await once(other, 'message');
    const look = () => {
      assertReadableBeside(path);
      assertOwnBeside(path);
      assertNoForeignJournal(path);
    };
    for (let looks = 0; looks < 10_000; looks++) look();
    expect(other.exitCode).toBe(null);
  } finally {
    other.kill();
  }
});
