import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '..', 'src');

/** Statements for ClickHouse, which Drizzle does not know. */
const isOfClickHouse = (name: string) => name.startsWith('publish/');

/** A text that begins as a statement does. Those that begin or end a transaction need no reason: Drizzle would run them itself. */
const keyword = /(SELECT|INSERT|REPLACE|UPDATE|DELETE|WITH|CREATE|ALTER|DROP|VACUUM|ATTACH|DETACH|PRAGMA)\b/;
const statement = new RegExp(`(?:^|[([{=?:,>]|return)\\s*[\`'"]\\s*${keyword.source}`);
const beginning = new RegExp(`^\\s*${keyword.source}`);
/** The reason is on a line of its own, at most so many lines above the statement. */
const linesBetweenMax = 4;
const reason = /^\s*\/\/ By hand: \S/;
/** One reason for all statements of a file. */
const reasonForAll = /^\/\/ All by hand: \S/;

interface Found {
  readonly statements: number;
  /** Statements without a reason, and reasons without a statement, by their lines. */
  readonly wrong: string[];
}

/** Reads the lines of a source text. */
function byHandIn(name: string, text: string): Found {
  const lines = text.split('\n');
  const wrong: string[] = [];
  const forAll = lines.findIndex(line => reasonForAll.test(line));
  let statements = 0;
  let given: number | null = null;
  for (const [at, line] of lines.entries()) {
    if (reason.test(line)) {
      if (given !== null) wrong.push(`${name}:${given + 1} has a reason without a statement`);
      given = at;
    }
    if (/^\s*(\/\/|\/\*|\*)/.test(line)) continue;
    const isStatement = statement.test(line) || (line.endsWith('`') && beginning.test(lines[at + 1] ?? ''));
    if (!isStatement) continue;
    statements++;
    const isGiven = forAll >= 0 || (given !== null && at - given <= linesBetweenMax);
    if (!isGiven) wrong.push(`${name}:${at + 1} has a statement without a reason`);
    given = null;
  }
  if (given !== null) wrong.push(`${name}:${given + 1} has a reason without a statement`);
  if (forAll >= 0 && statements === 0) wrong.push(`${name}:${forAll + 1} has a reason without a statement`);
  return { statements, wrong };
}

test('SQL by hand has its reason beside it, and no reason is without SQL', () => {
  const names = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.ts') && !isOfClickHouse(name),
  );
  const found = names.map(name => byHandIn(name, readFileSync(join(source, name), 'utf8')));
  expect(found.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(found.reduce((sum, { statements }) => sum + statements, 0)).toBeGreaterThan(20);
});

test.each([
  ["sqlite.prepare('SELECT 1');"],
  ["const text = 'DELETE FROM a';"],
  ['const text = `\n  SELECT 1`;'],
  ['return `DROP VIEW a`;'],
  ["sqlite\n  .prepare<[], string>(\n    'SELECT 1',\n  )"],
])('a statement without a reason is found: %j', text => {
  expect(byHandIn('a.ts', text).wrong).toHaveLength(1);
  expect(byHandIn('a.ts', `// By hand: a window function.\n${text}`).wrong).toEqual([]);
  expect(byHandIn('a.ts', `// All by hand: a window function.\n\n\n\n\n\n${text}`).wrong).toEqual([]);
});

test('a reason without a statement is found', () => {
  expect(byHandIn('a.ts', '// By hand: nothing.\nconst a = 1;').wrong).toHaveLength(1);
  expect(byHandIn('a.ts', '// All by hand: nothing.\nconst a = 1;').wrong).toHaveLength(1);
  expect(byHandIn('a.ts', "// By hand: a.\n// By hand: b.\na('SELECT 1');").wrong).toHaveLength(1);
});
