// Reports sentences that break the rules of plain words: npm run check:words. With --figures it prints how long the sentences are.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { exceptions } from './exceptions.ts';
import { passagesOfCode, passagesOfPage } from './prose.ts';
import { faultsOf, sentencesOf, wordCount } from './rules.ts';

const root = join(import.meta.dirname, '..', '..');
const others = /^(?:node_modules|dist|release|\.\w+)$/;
const files = globSync(['**/*.md', '**/*.ts'], {
  cwd: root,
  exclude: name => others.test(basename(name)),
}).toSorted();
const passages = files.flatMap(file => {
  const text = readFileSync(join(root, file), 'utf8');
  return file.endsWith('.md') ? passagesOfPage(file, text) : passagesOfCode(file, text);
});

if (process.argv.includes('--figures'))
  for (const file of files.filter(name => name.endsWith('.md'))) {
    const counts = passages
      .filter(passage => passage.file === file)
      .flatMap(({ text }) =>
        sentencesOf(text)
          .filter(sentence => /[.!?:]$/.test(sentence))
          .map(wordCount),
      )
      .toSorted((a, b) => a - b);
    const mean = counts.reduce((sum, count) => sum + count, 0) / Math.max(1, counts.length);
    console.log(
      `${file}: ${counts.length} sentences, mean ${mean.toFixed(1)}, 90th percentile ${counts.at(Math.floor(counts.length * 0.9)) ?? 0}`,
    );
  }

const used = new Set<string>();
const faults = passages.flatMap(faultsOf).filter(({ text }) => {
  const exception = exceptions.find(({ sentence }) => text.includes(sentence));
  if (exception) used.add(exception.sentence);
  return exception === undefined;
});
for (const { file, line, rule, text } of faults) console.log(`${file}:${line}: ${rule}: ${text}`);
for (const { sentence } of exceptions)
  if (!used.has(sentence)) console.log(`not needed any more: ${sentence}`);
const isClean = faults.length === 0 && exceptions.every(({ sentence }) => used.has(sentence));
if (!isClean) console.log(`${faults.length} sentences break a rule of plain words`);
process.exitCode = isClean ? 0 : 1;
