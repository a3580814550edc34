import { expect, test } from 'vitest';
import { exceptions } from '../../build/words/exceptions.ts';
import { passagesOfCode, passagesOfPage } from '../../build/words/prose.ts';
import { faultsOf, sentencesOf } from '../../build/words/rules.ts';

const rulesIn = (text: string) => faultsOf({ file: 'a.md', line: 1, text }).map(({ rule }) => rule);

test('a long sentence, a word that is out and a clause as subject are faults', () => {
  const long = `${'word '.repeat(31)}end.`;
  expect(rulesIn(long)).toEqual(['32 words, at most 30']);
  expect(rulesIn('You may read it.')).toEqual(['"can" or "might", not "may"']);
  expect(rulesIn('Who reads it needs permission.')).toEqual(['begin with the subject']);
  expect(rulesIn('What is a receipt? A line in a log.')).toEqual([]);
});

test('code and the name of the program can begin a sentence', () => {
  const sentences = ['Run it.', 'x does more.', 'docmirror does the rest, as in e.g. this.'];
  expect(sentencesOf(sentences.join(' '))).toEqual(sentences);
});

test('a page is read by paragraphs, items and cells, without its code', () => {
  const page = '# May\n\nOne `may`\nend.\n\n- two\n\n| a | b |\n|---|---|\n| c | d |\n\n```\nmay\n```\n';
  expect(passagesOfPage('a.md', page)).toEqual([
    { file: 'a.md', line: 3, text: 'One x end.' },
    { file: 'a.md', line: 6, text: 'two' },
    ...['a', 'b'].map(text => ({ file: 'a.md', line: 8, text })),
    ...['c', 'd'].map(text => ({ file: 'a.md', line: 10, text })),
  ]);
});

test('code is read by its comments and the names of its tests', () => {
  const code =
    "/** One.\n *\n * @param a two.\n */\n// three\n// four\nconst a = 'may';\ntest('five', () => {});\n";
  expect(passagesOfCode('a.ts', code).map(({ text }) => text)).toEqual([
    'One.',
    'two.',
    'three four',
    'five',
  ]);
});

test('at most 20 sentences are exceptions, each with a reason', () => {
  expect(exceptions.length).toBeLessThanOrEqual(20);
  for (const { reason } of exceptions) expect(reason).toMatch(/\w+ \w+/);
});
