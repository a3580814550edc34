import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { runCli, temporaryFolder } from '../support/run-cli.ts';

const readmePath = join(import.meta.dirname, '..', '..', 'README.md');
const readme = readFileSync(readmePath, 'utf8');

test('the README shows what the demo prints', async () => {
  await using folder = temporaryFolder();
  const demo = await runCli(['demo', '--until', '2026-11-01T18:00:00Z'], { cwd: folder.path });
  expect(demo).toMatchObject({ code: 0, stderr: '' });
  // `npm test -- test/docs/readme.test.ts -u` writes what differs.
  await expect(withTranscript(readme, demo.stdout)).toMatchFileSnapshot(readmePath);
});

/** The README with this transcript of the demo in it, if more differs than ports, durations, roots and what the order of answers decides. */
function withTranscript(text: string, transcript: string): string {
  return text.replace(
    /(## What you see\n\n```text\n)(.*?)(```\n)/s,
    (whole, before: string, shown: string, after: string) =>
      isDeepStrictEqual(steady(shown), steady(transcript)) ? whole : before + transcript + after,
  );
}

/** Pages are fetched side by side, so docmirror's own ids, and the order by them, differ from run to run. */
function steady(transcript: string): string[] {
  return transcript
    .replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replace(/ in [\d.]+ m?s\./g, ' in TIME.')
    .replace(/^[\da-f]{64}$/gm, 'ROOT')
    .replace(
      /^([−~+] document-exports) \d+ (.*)$/gm,
      (_, start: string, rest: string) => `${start} ID ${rest.slice(0, 60)}`,
    )
    .split('\n')
    .sort();
}
