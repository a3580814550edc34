// Finishes the newest migrations of drizzle-kit: it can't make tables STRICT, and its custom ones have no statement, which SQLite refuses.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;
for (const name of readdirSync(folder).filter(file => file.endsWith('.sql'))) {
  const path = join(folder, name);
  const before = readFileSync(path, 'utf8');
  const after = before
    .replace(/^\);$/gm, ') STRICT;')
    .replace(/^\);(?=--> statement-breakpoint)/gm, ') STRICT;')
    .replace(/^-- Custom SQL migration file.*\s*$/, '-- Has the views made again.\nSELECT 1;\n');
  if (after !== before) writeFileSync(path, after);
}
