import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Those need an engine that is installed apart; they have a configuration of their own.
    exclude: [...configDefaults.exclude, 'test/clickhouse/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
