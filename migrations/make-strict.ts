// Makes the tables of the newest generated migrations STRICT, because drizzle-kit can't.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;
for (const name of readdirSync(folder).filter(file => file.endsWith('.sql'))) {
  const path = join(folder, name);
  const before = readFileSync(path, 'utf8');
  const after = before
    .replace(/^\);$/gm, ') STRICT;')
    .replace(/^\);(?=--> statement-breakpoint)/gm, ') STRICT;');
  if (after !== before) writeFileSync(path, after);
}
