import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

// Writes dist/: npm run build

const root = join(import.meta.dirname, '..');

/**
 * The packages whose code goes into dist/: those that the commands load which are called often. As one file each they load in a
 * fraction of the time. The others are loaded from where npm puts them, when they are needed.
 */
const bundled = new Set([
  'ajv',
  'canonicalize',
  'cli-table3',
  'commander',
  'csv-stringify',
  'drizzle-orm',
  'jsonc-parser',
  'leven',
  'p-retry',
  'parse-duration',
  'pino',
]);

const { default: manifest } = await import('../package.json', { with: { type: 'json' } });

rmSync(join(root, 'dist'), { recursive: true, force: true });
const { outputFiles } = await build({
  write: false,
  absWorkingDir: root,
  entryPoints: ['src/cli.ts'],
  outdir: 'dist',
  bundle: true,
  // The folder stays flat: the program finds its package one folder up from any of its files.
  splitting: true,
  chunkNames: '[name]-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  external: Object.keys(manifest.dependencies).filter(name => !bundled.has(name)),
  // As a module it has all its getters called when it is loaded, which takes 7 ms.
  alias: { 'node:process': join(root, 'build', 'process-object.ts') },
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
});

// What was CommonJS asks for Node's own modules by `require`, through one function that esbuild puts into one of the files.
const asksForRequire = 'typeof require';
const giveRequire = 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);';

mkdirSync(join(root, 'dist'));
for (const { path, text } of outputFiles)
  writeFileSync(path, text.includes(asksForRequire) ? giveRequire + text : text);
