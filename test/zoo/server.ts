import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the socket of PostgreSQL. */
    readonly socketFolder: string;
  }
}

const keeperPath = fileURLToPath(new URL('./server-keeper.ts', import.meta.url));

/** Starts PostgreSQL before the first test, and returns what stops it after the last one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const keeper = spawn(process.execPath, [keeperPath], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  keeper.stderr.on('data', chunk => {
    said += chunk;
  });
  const ended = once(keeper, 'exit');
  const early = ended.then(() => {
    throw new Error(`PostgreSQL did not start. Install it with "npm ci" in test/zoo.\n${said}`);
  });
  const [folder] = await Promise.race([once(keeper.stdout, 'data'), early]);
  early.catch(() => undefined);
  project.provide('socketFolder', String(folder).trim());
  return async () => {
    keeper.stdin.end();
    await ended;
  };
}
