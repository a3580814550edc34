import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { programFolder } from '../support/program.ts';
import { runCli, temporaryFolder } from '../support/run-cli.ts';

const source = join(import.meta.dirname, '..', '..', 'src');

/** Modules of Node's own that take long to load. */
const slowModules = ['node:http', 'node:https'];

/** The packages that are loaded with a file, before anything in it runs: what it imports, and what that imports, and so on. */
function packagesWith(...names: string[]): string[] {
  const files = names.map(name => join(source, name));
  const packages = new Set<string>();
  // The list grows during the loop. A file is in it once.
  for (const file of files) {
    for (const target of importsOf(file)) {
      const path = resolve(dirname(file), target);
      if (!target.startsWith('.')) packages.add(target);
      else if (!files.includes(path)) files.push(path);
    }
  }
  return [...packages].filter(name => !name.startsWith('node:') || slowModules.includes(name)).sort();
}

/** The static imports of a file, without types. */
function importsOf(file: string): string[] {
  const statements = readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)\s+(type\s)?(?:([^'";]*?)\sfrom\s+)?'([^']+)'/gm,
  );
  return [...statements].flatMap(([, type, bound = '', target = '']) => {
    const isOfTypes = type !== undefined || /^\{(\s*type\s+\w+(\s+as\s+\w+)?,?)+\s*\}$/.test(bound);
    return isOfTypes ? [] : [target];
  });
}

/** A Node.js that is too old for docmirror, if this machine has one in its PATH. */
const oldNode = (process.env.PATH ?? '')
  .split(':')
  .map(folder => join(folder, 'node'))
  .find(
    path => existsSync(path) && /^v(\d|1\d|2[0-3])\./.test(spawnSync(path, ['--version']).stdout.toString()),
  );

test.skipIf(oldNode === undefined)('a Node.js that is too old gets a message of one sentence', () => {
  const program = join(programFolder, 'cli.js');
  const { status, stdout, stderr } = spawnSync(String(oldNode), [program, 'status'], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^docmirror needs Node\.js 24 or newer, but this is v\d[^\n]*\n$/);
});

test.each([['--version'], ['demo']])(
  '%s runs no compiled code from the folder for temporary files',
  async command => {
    await using folder = temporaryFolder();
    await using temporary = temporaryFolder();
    const env = { TMPDIR: temporary.path, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const { code, stderr } = await runCli([command], { env, cwd: folder.path });
    // Node would name each file that it looks for in the cache.
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(readdirSync(temporary.path)).toEqual([]);
  },
);

test('--version loads nothing but the program itself', () => {
  expect(packagesWith('cli.ts')).toEqual([]);
});

test('--help loads no package', () => {
  expect(packagesWith('cli.ts', 'commands/main.ts')).toEqual([]);
});

test.each(['status', 'runs', 'completion'])('%s loads no HTTP and no logger', name => {
  const loaded = packagesWith('cli.ts', 'commands/main.ts', `commands/${name}.ts`);
  const allowed = ['better-sqlite3', 'canonicalize', 'drizzle-orm', 'get-east-asian-width'];
  const ofDrizzle = ['drizzle-orm/better-sqlite3', 'drizzle-orm/sqlite-core'];
  expect(loaded.filter(each => ![...allowed, ...ofDrizzle].includes(each))).toEqual([]);
});

test.each(['sync', 'verify', 'changes'])(
  '%s loads neither a server nor charts nor what writes columns',
  name => {
    const loaded = packagesWith('cli.ts', 'commands/main.ts', `commands/${name}.ts`);
    const rare = ['fastify', 'hyparquet-writer', 'undici', ...slowModules];
    expect(loaded.filter(each => rare.includes(each))).toEqual([]);
    expect(loaded).toContain('better-sqlite3');
  },
);
