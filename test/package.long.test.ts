import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlite, temporaryFolder } from './support/run-cli.ts';

const root = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** Installing from the registry may be slow. */
const installMsMax = 180_000;

describe('the package, installed in an empty folder', () => {
  const folder = temporaryFolder();
  const copy = join(folder.path, 'copy');
  const installed = join(folder.path, 'installed', 'node_modules');

  beforeAll(async () => {
    const tarball = await pack(copy, folder.path);
    const empty = join(folder.path, 'installed');
    mkdirSync(empty);
    writeFileSync(join(empty, 'package.json'), '{ "private": true }\n');
    await npm(empty, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', tarball);
  }, installMsMax);

  afterAll(() => folder[Symbol.asyncDispose]());

  test('holds the program, its migrations and its papers, and nothing else', () => {
    expect(readdirSync(join(installed, 'docmirror')).sort()).toEqual(
      [
        ...['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'deploy', 'dist', 'docs'],
        ...['man', 'migrations', 'package.json'],
      ].sort(),
    );
    const programs = readdirSync(join(installed, 'docmirror', 'dist'), { recursive: true, encoding: 'utf8' });
    expect(programs).toContain('cli.js');
    expect(programs.filter(name => !/^[\w-]+\.js$/.test(name))).toEqual([]);
  });

  test('needs nothing that only development needs', () => {
    const { devDependencies } = manifest();
    const packages = readdirSync(installed);
    expect(Object.keys(devDependencies).filter(name => packages.includes(name))).toEqual([]);
  });

  test('says its version', async () => {
    const { stdout } = await docmirror(folder.path, '--version');
    expect(stdout).toBe(`${manifest().version}\n`);
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
      stderr: "docmirror: --env-file: missing.env can't be read (ENOENT).\n",
    });
  });

  test('runs the demo', async () => {
    const { stdout, stderr } = await docmirror(folder.path, 'demo');
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^Run 2 completed in /m);
    const statuses = sqlite(join(folder.path, 'docmirror-demo.sqlite'), 'SELECT status FROM sync_runs');
    expect(statuses).toEqual([{ status: 'completed' }, { status: 'completed' }]);
  });

  test.each([
    ['verify'],
    ['changes', '--format', 'csv'],
    ['report'],
    ['backup', 'copy.sqlite'],
    ['export', '--format', 'parquet', '--out', 'lists'],
  ])('has all that %s needs', async (...args) => {
    const { stdout } = await docmirror(folder.path, ...args, '--database', 'docmirror-demo.sqlite');
    expect(stdout).not.toBe('');
  });

  function docmirror(cwd: string, ...args: string[]) {
    const { PATH, HOME } = process.env;
    const program = join(installed, '.bin', 'docmirror');
    return run(process.execPath, [program, ...args], { cwd, env: { PATH, HOME } });
  }
});

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

function manifest(): { version: string; devDependencies: Record<string, string> } {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}
