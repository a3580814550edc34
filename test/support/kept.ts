import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** Unpacks a mirror or share that an earlier release made, and that this folder keeps, for its owner alone. */
export function putKept(name: string, path: string): void {
  const bytes = gunzipSync(readFileSync(join(import.meta.dirname, `${name}.sqlite.gz`)));
  writeFileSync(path, bytes, { mode: 0o600 });
}
