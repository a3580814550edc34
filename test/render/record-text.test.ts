import { describe, expect, test } from 'vitest';
import { differencesOf, fieldsOf } from '../../src/render/record-text.ts';

describe('a record in words', () => {
  test('has no secret in it, wherever it is set', () => {
    const record = JSON.stringify({
      id: 1,
      endpoint: 'https://hooks.example/hunter2',
      description: 'see https://u:hunter2@host/p?hunter2 now',
      signingKey: 'hunter2',
      nested: { token: 'hunter2', list: [{ password: 'hunter2' }] },
    });
    const fields = fieldsOf('webhooks', record);
    expect(JSON.stringify(fields)).not.toContain('hunter2');
    expect(fields.map(({ text }) => text)).toEqual([
      '1',
      'https://hooks.example/…',
      'see https://host/p?… now',
      '(not shown)',
      '(not shown)',
    ]);
  });

  test('is cut if it is too long, and control characters are shown as escapes', () => {
    const [field] = fieldsOf(
      'collections',
      JSON.stringify({ name: `a\u0000\u001b[31m${'x'.repeat(1_000)}` }),
    );
    expect(field?.text).toHaveLength(160);
    expect(field?.text).toMatch(/^a\\u0000\\u001b\[31mx/);
    expect(fieldsOf('collections', '{"a\\u001b":1}')).toMatchObject([{ name: 'a\\u001b', text: '1' }]);
    expect(differencesOf('collections', '{}', '{"a\\u202e":1}')[0]?.name).toBe('a\\u202e');
  });
});
