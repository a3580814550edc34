import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Writes npm-shrinkwrap.json before a package is packed, and with --remove takes it away again: beside it, npm would not look at
// package-lock.json. By it whoever installs the package gets the very versions that were tested.

interface Locked {
  readonly [key: string]: unknown;
  readonly version?: string;
  readonly dev?: boolean;
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
  readonly [key: string]: unknown;
}

/** The lock of those who only use docmirror: what a package-lock.json has, without what only development needs. */
export function shrinkwrapOf(lock: Lock): Lock {
  const { '': root = {}, ...packages } = lock.packages;
  const { devDependencies, ...own } = root;
  const needed = Object.entries(packages).filter(([, { dev }]) => dev !== true);
  return { ...lock, packages: { '': own, ...Object.fromEntries(needed) } };
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const path = join(root, 'npm-shrinkwrap.json');
  if (process.argv.includes('--remove')) rmSync(path, { force: true });
  else {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    writeFileSync(path, `${JSON.stringify(shrinkwrapOf(lock), null, 2)}\n`);
  }
}
