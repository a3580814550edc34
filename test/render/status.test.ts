import { describe, expect, test } from 'vitest';
import { statusText } from '../../src/render/status.ts';
import type { ListStatus } from '../../src/store/read/run-reader.ts';

const nowMs = Date.parse('2026-11-20T10:00:34.000Z');
const list: ListStatus = {
  resource: 'document-exports',
  recordCount: 1_203,
  lastCompletedAt: '2026-11-20T10:00:00.000Z',
  lastFullAt: '2026-11-20T10:00:00.000Z',
  lastRun: null,
  unknownFields: [],
  lastEnded: null,
};
const never: ListStatus = { ...list, resource: 'webhooks', lastCompletedAt: null, lastFullAt: null };

describe('the status, with the age that lists can have', () => {
  test('says of each list that is older by how much it is, and what never completed', () => {
    const text = statusText([list, never], nowMs, { maxAgeMs: 1_000 });
    expect(text).toContain(
      '\n\ndocument-exports: its last completed run ended 34.0 s ago, longer than --max-age allows.\n' +
        'webhooks: no run of it has completed, so it is older than --max-age allows.\n',
    );
  });

  test('says nothing more if every list is fresh', () => {
    expect(statusText([list], nowMs, { maxAgeMs: 60_000 })).toBe(statusText([list], nowMs));
  });
});
