import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { referencePath, referenceText } from '../../docs/reference.ts';

test('docs/reference.md is what "npm run docs:reference" writes', async () => {
  const shown = readFileSync(referencePath, 'utf8');
  expect(shown).toBe(await referenceText());
  expect(shown).toContain('### `docmirror publish clickhouse`');
  expect(shown).toContain('| `11` | another run is using this mirror |');
});
