import { describe, expect, test } from 'vitest';
import { changesText } from '../../src/render/changes.ts';
import { columnsOf } from '../../src/render/cut.ts';

const title = 'Lease "Unit 75" (Chloë O\'Brien), signed copy of the annex about parking';

/** The line of an update from one record to another. */
function line(before: object, record: object, width = 80): string {
  const change = { resource: 'document-exports', operation: 'update', recordId: 4_711 } as const;
  const texts = { before: JSON.stringify(before), record: JSON.stringify(record) };
  return changesText([{ ...change, ...texts }], 1, width);
}

describe('the line of an update', () => {
  test('shows what fits whole', () => {
    expect(line({ name: 'one' }, { name: 'two' })).toBe('~ document-exports 4711  name: one → two\n');
  });

  test('shows of long values that begin and end alike the part that changed', () => {
    const shown = line(
      { sourceDocumentTitle: `${title} 7, final version` },
      { sourceDocumentTitle: `${title} 8, final version` },
    );
    expect(shown).toBe('~ document-exports 4711  sourceDocumentTitle: …parking 7, f… → …parking 8, f…\n');
    expect(shown.trimEnd().length).toBeLessThanOrEqual(80);
  });

  test('shows what was added at the end of a long value, and where a value came or went', () => {
    expect(line({ title }, { title: `${title}!` })).toContain('parking → …');
    expect(line({ title }, { title: `${title}!` })).toMatch(/parking!\n$/);
    expect(line({ title }, { title: null })).toMatch(/title: Lease .*… → –\n$/);
  });

  test('counts a character by the columns that it takes', () => {
    const name = '駐車場に関する附属書の署名済み写し、第七十五号室';
    const inserted = { resource: 'webhooks', operation: 'insert', recordId: 1, before: null } as const;
    const text = changesText(
      [{ ...inserted, record: JSON.stringify({ description: name.repeat(4) }) }],
      1,
      40,
    );
    expect(text).toBe('+ webhooks 1  駐車場に関する附属書の署…\n');
    const shown = line({ name: `${name.repeat(3)}一` }, { name: `${name.repeat(3)}二` });
    expect(shown).toMatch(/name: ….*一 → ….*二\n$/);
    expect(columnsOf(shown.trimEnd())).toBeLessThanOrEqual(80);
  });

  test('shows no secret, and says that one has changed', () => {
    const update = { resource: 'webhooks', operation: 'update', recordId: 1 } as const;
    const sides = { before: '{"signingKey":"old-one"}', record: '{"signingKey":"new-one"}' };
    expect(changesText([{ ...update, ...sides }], 1, 120)).toMatch(
      /signingKey: .not shown. → .not shown. .a part that is not shown has changed.\n$/,
    );
    const inserted = { resource: 'webhooks', operation: 'insert', recordId: 1, before: null } as const;
    expect(changesText([{ ...inserted, record: '{"id":1,"apiKey":"k-1"}' }], 1, 80)).toBe(
      '+ webhooks 1  (not shown)\n',
    );
  });

  test('shows different numbers that are equal as doubles', () => {
    const change = { resource: 'collections', operation: 'update', recordId: 1 } as const;
    const texts = { before: '{"n":12345678901234567891}', record: '{"n":12345678901234567892}' };
    expect(changesText([{ ...change, ...texts }], 1, 80)).toBe(
      '~ collections 1  n: 12345678901234567891 → 12345678901234567892\n',
    );
  });
});
