import { expect, test } from 'vitest';
import type { Verification } from '../../src/contract/results.ts';
import { findingText } from '../../src/render/findings.ts';
import { verificationText } from '../../src/render/verification.ts';

const multiline = "SQLite's integrity check: Tree 23 page 64:\n  btreeInitPage() returns error code 11\u001b";
const joined = "SQLite's integrity check: Tree 23 page 64: btreeInitPage() returns error code 11\\u001b";

test('a message of SQLite about damage in several lines becomes one line', () => {
  const verification: Verification = {
    path: 'mirror.sqlite',
    lists: [],
    connectionCount: 0,
    versionCount: 0,
    runCount: 0,
    receiptCount: 0,
    prunedBefore: null,
    rebuiltAfterRunId: null,
    erasedCount: 0,
    otherObjects: [],
    differences: [{ table: null, id: null, what: multiline, severity: 'content' }],
    differenceCount: 1,
  };
  expect(verificationText(verification)).toBe(
    `mirror.sqlite is NOT as docmirror wrote it: 1 difference.\n  file: ${joined} [content]\n`,
  );
  const finding = { check: 'mirror', status: 'failed', found: multiline, todo: null, code: null } as const;
  expect(findingText(finding, Number.POSITIVE_INFINITY)).toContain(`${joined}\n`);
});
