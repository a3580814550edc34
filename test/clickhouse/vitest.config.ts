import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    globalSetup: ['../support/build-program.ts'],
    // The engine must not run in a thread.
    pool: 'forks',
    testTimeout: 120_000,
    // A shared machine can be slower than the waits of a test. A test that fails three times fails.
    retry: process.env.CI === 'true' ? 2 : 0,
    hookTimeout: 60_000,
  },
});
