import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seed } from '../proof/exhaust/choices.ts';
import { temporaryFolder } from '../support/run-cli.ts';
import { type OuterMutant, outerMutants } from './outer-rooms.ts';

const root = join(import.meta.dirname, '..', '..');

const copied = [
  ...['src', 'examples', 'migrations', 'test', 'build', 'package.json', 'package-lock.json', 'tsconfig.json'],
  'vitest.config.ts',
];

const isAll = process.env.MUTANTS === 'all';
/** One of so many is played: others with each commit. */
const share = isAll ? 1 : 5;

const placeOf = ({ guards }: OuterMutant) => createHash('sha256').update(`${seed} ${guards}`).digest('hex');
const isRoot = process.getuid?.() === 0;
const chosen = outerMutants
  .filter(({ needsRoot }) => isRoot || needsRoot !== true)
  .toSorted((a, b) => placeOf(a).localeCompare(placeOf(b)))
  .slice(0, Math.ceil(outerMutants.length / share));

const options = { timeout: 120_000, retry: 0 };

describe(`without its guard, a test fails (${isAll ? 'all' : `with the seed ${seed}`})`, () => {
  const folder = temporaryFolder();

  beforeAll(() => {
    // Some tests run the program as a user without rights.
    chmodSync(folder.path, 0o755);
    for (const path of copied) cpSync(join(root, path), join(folder.path, path), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  test.each(chosen.map(each => [each.guards, each] as const))('%s', options, (_guards, mutant) => {
    const { file, line, instead } = mutant;
    const source = readFileSync(join(root, file), 'utf8');
    const mutated = source.replace(line, () => instead);
    expect(mutated).not.toBe(source);
    writeFileSync(join(folder.path, file), mutated);
    try {
      const { stderr, ...ended } = playIn(folder.path, mutant);
      expect(ended, stderr).toEqual({ status: 1, hasBegun: true });
    } finally {
      writeFileSync(join(folder.path, file), source);
    }
  });
});

/** Runs the test of a mutant in a copy of the repository. */
function playIn(cwd: string, { test: path, name }: OuterMutant) {
  const report = join(cwd, 'report.json');
  // That of the mutant before.
  rmSync(report, { force: true });
  const pattern = name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const options = [`--testNamePattern=${pattern}`, '--bail=1', '--reporter=json', `--outputFile=${report}`];
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const { status, stderr } = spawnSync(process.execPath, [vitest, 'run', path, ...options], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, CI: '' },
  });
  // A program that can't be built fails before any test, and that holds nothing. Of tests at once, the first failure ends all.
  const { numTotalTests } = existsSync(report)
    ? JSON.parse(readFileSync(report, 'utf8'))
    : { numTotalTests: 0 };
  return { status, stderr, hasBegun: numTotalTests > 0 };
}
