import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';

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
  for (const name of ['src', 'migrations', 'package.json', 'drizzle.config.ts', 'tsconfig.json'])
    cpSync(join(root, name), join(to, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(to, 'node_modules'));
}

/** Does the work of "npm run db:generate" in a copy of the program. */
export async function generateMigration(copy: string): Promise<void> {
  const drizzleKit = join(root, 'node_modules/drizzle-kit/bin.cjs');
  expect(await runNode(copy, [drizzleKit, 'generate'])).toMatchObject({ code: 0 });
  expect(await runNode(copy, ['migrations/make-strict.ts'])).toMatchObject({ code: 0 });
}
