#!/usr/bin/env -S node --
import { exitCodes } from './errors.ts';
import { limitYoungGeneration, quickStart } from './quick-start.ts';
import { version } from './version.ts';

// Node would open its debugger, in which every user of the machine can run code as this one.
process.on('SIGUSR1', () => undefined);

// Cron may find an older one first. Nothing that only a newer one has is imported by name before it is asked.
const nodeMajorMin = 24;
if (Number.parseInt(process.versions.node, 10) < nodeMajorMin) {
  process.stderr.write(
    `docmirror needs Node.js ${nodeMajorMin} or newer, but this is ${process.version} at ${process.execPath}. Put a newer one first in PATH, or name it: /path/to/node ${process.argv[1]}\n`,
  );
  process.exit(exitCodes.failed);
}
quickStart();

// There is nobody left to tell, and the exit code still says how the command ended: it goes on to its end.
process.stderr.on('error', () => undefined);
let isOutputLost = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as `head`, is no fault.
  if (error.code === 'EPIPE' || isOutputLost) return;
  isOutputLost = true;
  const why = error.code === 'ENOSPC' ? 'the disk is full' : error.message;
  process.stderr.write(`docmirror: standard output can't be written: ${why} [output_failed]\n`);
});
process.once('exit', () => {
  if (isOutputLost) process.exitCode ||= exitCodes.failed;
});

const words = process.argv.slice(2);
if (words.length === 1 && words[0] === '--version') {
  process.stdout.write(`${version}\n`);
} else {
  limitYoungGeneration();
  // Loaded only now, because --version does not need it and an older Node.js may not be able to read it.
  const { main } = await import('./commands/main.ts');
  await main(words);
}
