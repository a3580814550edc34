import { describe, expect, test } from 'vitest';
import { fieldsOf } from '../../src/render/record-text.ts';

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
});
