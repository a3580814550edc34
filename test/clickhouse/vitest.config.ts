import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    globalSetup: ['../support/build-program.ts'],
    // The engine must not run in a thread.
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
