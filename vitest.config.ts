import { existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { configDefaults, defineConfig } from 'vitest/config';

// Vitest gives the patterns of --exclude to no project.
const { exclude: excluded } = parseArgs({
  options: { exclude: { type: 'string', multiple: true, default: [] } },
  strict: false,
}).values;
// These need packages that are installed apart, and have configurations of their own.
const apart = ['test/clickhouse/**', 'test/zoo/**'];
const exclude = [...configDefaults.exclude, ...apart, ...(excluded as string[])];
const long = 'test/**/*.long.test.ts';
// A disk makes each write of a mirror wait. The files of the short tests are small, and are in memory if it has room.
const memory = '/dev/shm';
const hasMemory = existsSync(memory) && statfsSync(memory).bavail * statfsSync(memory).bsize > 2 ** 30;
// Each thread of a server loads some sixty files. What was compiled is kept until the program is built for the next tests.
const compiled = join(import.meta.dirname, '.program', 'compiled');

export default defineConfig({
  test: {
    globalSetup: ['test/support/build-program.ts'],
    // The program that tests run in their own process is loaded as it was built.
    server: { deps: { external: [/\/\.program\//] } },
    testTimeout: 60_000,
    // A shared machine can be slower than the waits of a test. A test that fails three times fails.
    retry: process.env.CI === 'true' ? 2 : 0,
    hookTimeout: 60_000,
    projects: [
      {
        test: {
          name: 'short',
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, long],
          // No file of these keeps a state of its own: they share a worker, which loads the rooms once.
          isolate: false,
          env: { CASES: 'some', NODE_COMPILE_CACHE: compiled, ...(hasMemory && { TMPDIR: memory }) },
          // They wait for the processes that they start: two workers more than two cores leave none idle.
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'long',
          include: [long],
          exclude,
          env: { CASES: 'all' },
          maxWorkers: '100%',
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
