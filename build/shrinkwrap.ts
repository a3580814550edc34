import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Writes npm-shrinkwrap.json before a package is packed, and with --remove deletes it again, because npm would ignore
// package-lock.json beside it. With this file every user installs exactly the versions that were tested.

const root = join(import.meta.dirname, '..');
const path = join(root, 'npm-shrinkwrap.json');
if (process.argv.includes('--remove')) rmSync(path, { force: true });
else {
  // The lock for users: package-lock.json without the packages for development.
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { '': { devDependencies, ...own } = {}, ...packages } = lock.packages;
  const needed = Object.entries<{ dev?: boolean }>(packages).filter(([, { dev }]) => dev !== true);
  lock.packages = { '': own, ...Object.fromEntries(needed) };
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
}
