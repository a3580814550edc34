import { parseArgs } from 'node:util';
import { configDefaults, defineConfig } from 'vitest/config';

/** Tests of rooms without state of their own: their files share a worker, which loads the rooms once. */
const pure = ['contract', 'proof', 'audit', 'render', 'store/tables', 'store/read'].map(
  room => `test/${room}/**/*.test.ts`,
);

// Vitest gives the patterns of --exclude to no project.
const { exclude: excluded } = parseArgs({
  options: { exclude: { type: 'string', multiple: true, default: [] } },
  strict: false,
}).values;
// The tests against ClickHouse need an engine that is installed apart; they have a configuration of their own.
const exclude = [...configDefaults.exclude, 'test/clickhouse/**', ...(excluded as string[])];

export default defineConfig({
  test: {
    globalSetup: ['test/support/build-program.ts'],
    // Most tests wait for processes that they started: a core that is left free for them is left idle.
    maxWorkers: '100%',
    // The program that tests run in their own process is loaded as it was built.
    server: { deps: { external: [/\/\.program\//] } },
    testTimeout: 60_000,
    // A shared machine can be slower than the waits of a test. A test that fails three times fails.
    retry: process.env.CI === 'true' ? 2 : 0,
    hookTimeout: 60_000,
    projects: [
      { test: { name: 'own', include: ['test/**/*.test.ts'], exclude: [...exclude, ...pure] } },
      { test: { name: 'pure', include: pure, exclude, isolate: false } },
    ],
  },
});
