import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '..', 'src');

/** Which rooms a room may import from. The rooms don't know each other; `commands` wires them. */
const allowedRooms: Record<string, readonly string[]> = {
  cli: ['commands', 'config', 'errors', 'printable', 'quick-start', 'service', 'version'],
  'quick-start': [],
  printable: [],
  version: [],
  errors: [],
  config: ['errors'],
  contract: [],
  audit: [],
  service: ['contract', 'errors', 'printable', 'sync'],
  proof: ['contract'],
  publish: ['contract', 'errors'],
  sync: ['contract', 'errors', 'proof'],
  store: ['audit', 'contract', 'errors', 'proof', 'publish', 'sync', 'version'],
  render: ['audit', 'printable', 'store', 'sync'],
  serve: ['contract', 'errors', 'version'],
  sample: ['contract'],
  commands: [
    'audit',
    'config',
    'contract',
    'errors',
    'printable',
    'publish',
    'render',
    'sample',
    'serve',
    'service',
    'store',
    'sync',
    'version',
  ],
};

/** Where only types may cross: the room at the other end is known by its shape alone. */
const typesOnly = new Set([
  'service → sync',
  'store → publish',
  'store → sync',
  'render → store',
  'render → sync',
  'render → audit',
  'render → contract',
]);

/** Packages that only some rooms may touch. */
const packageRooms: Record<string, readonly string[]> = {
  'better-sqlite3': ['store'],
  'drizzle-orm': ['store'],
  undici: ['service'],
  'p-retry': ['publish', 'service'],
  '@clickhouse/client': ['publish'],
  'node-cron': ['commands'],
  pino: ['commands'],
  'pino-pretty': ['commands'],
  commander: ['cli', 'commands'],
  'cli-progress': ['commands'],
  'cli-table3': ['render'],
  'csv-stringify': ['render'],
  'hyparquet-writer': ['render'],
  ajv: ['contract'],
  'jsonc-parser': ['contract'],
  canonicalize: ['audit'],
  vega: ['render'],
  preact: ['render'],
  htm: ['render'],
  'preact-render-to-string': ['render'],
  fastify: ['serve'],
  'prom-client': ['serve'],
  '@fastify/compress': ['serve'],
  'parse-duration': ['config'],
};

interface Import {
  readonly file: string;
  readonly from: string;
  readonly target: string;
  readonly isTypeOnly: boolean;
}

const imports = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .flatMap(name => importsOf(join(source, name)));

function importsOf(path: string): Import[] {
  const text = readFileSync(path, 'utf8');
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm);
  return [...statements].map(([whole, type, target]) => ({
    file: relative(source, path),
    from: roomOf(path),
    target: target as string,
    isTypeOnly: type !== undefined || /\{(\s*type\s+\w+(\s+as\s+\w+)?,?)+\s*\}/.test(whole),
  }));
}

function roomOf(path: string): string {
  return (relative(source, path).split('/')[0] as string).replace(/\.ts$/, '');
}

const crossings = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(entry => ({ ...entry, to: roomOf(resolve(dirname(join(source, entry.file)), entry.target)) }))
  .filter(({ from, to }) => from !== to);

test('every import between rooms follows an arrow', () => {
  const wrong = crossings.filter(({ from, to }) => !allowedRooms[from]?.includes(to));
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

test('where only types may cross, only types do', () => {
  const wrong = crossings.filter(
    ({ from, to, isTypeOnly }) => typesOnly.has(`${from} → ${to}`) && !isTypeOnly,
  );
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

test('every arrow is used', () => {
  const used = new Set(crossings.map(({ from, to }) => `${from} → ${to}`));
  const allowed = Object.entries(allowedRooms).flatMap(([from, rooms]) => rooms.map(to => `${from} → ${to}`));
  expect(allowed.filter(arrow => !used.has(arrow))).toEqual([]);
});

test('each package is touched by its own rooms only', () => {
  const packages = imports.filter(({ target }) => !target.startsWith('.') && !target.startsWith('node:'));
  const nameOf = (target: string) =>
    target
      .split('/')
      .slice(0, target.startsWith('@') ? 2 : 1)
      .join('/');
  const wrong = packages.filter(({ from, target }) => !packageRooms[nameOf(target)]?.includes(from));
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

test('only cli and commands touch the process', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.ts'),
  );
  const touching = files.filter(name => /\bprocess\./.test(readFileSync(join(source, name), 'utf8')));
  expect(touching.filter(name => !/^(cli\.ts|commands\/)/.test(name))).toEqual([]);
});
