import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { exitStatus, manText } from '../../build/package-files.ts';
import { exitCodes } from '../../src/errors.ts';

const hasMan = spawnSync('man', ['--version']).status === 0;

test('the manual page explains each exit code', () => {
  const explained = exitStatus.flatMap(([codes]) => codes.split(', ').map(Number));
  expect(explained).toEqual(Object.values(exitCodes));
});

test.skipIf(!hasMan)('man shows it without a complaint, and with every sign as it is meant', async () => {
  const env = { PATH: process.env.PATH, MANWIDTH: '100', LC_ALL: 'C.UTF-8' };
  const shown = spawnSync('man', ['--warnings', '-l', '-'], {
    encoding: 'utf8',
    env,
    input: await manText(),
  });
  expect(shown.stderr).toBe('');
  expect(shown.stdout).toContain("docmirror watch --schedule '*/15 6-20 * * 1-5' --timezone Europe/Berlin");
});
