import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { manText } from '../../build/package-files.ts';
import { referencePath, referenceText } from '../../docs/reference.ts';
import { mismatches, tablesPath, tablesText } from '../../docs/tables.ts';
import { flagsOf } from '../../src/commands/command.ts';
import { loadCommands } from '../../src/commands/index.ts';
import { settings } from '../../src/config/settings.ts';
import { exitCodes, exitMeanings } from '../../src/errors.ts';
import { runCli, temporaryFolder } from '../support/run-cli.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const inFolder = (folder: string, ending: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => ending.test(name))
    .map(name => `${folder}/${name}`);
const pages = ['README.md', 'CONTRIBUTING.md', ...inFolder('docs', /\.md$/)];
const commands = new Map((await loadCommands()).map(({ name, command }) => [name, command]));

const deployed = inFolder('deploy', /\.\w+$|crontab$/);

test.each([...pages, ...deployed])('%s names only settings that there are', path => {
  const known = Object.values(settings).map(({ variable }): string => variable);
  const named = read(path).match(/DOCMIRROR_[A-Z_]*[A-Z]/g) ?? [];
  expect(named.filter(name => !known.includes(name))).toEqual([]);
});

/** The code of a page, or a file whose command lines can be lists. */
function codeOf(path: string): string {
  const text = read(path);
  if (!path.endsWith('.md'))
    return text
      .replaceAll('app/dist/cli.js', '/docmirror')
      .replace(
        /(?:command|args): \[([^\]]+)\]/g,
        (_, words: string) => `\ndocmirror ${words.replaceAll(',', '')}`,
      );
  const fences = /```([\w-]*)\n(.*?)```/gs;
  const shells = [...text.matchAll(fences)].map(([, language, code]) => (language === 'sh' ? code : ''));
  const inline = [...text.replace(fences, '').matchAll(/`([^`\n]+)`/g)].map(([, code]) => code);
  return [...shells, ...inline].join('\n');
}

test('the command lines of manifests are read', () => {
  expect(codeOf('deploy/kubernetes/watch.yaml')).toContain('\ndocmirror serve --host');
});

test.each([...pages, ...deployed])('%s has only commands, flags and scripts that there are', path => {
  const { scripts } = JSON.parse(read('package.json'));
  const code = codeOf(path);
  const scriptNames = [...code.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name = '']) => name);
  expect(scriptNames.filter(name => !(name in scripts))).toEqual([]);
  for (const [line, words = ''] of code.matchAll(
    /(?:^ *|[|&(/] *|-s )docmirror(?: --)? ([a-z][^|>;&#'"\n]*)/gm,
  )) {
    const [first = '', second = ''] = words.trim().split(/\s+/);
    if (first === 'help') continue;
    const command = commands.get(`${first} ${second}`) ?? commands.get(first);
    expect(command, line).toBeDefined();
    const flags = command === undefined ? [] : [...flagsOf(command).keys()];
    expect(
      (words.match(/--[a-z][\w-]*/g) ?? []).filter(flag => !flags.includes(flag)),
      line,
    ).toEqual([]);
  }
});

test.each(pages)('%s links only to files and headings that there are', path => {
  const targets = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  const missing = targets.filter(target => {
    const [file = '', anchor] = target.split('#');
    if (file.startsWith('https:')) return false;
    const other = file === '' ? path : join(dirname(path), file);
    return (
      !existsSync(join(root, other)) || (anchor !== undefined && !anchorsOf(read(other)).includes(anchor))
    );
  });
  expect(missing).toEqual([]);
});

/** The anchors of a page: of its headings, as GitHub makes them, and its own. */
function anchorsOf(text: string): string[] {
  const titles = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title.toLowerCase());
  const own = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  return [...titles.map(title => title.replace(/[^\w\s-]/g, '').replaceAll(' ', '-')), ...own];
}

const promises = [...read('docs/promises.md').matchAll(/^- (.+)\n {2}`(test\/.+\.test\.ts)`: (.+)$/gm)];

test('every promise has a test that there is, by its name or the one beginning of it', () => {
  expect(promises.length).toBeGreaterThan(30);
  const missing = promises.filter(([, , file = '', name = '']) => {
    const text = existsSync(join(root, file)) ? read(file) : '';
    const begin = name.replace(/…$/, '');
    const found = ["'", '"', '`'].map(quote => text.split(quote + begin + (begin === name ? quote : '')));
    return found.reduce((sum, parts) => sum + parts.length - 1, 0) !== 1;
  });
  expect(missing.map(([row]) => row)).toEqual([]);
});

test('docs/reference.md is what "npm run docs:reference" writes', async () => {
  const shown = readFileSync(referencePath, 'utf8');
  expect(shown).toBe(await referenceText());
  expect(shown).toContain('### `docmirror publish clickhouse`');
  expect(shown).toContain('| `11` | another run is using this mirror |');
});

test('docs/tables.md is what "npm run docs:tables" writes, and has a meaning for every column', () => {
  expect(readFileSync(tablesPath, 'utf8')).toBe(tablesText());
  expect(mismatches()).toEqual([]);
});

const hasMan = spawnSync('man', ['--version']).status === 0;

test('the manual page explains each exit code, and man shows it without a complaint', async () => {
  expect(Object.keys(exitMeanings)).toEqual(Object.values(exitCodes).map(String));
  if (!hasMan) return;
  const env = { PATH: process.env.PATH, MANWIDTH: '100', LC_ALL: 'C.UTF-8' };
  const input = await manText();
  const shown = spawnSync('man', ['--warnings', '-l', '-'], { encoding: 'utf8', env, input });
  expect(shown.stderr).toBe('');
  expect(shown.stdout).toContain("docmirror watch --schedule '*/15 6-20 * * 1-5' --timezone Europe/Berlin");
});

test('the changelog begins with the version of the package', () => {
  const { version } = JSON.parse(read('package.json'));
  expect(/^## (\S+) \(\d{4}-\d\d-\d\d\)$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
});

test('the README shows what the demo prints', async () => {
  await using folder = temporaryFolder();
  const demo = await runCli(['demo', '--until', '2026-11-01T18:00:00Z'], { cwd: folder.path });
  expect(demo).toMatchObject({ code: 0, stderr: '' });
  // `npm test -- test/docs/pages.test.ts -u` writes what differs.
  const shown = withTranscript(read('README.md'), demo.stdout);
  await expect(shown).toMatchFileSnapshot(join(root, 'README.md'));
  const database = join(folder.path, 'docmirror-demo.sqlite');
  const service = await runCli(['service', '--database', database]);
  const cells = service.stdout.split('\n').map(line => line.split(/ {2,}/).slice(0, 3));
  const [, excerpt = ''] = /`docmirror service` says.*?```text\n(.*?)\n```/s.exec(shown) ?? [];
  for (const line of excerpt.split('\n')) expect(cells).toContainEqual(line.split(/ {2,}/));
});

/** The README with this transcript of the demo in it, if more differs than its order. A line that only says another port, time, root or id stays. */
function withTranscript(text: string, transcript: string): string {
  return text.replace(
    /(## What you see\n\n```text\n)(.*?)(```\n)/s,
    (whole, before: string, shown: string, after: string) => {
      const known = Map.groupBy(shown.split('\n'), steady);
      const lines = transcript.split('\n').map(line => known.get(steady(line))?.shift() ?? line);
      const isSame = isDeepStrictEqual(lines.toSorted(), shown.split('\n').sort());
      return isSame ? whole : before + lines.join('\n') + after;
    },
  );
}

/** Pages are fetched side by side, so docmirror's own ids, and the order by them, differ from run to run. */
function steady(line: string): string {
  return line
    .replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replace(/ in [\d.]+ m?s\./g, ' in TIME.')
    .replace(/^[\da-f]{64}$/, 'ROOT')
    .replace(
      /^([−~+] document-exports) \d+ (.*)$/,
      (_, start: string, rest: string) => `${start} ID ${rest.slice(0, 60)}`,
    );
}
