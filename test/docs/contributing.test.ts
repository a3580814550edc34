import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandTable } from '../../src/commands/table/table.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const guide = read('CONTRIBUTING.md');

/** The text under a heading. */
function section(title: string): string {
  const [, after] = guide.split(`\n## ${title}\n`);
  if (after === undefined) throw new Error(`CONTRIBUTING.md has no section "${title}".`);
  return after.split('\n## ')[0] ?? '';
}

/** Everything in code marks, once each. */
const marked = (text: string) => [
  ...new Set([...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => String(code))),
];
const foldersIn = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => `${path}/${name}/`);

test('the table of rooms names each room, and no other', () => {
  const named = [...section('Where to put what').matchAll(/^\| `([^`]+)` \|/gm)].map(([, room]) => room);
  const rooms = [...foldersIn('src').filter(room => room !== 'src/store/'), ...foldersIn('src/store')];
  expect(named.sort()).toEqual(rooms.sort());
});

test('every file that a step names is there, and every script', () => {
  const codes = marked(guide);
  const paths = codes.filter(
    code => /^[\w.-]+(\/[\w.-]+)*\.(ts|md|json)$/.test(code) && !code.includes('NAME'),
  );
  expect(paths.length).toBeGreaterThan(12);
  expect(paths.filter(path => !existsSync(join(root, path)))).toEqual([]);
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
  const named = codes.flatMap(code => /^npm run ([\w:]+)$/.exec(code)?.[1] ?? []);
  expect(named.filter(name => !(name in scripts))).toEqual([]);
});

test('a field takes the steps that the test of a growing shape takes, and no other', () => {
  const edited = [
    ...read('test/support/grown-docmirror.ts').matchAll(/addBehind\(join\(grown, '([^']+)'\)/g),
  ].map(([, path]) => path);
  const told = marked(section('How to add a field')).filter(code => /^src\/.*\.ts$/.test(code));
  expect(told).toEqual([...new Set(edited)]);
  expect(section('How to add a field')).toContain('npm run db:generate');
});

test('a list takes the steps that the test of a new list takes, and no other', () => {
  const steps = section('How to add a list');
  const file = marked(steps).find(code => code.endsWith('/new-list.long.test.ts')) ?? '';
  const edited = [...read(file).matchAll(/edit\(\s*'([^']+)'/g)].map(([, path]) => path);
  const told = marked(steps.split('\n5. ')[0] ?? '').filter(code => /^src\/.*\.ts$/.test(code));
  expect(told).toEqual([...new Set(edited)]);
  expect(steps).toContain('npm run db:generate');
});

test('an existing command follows the rules for a new one', () => {
  const [, template = ''] = /`(src\/commands\/NAME\.ts)`/.exec(section('How to add a command')) ?? [];
  const names = commandTable.map(({ name }) => name.split(' ')[0] ?? '');
  const files = names.map(name => template.replace('NAME', name));
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter(path => !existsSync(join(root, path)))).toEqual([]);
});
