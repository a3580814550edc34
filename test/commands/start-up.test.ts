import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { programFolder } from '../support/program.ts';
import { runCli, temporaryFolder } from '../support/run-cli.ts';

/** A Node.js that is too old for docmirror, if this machine has one in its PATH. */
const oldNode = (process.env.PATH ?? '')
  .split(':')
  .map(folder => join(folder, 'node'))
  .find(
    path => existsSync(path) && /^v(\d|1\d|2[0-3])\./.test(spawnSync(path, ['--version']).stdout.toString()),
  );

test.skipIf(oldNode === undefined)('a Node.js that is too old gets a message of one sentence', () => {
  const program = join(programFolder, 'cli.js');
  const { status, stdout, stderr } = spawnSync(String(oldNode), [program, 'status'], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^docmirror needs Node\.js 24 or newer, but this is v\d[^\n]*\n$/);
});

test.each([['--version'], ['demo']])(
  '%s runs no compiled code from the folder for temporary files',
  async command => {
    await using folder = temporaryFolder();
    await using temporary = temporaryFolder();
    const env = { TMPDIR: temporary.path, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const { code, stderr } = await runCli([command], { env, cwd: folder.path });
    // Node would name each file that it looks for in the cache.
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(readdirSync(temporary.path)).toEqual([]);
  },
);
