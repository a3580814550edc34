import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

// Writes dist/: npm run build

const root = join(import.meta.dirname, '..');

/**
 * The packages whose code goes into dist/: those that frequent commands load. As one file each they load in a fraction
 * of the time. The others are loaded from npm's folder when they are needed.
 */
const bundled = new Set([
  'canonicalize',
  'csv-stringify',
  'get-east-asian-width',
  'p-retry',
  'pino',
  'typebox',
]);

/** The program, its function for those that run it in a process of their own, its threads and processes, and the style of its pages. */
const entryPoints = {
  cli: 'src/cli.ts',
  main: 'src/commands/main.ts',
  reader: 'src/serve/reader.ts',
  'rows-thread': 'src/store/verify/rows-thread.ts',
  'share-maker': 'src/commands/share-maker.ts',
  style: 'src/render/web/style.css',
};

/**
 * Writes the program into a folder of the package: one file for each command, and shared ones. A file that is there
 * already with the same text is not touched, so that a program that runs from it is not disturbed.
 */
export async function bundle(folder: string): Promise<void> {
  const { default: manifest } = await import('../package.json', { with: { type: 'json' } });
  const { outputFiles } = await build({
    write: false,
    absWorkingDir: root,
    entryPoints,
    outdir: folder,
    bundle: true,
    // The folder stays flat: the program finds its package one folder up from any of its files.
    splitting: true,
    chunkNames: '[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    external: Object.keys(manifest.dependencies).filter(name => !bundled.has(name)),
    // The module form of it calls all its getters when it is loaded, which takes 7 ms.
    alias: { 'node:process': join(root, 'build', 'process-object.ts') },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  mkdirSync(join(root, folder), { recursive: true });
  for (const { path, text } of outputFiles) writeUnlessSame(path, withRequire(text));
  const written = new Set(outputFiles.map(({ path }) => basename(path)));
  for (const name of readdirSync(join(root, folder)))
    if (!written.has(name)) rmSync(join(root, folder, name), { recursive: true });
}

/**
 * CommonJS packages load Node's own modules by `require`, through one function that esbuild puts into one of the files.
 */
function withRequire(text: string): string {
  const giveRequire = 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);';
  return text.includes('typeof require') ? giveRequire + text : text;
}

function writeUnlessSame(path: string, text: string): void {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
}

/**
 * Writes `docmirror/schema`: `schema.js`, and its declarations in `types/`. It imports Drizzle from the caller's
 * packages, because tables of another copy of Drizzle would not fit the queries.
 */
export async function bundleSchema(folder: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ['src/schema.ts'],
    outdir: folder,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: ['drizzle-orm'],
    logLevel: 'warning',
  });
  const declarations = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false'];
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(
    process.execPath,
    [
      tsc,
      '--project',
      join(root, 'build', 'schema.tsconfig.json'),
      ...declarations,
      '--outDir',
      join(root, folder, 'types'),
    ],
    { stdio: 'inherit' },
  );
}

if (import.meta.main) {
  await bundle('dist');
  await bundleSchema('dist');
}
