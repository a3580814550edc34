import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cliPath = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** A `PATH` on which `docmirror` is found, as if it were installed: what stands in a help text can be typed as it is. */
export function pathWithDocmirror(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = join(bin, 'docmirror');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" -- "${cliPath}" "$@"\n`);
  chmodSync(program, 0o755);
  return `${bin}${delimiter}${process.env.PATH}`;
}
