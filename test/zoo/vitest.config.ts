import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    globalSetup: ['../support/build-program.ts', './server.ts'],
    // A service, its docmirror and PostgreSQL are processes of their own: three at a time keep two cores busy.
    maxConcurrency: 3,
    fileParallelism: false,
    testTimeout: 180_000,
    // A shared machine can be slower than the waits of a test. A test that fails three times fails.
    retry: process.env.CI === 'true' ? 2 : 0,
    hookTimeout: 60_000,
  },
});
