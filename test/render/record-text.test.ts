import { expect, test } from 'vitest';
import { matchesText, shownFieldsOf, storyText } from '../../src/render/record-text.ts';
import type { StoryVersion } from '../../src/store/read/history/story.ts';

const at = '2026-11-20T14:00:00.000Z';
const version: StoryVersion = {
  from: { runId: 4, at },
  to: null,
  endedBy: null,
  isFirst: false,
  record: '{"id":7,"name":"now","sourceConnection":{"id":3,"name":"SAP"}}',
  before: { record: '{"id":7,"name":"then","sourceConnection":{"id":4,"name":"SAP"}}' },
};
const firstSeen = { runId: 1, at };
const story = { resource: 'collections', recordId: 7, firstSeen, versions: [version], versionCount: 1 };

test.each([
  [
    'a change field by field, and connections by name and id',
    {},
    '  ~ name: then → now\n  ~ sourceConnection: SAP (4) → SAP (3)\n',
  ],
  [
    'a list of nothing as none',
    { record: '{"events":[]}', before: { record: '{"events":["a"]}' } },
    '  ~ events: a → none\n',
  ],
  [
    'a version whose predecessor was pruned, which is no new record',
    { before: null },
    '  the version before it is no longer kept; what it says is shown above\n',
  ],
  ['a text that was erased', { record: null, before: { record: null } }, ')\n  the text was erased\n'],
  [
    'a run whose end is not recorded by its number alone',
    { from: { runId: 4, at: null } },
    'collections 7, unchanged since run 4:\n',
  ],
])('the story of a record shows %s', (_, more, words) => {
  expect(storyText({ ...story, versions: [{ ...version, ...more }] })).toContain(words);
});

test('of more versions or matches than are shown, the rest is counted', () => {
  expect(storyText({ ...story, versionCount: 2 })).toContain('… and 1 older one in record_history.\n');
  const found = { resource: 'document-exports', matchedBy: 'reference' as const, wanted: 'INV\u001b1' };
  const text = matchesText({ ...found, matchCount: 1_500, stories: [story, story], alsoReferenceOf: [] }, 80);
  expect(text).toContain('1,500 records of document-exports have the reference INV\\u001b1:');
  expect(text).toContain('… and 1,498 more\n');
});

test('a record in words has no secret in it, wherever it is set', () => {
  const record = JSON.stringify({
    id: 1,
    endpoint: 'https://hooks.example/hunter2',
    description: 'see https://u:hunter2@host/p?hunter2 now',
    signingKey: 'hunter2',
    nested: { token: 'hunter2', list: [{ password: 'hunter2' }] },
  });
  const fields = shownFieldsOf('webhooks', record);
  expect(JSON.stringify(fields)).not.toContain('hunter2');
  expect(fields.map(({ text }) => text)).toEqual([
    '1',
    'https://hooks.example/…',
    'see https://host/p?… now',
    '(not shown)',
    '(not shown)',
  ]);
});
