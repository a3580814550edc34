import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/errors.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'troubleshooting.md'), 'utf8');
const src = join(root, 'src');
const program = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .map(name => readFileSync(join(src, name), 'utf8'))
  .join('\n');

const [, union = ''] =
  /export type ErrorCode =(.*?);/s.exec(readFileSync(join(src, 'errors.ts'), 'utf8')) ?? [];
const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code);

const sections = [...page.matchAll(/^### `(\w+)`\n\n(.*?)(?=^##|$(?![\s\S]))/gms)].map(
  ([, code = '', text = '']) => [code, text] as const,
);

describe('docs/troubleshooting.md', () => {
  test('explains each error code, once, and no other', () => {
    expect(codes.length).toBeGreaterThan(20);
    expect(sections.map(([code]) => code).sort()).toEqual([...codes].sort());
  });

  test.each(sections)(
    '%s begins with what happened in one sentence, quotes the program, and says what to do',
    (_, text) => {
      const [happened = '', says = '', ...rest] = text.trim().split('\n\n');
      const quoted = [...says.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words);
      expect(happened.replaceAll(/`[^`]*`/g, '').indexOf('. ')).toBe(-1);
      expect(happened).toMatch(/\.$/);
      expect(says).toMatch(/^Says: `/);
      expect(quoted.filter(words => !program.includes(words))).toEqual([]);
      expect(rest.join(' ').length).toBeGreaterThan(40);
    },
  );

  test('names each exit code but 0, with a place to look', () => {
    const cells = [...page.matchAll(/^\| ([\d, ]+) \| /gm)].flatMap(([, cell = '']) => cell.split(', '));
    const expected = Object.values(exitCodes).filter(code => code !== 0);
    expect(cells.map(Number)).toEqual(expected);
  });

  test('links only to headings and files that there are', () => {
    const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    );
    const targets = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target);
    const files = readdirSync(join(root, 'docs'));
    const isThere = (target: string) =>
      target.startsWith('#') ? anchors.includes(target.slice(1)) : files.includes(target);
    expect(targets.filter(target => !isThere(target))).toEqual([]);
  });
});
