import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { currentShape } from '../../src/store/file/open.ts';

const root = join(import.meta.dirname, '..', '..');

/** How a process ended, and what it printed. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node.js in a folder. */
export async function runNode(cwd: string, args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}

/** Adds a line behind another one that is there once. */
export function addBehind(path: string, line: string, added: string): void {
  const parts = readFileSync(path, 'utf8').split(line);
  expect([path, parts.length]).toEqual([path, 2]);
  writeFileSync(path, parts.join(`${line}${added}`));
}

/** Copies the program's source, for a maintainer's steps to be tried on it. */
export function copyProgram(to: string): void {
  for (const name of ['src', 'examples', 'migrations', 'package.json', 'drizzle.config.ts', 'tsconfig.json'])
    cpSync(join(root, name), join(to, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(to, 'node_modules'));
}

/** Does the work of a script that writes a migration, in a copy of the program: its commands are those of package.json. */
export async function generateMigration(copy: string, script: 'db:generate' | 'db:views' = 'db:generate') {
  // The next release has the next shape.
  const opening = join(copy, 'src/store/file/open.ts');
  const text = readFileSync(opening, 'utf8');
  writeFileSync(opening, text.replace(/currentShape = \d+;/, `currentShape = ${currentShape + 1};`));
  const { scripts } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'));
  for (const command of String(scripts[script]).split(' && ')) {
    const [program = '', ...args] = command.split(' ');
    const words = program === 'node' ? args : [join(root, `node_modules/${program}/bin.cjs`), ...args];
    expect(await runNode(copy, words)).toMatchObject({ code: 0 });
  }
}
