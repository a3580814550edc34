import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/run-cli.ts';
import { outerMutants } from './outer-rooms.ts';

const root = join(import.meta.dirname, '..', '..');

const copied = [
  ...['src', 'migrations', 'test', 'build', 'package.json', 'package-lock.json', 'tsconfig.json'],
  'vitest.config.ts',
];

test.each(outerMutants)(
  'without its guard, tests fail that hold $guards',
  async mutant => {
    await using folder = temporaryFolder();
    for (const path of copied) cpSync(join(root, path), join(folder.path, path), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
    const file = join(folder.path, mutant.file);
    const source = readFileSync(file, 'utf8');
    expect(source.split(mutant.line)).toHaveLength(2);
    writeFileSync(
      file,
      source.replace(mutant.line, () => mutant.instead),
    );
    const report = join(folder.path, 'report.json');
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const { status, stderr } = spawnSync(
      process.execPath,
      [vitest, 'run', '--bail', '1', '--reporter', 'json', '--outputFile', report, ...mutant.tests],
      { cwd: folder.path, encoding: 'utf8', env: { ...process.env, CI: '' } },
    );
    // Tests that could not begin hold nothing.
    const { numFailedTests } = JSON.parse(readFileSync(report, 'utf8'));
    expect({ status, hasFailed: numFailedTests > 0, stderr }).toEqual({ status: 1, hasFailed: true, stderr });
  },
  180_000,
);
