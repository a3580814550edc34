import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

test('a file whose tests play some of their cases is played with all of them by the long tests', () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8');
  const some = globSync('**/*.test.ts', { cwd: import.meta.dirname }).filter(
    path => !path.endsWith('.long.test.ts') && /\/support\/cases\.ts'/.test(read(path)),
  );
  expect(some.length).toBeGreaterThan(10);
  const lost = some.filter(
    path => !read(path.replace('.test.ts', '.long.test.ts')).includes(`import './${basename(path)}';`),
  );
  expect(lost).toEqual([]);
});
