import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Writes npm-shrinkwrap.json before a package is packed, and with --remove deletes it again, because npm would ignore
// package-lock.json beside it. With this file every user installs exactly the versions that were tested.

interface Locked {
  readonly [key: string]: unknown;
  readonly version?: string;
  readonly dev?: boolean;
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
  readonly [key: string]: unknown;
}

/** The lock for users of docmirror: a package-lock.json without the packages for development. */
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
