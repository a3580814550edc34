import { expect, test } from 'vitest';
import { matchesText, storyText } from '../../src/render/record-story.ts';
import type { StoryVersion } from '../../src/store/read/record-story.ts';

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

test('a change is shown field by field, and connections by name and id', () => {
  const text = storyText({ ...story, versionCount: 2 });
  expect(text).toContain('collections 7, unchanged since run 4 (2026-11-20 14:00:00Z):\n');
  expect(text).toContain('  ~ name: then → now\n  ~ sourceConnection: SAP (4) → SAP (3)\n');
  expect(text).toContain('… and 1 older one in record_history.\n');
});

test('a list of nothing is shown as none', () => {
  const record = '{"id":7,"events":[],"name":null,"connections":[]}';
  const text = storyText({
    ...story,
    versions: [{ ...version, record, before: { record: '{"id":7,"events":["a"]}' } }],
  });
  expect(text).toMatch(/ {2}events +none\n {2}connections +none\n/);
  expect(text).toContain('~ events: a → none\n');
});

test('a version whose predecessor was pruned says so, and is no new record', () => {
  const text = storyText({ ...story, versions: [{ ...version, before: null }] });
  expect(text).toContain('  the version before it is no longer kept; what it says is shown above\n');
  expect(text).not.toContain('new in the list');
});

test('a text that was erased is said to be, and is no change of fields', () => {
  const erased = storyText({ ...story, versions: [{ ...version, record: null, before: { record: null } }] });
  expect(erased).toContain('the text was erased');
  expect(erased).not.toContain('~');
});

test('a run whose end is not recorded is named by its number alone', () => {
  expect(storyText({ ...story, versions: [{ ...version, from: { runId: 4, at: null } }] })).toMatch(
    /^collections 7, unchanged since run 4:\n/,
  );
});

test('of more matches than are shown, the rest is counted', () => {
  const found = {
    resource: 'document-exports',
    matchedBy: 'reference' as const,
    wanted: 'INV\u001b1',
    matchCount: 1_500,
    stories: [story, story],
    alsoReferenceOf: [],
  };
  const text = matchesText(found, 80);
  expect(text).toContain('1,500 records of document-exports have the reference INV\\u001b1:');
  expect(text).toContain('… and 1,498 more\n');
});
