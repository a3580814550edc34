import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outputs, schemaName, schemaOf } from '../src/render/outputs/outputs.ts';

// Writes the JSON Schemas of the package, schemas/: npm run build

const folder = join(import.meta.dirname, '..', 'schemas');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const [command, output] of Object.entries(outputs)) {
  const text = `${JSON.stringify(schemaOf(command, output), null, 2)}\n`;
  writeFileSync(join(folder, `${schemaName(command)}.json`), text);
}
