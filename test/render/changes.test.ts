import { expect, test } from 'vitest';
import { changesText } from '../../src/render/changes.ts';
import { columnsOf } from '../../src/render/cut.ts';

const title = 'Lease "Unit 75" (Chloë O\'Brien), signed copy of the annex about parking';
const name = '駐車場に関する附属書の署名済み写し、第七十五号室';

/** The line of an update from one record to another. */
function line(before: object, record: object): string {
  const change = { resource: 'collections', operation: 'update', recordId: 4_711 } as const;
  const texts = { before: JSON.stringify(before), record: JSON.stringify(record) };
  return changesText([{ ...change, ...texts }], 1, 80);
}

test.each([
  ['what fits whole', { name: 'one' }, { name: 'two' }, 'name: one → two'],
  [
    'the part of long values that changed',
    { title: `${title} 7, final version` },
    { title: `${title} 8, final version` },
    'title: …parking 7, final versi… → …parking 8, final versi…',
  ],
  [
    'what was added at an end',
    { title },
    { title: `${title}!` },
    'title: …the annex about parking → …he annex about parking!',
  ],
  ['a value that went', { title }, { title: null }, 'title: Lease "Unit 75" (Chloë … → –'],
])('the line of an update shows %s', (_, before, record, words) => {
  expect(line(before, record)).toBe(`~ collections 4711  ${words}\n`);
});

test('a line counts a character by the columns that it takes', () => {
  const inserted = { resource: 'webhooks', operation: 'insert', recordId: 1, before: null } as const;
  const record = JSON.stringify({ description: name.repeat(4) });
  expect(changesText([{ ...inserted, record }], 1, 40)).toBe('+ webhooks 1  駐車場に関する附属書の署…\n');
  const shown = line({ name: `${name.repeat(3)}一` }, { name: `${name.repeat(3)}二` });
  expect(shown).toMatch(/name: ….*一 → ….*二\n$/);
  expect(columnsOf(shown.trimEnd())).toBeLessThanOrEqual(80);
});

test('a line shows no secret, and says that one has changed', () => {
  const update = { resource: 'webhooks', operation: 'update', recordId: 1 } as const;
  const sides = { before: '{"signingKey":"old-one"}', record: '{"signingKey":"new-one"}' };
  expect(changesText([{ ...update, ...sides }], 1, 120)).toMatch(
    /signingKey: .not shown. → .not shown. .a part that is not shown has changed.\n$/,
  );
});
