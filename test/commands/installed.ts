import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { programPath } from '../support/program.ts';

/** A `PATH` on which `docmirror` is found, as if it were installed. The examples of a help text run as they are. */
export function pathWithDocmirror(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = join(bin, 'docmirror');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" -- "${programPath}" "$@"\n`);
  chmodSync(program, 0o755);
  return `${bin}${delimiter}${process.env.PATH}`;
}
