import { expect, test } from 'vitest';
import { checkText } from '../../src/render/checks.ts';
import { type Verified, verificationText, verifiedOf } from '../../src/render/verification.ts';

type Audited = Omit<Verified, 'ok' | 'live'>;

const sound: Audited = {
  path: 'mirror.sqlite',
  lists: [],
  connectionCount: 2,
  versionCount: 1,
  runCount: 3,
  restored: [],
  receiptCount: 3,
  prunedBefore: null,
  prunedKept: null,
  rebuiltAfterRunId: null,
  erasedCount: 0,
  otherObjects: [],
  differences: [],
  differenceCount: 0,
};
const counted = '2 connections, 1 version in the history, 3 runs.';
const difference = {
  table: 'collections',
  id: 7,
  what: 'the row is not as it was',
  severity: 'content',
} as const;
const altered = { ...sound, differences: [difference], differenceCount: 1 };
const checkpoint = {
  file: 'checkpoint',
  size: 3,
  signature: 'absent',
  notes: ['The checkpoint has no signature.'],
} as const;
const live = { isProven: true, notes: [], differenceCount: 0, differences: [] };

test.each<[what: string, Audited, live: Verified['live'], isOk: boolean, text: string]>([
  ['a sound mirror', sound, null, true, `mirror.sqlite is sound: ${counted}\n`],
  [
    'an altered one',
    altered,
    null,
    false,
    'mirror.sqlite is NOT as docmirror wrote it: 1 difference.\n  collections 7: the row is not as it was [content]\n',
  ],
  [
    'more differences than are shown',
    { ...altered, differenceCount: 1_003 },
    null,
    false,
    'mirror.sqlite is NOT as docmirror wrote it: 1,003 differences.\n  collections 7: the row is not as it was [content]\n  … and 1,002 more; --limit shows them\n',
  ],
  [
    'a checkpoint that is no evidence, which is no alteration',
    { ...sound, checkpoints: [checkpoint], differenceCount: 1 },
    null,
    false,
    `No difference was found in mirror.sqlite, but not every checkpoint can be relied on: ${counted}\nThe checkpoint has no signature.\n  … and 1 more; --limit shows them\n`,
  ],
  [
    'a mirror that was pruned, rebuilt and erased from, with an object of others',
    {
      ...sound,
      prunedBefore: '2026-01-01T00:00:00.000Z',
      prunedKept: 'sum',
      rebuiltAfterRunId: 2,
      erasedCount: 1,
      otherObjects: [{ type: 'view', name: 'mine' }],
    },
    null,
    true,
    `mirror.sqlite is sound: ${counted}
Versions that ended before 2026-01-01T00:00:00.000Z were deleted: what runs changed up to then was not recomputed.
An older docmirror deleted them. Its receipt is weaker: rows that were moved to another run since are not found.
The mirror was rebuilt after run 2: what runs changed up to then was not recomputed.
Erased, so that only the content is left: 1 text.
Not made by docmirror, and left alone: view mine.
`,
  ],
  [
    'a mirror that is what the service lists',
    sound,
    live,
    true,
    `mirror.sqlite is sound: ${counted}\n\nThe mirror is what the service lists, record for record.\n`,
  ],
  [
    'a list that could not be compared',
    sound,
    { ...live, isProven: false, notes: ['webhooks could not be compared: no'] },
    false,
    `mirror.sqlite is sound: ${counted}\n\nNo difference from the service was found, but not all of it could be compared.\nwebhooks could not be compared: no\n`,
  ],
  [
    'a record that differs in a part that is not shown',
    sound,
    {
      ...live,
      differenceCount: 1,
      differences: [
        {
          kind: 'different',
          resource: 'webhooks',
          id: 1,
          key: '1',
          fields: [{ field: 'endpoint', mirror: 'https://a', service: 'https://a' }],
        },
      ],
    },
    false,
    `mirror.sqlite is sound: ${counted}\n\nThe mirror is not what the service lists: 1 difference.\n  webhooks 1: different\n    endpoint: "https://a" in the mirror, "https://a" at the service, in a part that is not shown\n`,
  ],
])('verify says of %s whether it is sound, and why not', (_what, audited, compared, isOk, text) => {
  const verified = verifiedOf(audited, compared);
  expect(verified.ok).toBe(isOk);
  expect(verificationText(verified, 200)).toBe(text);
});

test('a message of SQLite about damage in several lines becomes one line without control characters', () => {
  const what = "SQLite's integrity check: Tree 23 page 64:\n  btreeInitPage() returns error code 11\u001b";
  const line = "SQLite's integrity check: Tree 23 page 64: btreeInitPage() returns error code 11\\u001b";
  const damage = { table: null, id: null, what, severity: 'content' } as const;
  const verified = verifiedOf({ ...sound, differences: [damage], differenceCount: 1 }, null);
  expect(verificationText(verified, 200)).toContain(`\n  file: ${line} [content]\n`);
  const finding = { check: 'mirror', status: 'failed', found: what, todo: null, code: null } as const;
  expect(checkText(finding, Number.POSITIVE_INFINITY)).toContain(`${line}\n`);
});
