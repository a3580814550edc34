import { expect, test } from 'vitest';
import { changePieces, changesText } from '../../src/render/changes.ts';
import type { Change } from '../../src/store/read/history/changes.ts';

const name = '駐車場に関する附属書の署名済み写し、第七十五号室';

test('the line of an update shows each field before and after', () => {
  const change = { resource: 'collections', operation: 'update', recordId: 4_711 } as const;
  const before = JSON.stringify({ name, sourceConnection: { id: 3, name: 'SAP' }, owner: 'Zoe' });
  const record = JSON.stringify({ name: `${name}!`, sourceConnection: { id: 4, name: 'SAP' } });
  expect(changesText([{ ...change, before, record }], 1, 40)).toBe(
    `~ collections 4711  name: ${name} → ${name}! · sourceConnection: SAP (3) → SAP (4) · owner: Zoe → –\n`,
  );
});

test('the line of a new record is cut by the columns that its characters take', () => {
  const inserted = { resource: 'webhooks', operation: 'insert', recordId: 1, before: null } as const;
  const record = JSON.stringify({ description: name.repeat(4) });
  expect(changesText([{ ...inserted, record }], 1, 40)).toBe('+ webhooks 1  駐車場に関する附属書の署…\n');
});

test('a line shows no secret, and says that one has changed', () => {
  const update = { resource: 'webhooks', operation: 'update', recordId: 1 } as const;
  const sides = { before: '{"signingKey":"old-one"}', record: '{"signingKey":"new-one"}' };
  expect(changesText([{ ...update, ...sides }], 1, 120)).toMatch(
    /signingKey: .not shown. → .not shown. .a part that is not shown has changed.\n$/,
  );
});

test('a line for programs names what has changed, not a renamed connection, and steers no terminal', async () => {
  const text = (name: string, connection: string) =>
    JSON.stringify({ id: 1, name, sourceConnection: { id: 3, name: connection } });
  const change: Change = {
    ...({ runId: 2, changedAt: null, resource: 'collections', recordId: 1, operation: 'update' } as const),
    ...{ before: text('old', 'SAP'), record: text('a\u009b\u202eb', 'S/4') },
  };
  const lines = async (changes: readonly Change[]) =>
    [...(await changePieces(Iterator.from(changes), 'ndjson', 80, ['collections'], []))].join('');
  const line = await lines([change]);
  expect(line).toMatch(/^[\n\x20-\x7e]+$/);
  expect(JSON.parse(line)).toMatchObject({ changedFields: ['name'], record: { name: 'a\u009b\u202eb' } });
  await expect(
    lines([{ ...change, operation: 'removal', record: 'no JSON', before: null }]),
  ).rejects.toThrow();
});
