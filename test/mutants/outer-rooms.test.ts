import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outerMutants } from './outer-rooms.ts';

const textOf = (path: string) => readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8');

test('each guard of the list is in the program once, and the test that fails without it is there', () => {
  const lost = outerMutants.filter(
    ({ file, line, test, name }) => textOf(file).split(line).length !== 2 || !textOf(test).includes(name),
  );
  expect(lost).toEqual([]);
  expect(new Set(outerMutants.map(({ guards }) => guards)).size).toBe(outerMutants.length);
});
