import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build-program.ts'],
    // Those need an engine that is installed apart; they have a configuration of their own.
    exclude: [...configDefaults.exclude, 'test/clickhouse/**'],
    // Most tests wait for processes that they started: a core that is left free for them is left idle.
    maxWorkers: '100%',
    // The program that tests run in their own process is loaded as it was built.
    server: { deps: { external: [/\/\.program\//] } },
    testTimeout: 60_000,
    // A shared machine can be slower than the waits of a test. A test that fails three times fails.
    retry: process.env.CI === 'true' ? 2 : 0,
    hookTimeout: 60_000,
  },
});
