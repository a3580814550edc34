import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliOptions, runProcess } from './run-cli.ts';

/** Runs before the program: it kills its own process when it makes its nth change of the file system. */
const hook = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const at = Number(process.env.KILL_AT);
let made = 0;
const step = () => { if (++made === at) process.kill(process.pid, 'SIGKILL'); };
for (const name of ['renameSync', 'rmSync', 'unlinkSync', 'appendFileSync', 'writeFileSync', 'chmodSync', 'chownSync', 'fsyncSync', 'mkdirSync', 'closeSync']) {
  const real = fs[name];
  fs[name] = (...args) => { step(); const done = real(...args); step(); return done; };
}
syncBuiltinESMExports();
`;

/** Runs docmirror in a process that is killed as it makes its nth change of the file system: before it, or after it. */
export async function runKilledAt(at: number, folder: string, args: string[], options: CliOptions) {
  const path = join(folder, 'kill-at.mjs');
  if (!existsSync(path) || readFileSync(path, 'utf8') !== hook) writeFileSync(path, hook);
  const env = { ...options.env, KILL_AT: String(at), NODE_OPTIONS: `--import=${path}` };
  const { signal, code, stderr } = await runProcess(args, { ...options, env });
  return { wasKilled: signal === 'SIGKILL', code, stderr };
}
