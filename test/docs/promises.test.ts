import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'promises.md'), 'utf8');
const promises = [...page.matchAll(/^- (.+)\n {2}`(test\/.+\.test\.ts)`: (.+)$/gm)];

test('every promise has a test that there is', () => {
  expect(promises.length).toBeGreaterThan(30);
  const missing = promises.filter(([, , file = '', name = '']) => {
    const path = join(root, file);
    return (
      !existsSync(path) ||
      !["'", '"', '`'].some(quote => readFileSync(path, 'utf8').includes(`${quote}${name}${quote}`))
    );
  });
  expect(missing.map(([row]) => row)).toEqual([]);
});
