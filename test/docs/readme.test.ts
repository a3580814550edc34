import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { settings } from '../../src/config/settings.ts';
import { runCli, temporaryFolder } from '../support/run-cli.ts';

const root = join(import.meta.dirname, '..', '..');
const readmePath = join(root, 'README.md');
const readme = readFileSync(readmePath, 'utf8');

describe('the README', () => {
  test('shows what the demo prints', async () => {
    await using folder = temporaryFolder();
    const demo = await runCli(['demo', '--until', '2026-11-01T18:00:00Z'], { cwd: folder.path });
    expect(demo).toMatchObject({ code: 0, stderr: '' });
    // `npm test -- test/docs/readme.test.ts -u` writes what differs.
    await expect(withTranscript(readme, demo.stdout)).toMatchFileSnapshot(readmePath);
  });

  test('names no setting that there is not', () => {
    const variables = Object.values(settings).map(({ variable }): string => variable);
    const named = readme.match(/DOCMIRROR_[A-Z_]*[A-Z]/g) ?? [];
    expect(named.filter(name => !variables.includes(name))).toEqual([]);
  });

  test('is short enough to be read', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(170);
  });

  test('links only to files and headings that there are', () => {
    const targets = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => String(target));
    const headings = [...readme.matchAll(/^#+ (.*)$/gm)].map(([, title]) => `#${anchor(title)}`);
    const local = targets.filter(target => !target.startsWith('https://'));
    const isThere = (target: string) =>
      target.startsWith('#') ? headings.includes(target) : existsSync(join(root, target));
    expect(local.length).toBeGreaterThan(5);
    const missing = local.filter(target => !isThere(target));
    expect(missing).toEqual([]);
  });

  test('names only scripts that there are', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = [...readme.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name]) => name);
    expect(named.filter(name => !(String(name) in scripts))).toEqual([]);
  });
});

describe('the commands of the README', () => {
  let commands: string[];

  beforeAll(async () => {
    const { stdout } = await runCli(['--help']);
    const [, list = ''] = stdout.split('Commands:\n');
    commands = [...list.matchAll(/^ {2}(\w\S*)/gm)].map(([, name]) => name as string);
    commands = commands.filter(name => name !== 'help');
  });

  test('are real wherever one is shown', () => {
    const code = [...readme.matchAll(/```\w+\n.*?```|`[^`\n]+`/gs)].join('\n');
    const named = [...code.matchAll(/\bdocmirror(?: --)? ([a-z]\w*)/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(name => !commands.includes(String(name)))).toEqual([]);
  });

  test('are shown with flags that they have', async () => {
    const blocks = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join('\n');
    const shown = [...blocks.matchAll(/\bdocmirror(?: --)? ([a-z]+)\b(.*--.*)$/gm)];
    expect(shown.length).toBeGreaterThan(4);
    const lines = shown.map(async ([line, command, rest]) => {
      const { stdout } = await runCli([String(command), '--help']);
      const flags = rest?.match(/--[a-z][\w-]*/g) ?? [];
      expect(
        flags.filter(flag => !stdout.includes(`  ${flag}`)),
        line,
      ).toEqual([]);
    });
    await Promise.all(lines);
  });
});

test('the changelog begins with the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  expect(/^## (\S+) \(\d{4}-\d\d-\d\d\)$/m.exec(changelog)?.[1]).toBe(version);
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

/** A heading's anchor, as GitHub makes it. */
function anchor(title = ''): string {
  return title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
}
