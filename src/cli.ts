#!/usr/bin/env node
import { exitCodes } from './errors.ts';
import { keepSmall, quickStart, tooOldNode } from './quick-start.ts';
import { version } from './version.ts';

const problem = tooOldNode();
if (problem !== null) {
  process.stderr.write(`${problem}\n`);
  process.exit(exitCodes.failed);
}
quickStart();

// A reader that has seen enough, such as `head`, is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(process.exitCode ?? exitCodes.done);
});

const words = process.argv.slice(2);
if (words.length === 1 && words[0] === '--version') {
  process.stdout.write(`${version}\n`);
} else {
  keepSmall();
  // Loaded only now, so that what was compiled once need not be compiled again.
  const { main } = await import('./commands/main.ts');
  await main(words);
}
