import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manText, schemaName } from '../build/package-files.ts';
import { outputs } from '../src/render/outputs.ts';
import { runCli, temporaryFolder } from './support/run-cli.ts';

const root = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** Installing from the registry can be slow. */
const installMsMax = 180_000;
const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];

describe('the package, installed in an empty folder', () => {
  const folder = temporaryFolder();
  const copy = join(folder.path, 'copy');
  const installed = join(folder.path, 'installed', 'node_modules');

  beforeAll(async () => {
    const tarball = await pack(copy, folder.path);
    const empty = join(folder.path, 'installed');
    mkdirSync(empty);
    writeFileSync(join(empty, 'package.json'), '{ "private": true }\n');
    await npm(empty, 'install', ...quietly, tarball);
  }, installMsMax);

  afterAll(() => folder[Symbol.asyncDispose]());

  test('contains the program, its migrations and its papers, and nothing else', () => {
    expect(readdirSync(join(installed, 'docmirror')).sort()).toEqual(
      [
        ...['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'deploy', 'dist', 'docs'],
        ...['man', 'migrations', 'npm-shrinkwrap.json', 'package.json', 'schemas'],
      ].sort(),
    );
    expect(readdirSync(join(installed, 'docmirror', 'docs'))).toContain('audit.sh');
    const built = readdirSync(join(installed, 'docmirror', 'dist'), { recursive: true, encoding: 'utf8' });
    expect(built).toContain('cli.js');
    const isExpected = (name: string) => /^[\w-]+\.js$|^style\.css$|^types(\/|$)/.test(name);
    expect(built.filter(name => !isExpected(name))).toEqual([]);
    const types = built.filter(name => name.startsWith('types') && name.includes('.'));
    expect(types.filter(name => !name.endsWith('.d.ts'))).toEqual([]);
  });

  test('locks the very packages that were tested, of the very versions', () => {
    const lockAt = (path: string): Record<string, { dev?: boolean }> =>
      JSON.parse(readFileSync(path, 'utf8')).packages;
    const tested = Object.entries(lockAt(join(root, 'package-lock.json'))).filter(
      ([, { dev }]) => dev !== true,
    );
    const { '': _, ...locked } = lockAt(join(installed, 'docmirror', 'npm-shrinkwrap.json'));
    expect(Object.keys(locked).length).toBeGreaterThan(50);
    expect(locked).toEqual(Object.fromEntries(tested.filter(([path]) => path !== '')));
  });

  test('says its version, explains the codes of errors, and has a schema of what commands print', async () => {
    const help = await docmirror(folder.path, 'help', 'mirror_busy');
    expect(help.stdout).toContain('Wait until it is done');
    expect((await docmirror(folder.path, '--version')).stdout).toBe(`${manifest().version}\n`);
    const schemas = join(installed, 'docmirror', 'schemas');
    expect(readdirSync(schemas).sort()).toEqual(
      Object.keys(outputs)
        .map(command => `${schemaName(command)}.json`)
        .sort(),
    );
    const schema = JSON.parse(readFileSync(join(schemas, 'sync.json'), 'utf8'));
    expect(schema).toMatchObject({ title: 'docmirror sync --json' });
    expect(readFileSync(join(installed, 'docmirror', 'man', 'docmirror.1'), 'utf8')).toBe(await manText());
  });

  test('leaves --env-file to docmirror, which names a file that is missing and exits with 2', async () => {
    const program = join(installed, '.bin', 'docmirror');
    expect(readFileSync(program, 'utf8').split('\n')[0]).toBe('#!/usr/bin/env -S node --');
    const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
    const started = run(program, ['status', '--env-file', 'missing.env'], {
      cwd: folder.path,
      env: { PATH },
    });
    await expect(started).rejects.toMatchObject({
      code: 2,
      stderr: "docmirror: --env-file: missing.env can't be read (ENOENT). [settings]\n",
    });
  });

  test('runs the demo', async () => {
    const { stdout, stderr } = await docmirror(folder.path, 'demo');
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^Run 14 completed in /m);
  });

  test.each([
    ['verify'],
    ['changes', '--format', 'csv'],
    ['report'],
    ['backup', 'copy.sqlite'],
    ['share', 'share.sqlite'],
    ['export', '--format', 'parquet', '--out', 'lists'],
  ])('has all that %s needs', async (...args) => {
    const { stdout } = await docmirror(folder.path, ...args, '--database', 'docmirror-demo.sqlite');
    expect(stdout).not.toBe('');
  });

  test('serves by its threads, and ends with 143', async () => {
    const program = join(installed, '.bin', 'docmirror');
    const args = [
      program,
      'serve',
      '--port',
      '0',
      '--token',
      'a-token',
      '--database',
      'docmirror-demo.sqlite',
    ];
    const { PATH, HOME } = process.env;
    const server = spawn(process.execPath, args, { cwd: folder.path, env: { PATH, HOME } });
    const [line] = await once(server.stdout, 'data');
    const url = String(line).trim().split(' ').at(-1);
    for (const path of ['/', '/search?q=invoice', '/v2/changes', '/changes.csv', '/metrics']) {
      const answer = await fetch(url + path, { headers: { authorization: 'Bearer a-token' } });
      expect([path, answer.status, (await answer.text()).length > 100]).toEqual([path, 200, true]);
    }
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([143, null]);
  });

  function docmirror(cwd: string, ...args: string[]) {
    const { PATH, HOME } = process.env;
    const program = join(installed, '.bin', 'docmirror');
    return run(process.execPath, [program, ...args], { cwd, env: { PATH, HOME } });
  }
});

/** Reads a mirror by `docmirror/schema`; a comment before a line says that it must not compile. */
const typedProgram = `
import Database from 'better-sqlite3';
import { and, desc, eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import * as schema from 'docmirror/schema';
import { changes, connections, documentExports, latestVersions, syncStatus } from 'docmirror/schema';
// @ts-expect-error
import { contentSums } from 'docmirror/schema';

const db = drizzle(new Database('docmirror-demo.sqlite', { readonly: true }));

const [newest] = db
  .select({ title: documentExports.sourceDocumentTitle, source: connections.name, id: documentExports.id })
  .from(documentExports)
  .leftJoin(connections, eq(connections.id, documentExports.sourceConnectionId))
  .orderBy(desc(documentExports.exportedAt))
  .limit(1)
  .all();
const id: number | undefined = newest?.id;
// @ts-expect-error
const title: string | undefined = newest?.title;
console.log(typeof id, typeof newest?.title, typeof newest?.source);

const updates = db.select().from(changes).where(and(eq(changes.runId, 6), eq(changes.operation, 'update'))).all();
for (const { before, operation } of updates) {
  const name: 'insert' | 'update' | 'removal' = operation;
  // @ts-expect-error
  const text: string = before;
}

const latest = db.select().from(latestVersions).all();
const [status] = db.select().from(syncStatus).where(eq(syncStatus.resource, 'webhooks')).all();
console.log(updates.length > 0, latest.length > 0, status?.verdict, status?.recordCount);

const named = [schema.collectionsNamed, schema.documentExportsNamed, schema.webhooksNamed];
for (const each of [...named, schema.recordHistory, schema.syncReceipts, schema.syncRuns]) db.select().from(each).limit(1).all();
`;

test(
  'the package gives a strict TypeScript program the tables and views of a mirror',
  async () => {
    await using folder = temporaryFolder();
    const tarball = await pack(join(folder.path, 'copy'), folder.path);
    const program = join(folder.path, 'program');
    mkdirSync(program);
    writeFileSync(join(program, 'package.json'), '{ "private": true, "type": "module" }\n');
    const { devDependencies } = manifest();
    const packages = ['drizzle-orm', 'typescript', '@types/better-sqlite3', '@types/node'].map(
      name => `${name}@${devDependencies[name]}`,
    );
    await npm(program, 'install', ...quietly, tarball, ...packages);
    expect(await runCli(['demo'], { cwd: program })).toMatchObject({ code: 0 });
    writeFileSync(join(program, 'program.ts'), typedProgram);
    const node = async (...args: string[]) => (await run(process.execPath, args, { cwd: program })).stdout;
    const tsc = join(program, 'node_modules', 'typescript', 'bin', 'tsc');
    const flags = ['--strict', '--noUncheckedIndexedAccess', '--module', 'nodenext', '--target', 'es2024'];
    // Drizzle's own declarations name packages of other databases.
    expect(await node(tsc, ...flags, '--types', 'node', '--skipLibCheck', 'program.ts')).toBe('');
    const [, documented = ''] =
      /```ts\n(.*?)```/s.exec(readFileSync(join(root, 'docs', 'tools.md'), 'utf8')) ?? [];
    writeFileSync(join(program, 'documented.ts'), documented);
    expect(await node(tsc, ...flags, '--types', 'node', '--skipLibCheck', 'documented.ts')).toBe('');
    expect(await node('documented.js')).toMatch(/^(.+\n){3}(\d+ \[ '\w+'(?:, '\w+')* \]\n)+$/);
    expect(await node('program.js')).toBe('number string string\ntrue true complete: proven 4\n');
  },
  installMsMax,
);

/** Packs a copy of the repository, so that what others build or test in it meanwhile is left alone. */
async function pack(copy: string, destination: string): Promise<string> {
  const leftOut = new Set(['node_modules', '.git', 'dist', 'coverage']);
  const isPacked = (path: string) => !leftOut.has(basename(path)) && !/\.(sqlite|tgz)/.test(path);
  cpSync(root, copy, { recursive: true, filter: path => path === root || isPacked(path) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  await npm(copy, 'pack', '--pack-destination', destination);
  const tarballs = readdirSync(destination).filter(name => name.endsWith('.tgz'));
  expect(tarballs).toHaveLength(1);
  return join(destination, tarballs.join());
}

/** Runs npm on the Node that runs the tests. */
async function npm(cwd: string, ...args: string[]): Promise<void> {
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  await run('npm', args, { cwd, env: { ...process.env, PATH } });
}

function manifest(): { name: string; version: string; devDependencies: Record<string, string> } {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}
