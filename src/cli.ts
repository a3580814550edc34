#!/usr/bin/env -S node --
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { CancelledError, exitCodes } from './errors.ts';
import { version } from './version.ts';

// Without a listener Node opens its debugger, and then every user of the machine can run code as this user.
process.on('SIGUSR1', () => undefined);

// Cron might find an older Node.js first. Until this check, nothing is imported by name that only a newer one has.
const nodeMajorMin = 24;
if (Number.parseInt(process.versions.node, 10) < nodeMajorMin) {
  process.stderr.write(
    `docmirror needs Node.js ${nodeMajorMin} or newer, but this is ${process.version} at ${process.execPath}. Put a newer one first in PATH, or name it: /path/to/node ${process.argv[1]}\n`,
  );
  process.exit(exitCodes.failed);
}
// Nobody reads stderr then. The command still goes on, because its exit code says how it ended.
process.stderr.on('error', () => undefined);
let isOutputLost = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader can stop early, for example `head`. That is no error.
  if (error.code === 'EPIPE' || isOutputLost) return;
  isOutputLost = true;
  const why = error.code === 'ENOSPC' ? 'the disk is full' : error.message;
  process.stderr.write(`docmirror: standard output can't be written: ${why} [output_failed]\n`);
});
process.once('exit', () => {
  if (isOutputLost) process.exitCode ||= exitCodes.failed;
});

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  process.stdout.write(`${version}\n`);
} else {
  limitYoungGeneration();
  // Loaded only now, because --version does not need it and an older Node.js might not be able to read it.
  const { main } = await import('./commands/main.ts');
  let signal: AbortSignal | undefined;
  process.exitCode = await main(words, {
    environment: process.env,
    stdout: process.stdout,
    stderr: process.stderr,
    get signal() {
      signal ??= stopSignal();
      return signal;
    },
  });
  endSoon();
}

/** Ends the process, however long the system looks for a host, or a socket stays. What is to be read from it is waited for. */
function endSoon(): void {
  const waitMs = 1_000;
  setInterval(() => {
    if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit();
  }, waitMs).unref();
}

/** Aborted with a `CancelledError` by the first SIGINT, SIGTERM or SIGHUP; another one, later, ends the process at once. */
function stopSignal(): AbortSignal {
  // A second signal within this time is ignored, in milliseconds: `timeout`, or a terminal with npm, sends two.
  const sameWishMs = 1_000;
  const stopping = new AbortController();
  let firstAtMs = Number.POSITIVE_INFINITY;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const error = new CancelledError(signal);
      if (performance.now() - firstAtMs > sameWishMs) process.exit(error.exitCode);
      if (stopping.signal.aborted) return;
      firstAtMs = performance.now();
      stopping.abort(error);
    });
  }
  return stopping.signal;
}

/** Keeps a first sync at 240 MiB instead of 350: while the young generation grows, V8 moves more and more garbage to the old one. */
function limitYoungGeneration(): void {
  // Both of its halves count, in bytes.
  const youngBytesMax = 4 * 1024 * 1024;
  const timer = setInterval(() => {
    const young = getHeapSpaceStatistics().find(space => space.space_name === 'new_space');
    if ((young?.space_size ?? 0) < youngBytesMax) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    clearInterval(timer);
  }, 20).unref();
}
