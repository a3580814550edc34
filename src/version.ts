import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the package. It contains the migrations, and the program in `src` or, if built, in `dist`. */
export const packageFolder = join(import.meta.dirname, '..');

const manifest: { version: string } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));

/** This docmirror's version, as its package says. */
export const version = manifest.version;
