// Plays the case of one file, and prints what came of it, a word a line.
import { readFileSync } from 'node:fs';
import { Disk } from './disk.ts';
import { outcomesOf } from './outcomes.ts';
import { parseRegression } from './regressions.ts';

const [file = ''] = process.argv.slice(2);
using disk = new Disk();
for (const outcome of await outcomesOf(parseRegression(file, readFileSync(file, 'utf8')), disk))
  console.log(outcome);
