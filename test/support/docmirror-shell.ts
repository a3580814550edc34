import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { programPath } from './program.ts';

/** Runs what a page has one type: a script of `sh`, to its end; what it prints on standard error goes to the test's own. */
export type Shell = (
  script: string,
  env?: Record<string, string>,
) => Promise<{ readonly code: number | null; readonly output: string }>;

/** A shell in a folder, with `docmirror` on its path: a program in the folder's `bin`. */
export function docmirrorShell(folder: string): Shell {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const program = `#!/bin/sh\nexec "${process.execPath}" -- "${programPath}" "$@"\n`;
  writeFileSync(join(bin, 'docmirror'), program, { mode: 0o755 });
  return async (script, env = {}) => {
    const child = spawn('sh', ['-c', script], {
      cwd: folder,
      env: { PATH: `${bin}:${process.env.PATH}`, TMPDIR: folder, DOCMIRROR_LOG_LEVEL: 'warn', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return { code, output };
  };
}
