import { styleText } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Environment } from '../config/resolve.ts';
import { printable } from '../printable.ts';
import { columnsOf, cut } from '../render/table.ts';
import type { Toned } from '../render/tones.ts';
import type { Output } from './io.ts';

/** How often a text that moves is drawn, in milliseconds. */
export const drawEveryMs = 200;
const widthUnknown = 80;
const clockColumns = 9;
const eraseLine = '\r\x1b[K';

/** The line of a terminal that says what a command is doing. */
export type StatusLine = ReturnType<typeof statusLineOn>;

/** One line on a terminal, each text over the one before. Without a terminal, or on one that can only print (`TERM=dumb`), nothing is shown. */
export function statusLineOn(stream: Output, { TERM }: Environment) {
  const isShown = stream.isTTY === true && TERM !== 'dumb';
  let hasText = false;
  let clock: Worker | null = null;
  // The last column stays free: some terminals break the line there.
  const width = () => (stream.columns || widthUnknown) - 1;
  return {
    isShown,
    /** The most columns of a text. */
    width,

    /** Shows parts side by side. Behind the third one, those that do not fit are left out. */
    show(...parts: string[]): void {
      if (!isShown) return;
      clock?.postMessage('');
      while (parts.length > 3 && columnsOf(parts.join('  ')) > width()) parts.pop();
      stream.write(`\r${cut(printable(parts.join('  ')), width())}\x1b[K`);
      hasText = true;
    },

    /** Shows a text and a clock once a command takes longer than two seconds, also while this thread can do nothing else. */
    work(text: string): void {
      const { fd } = stream;
      if (fd === undefined) this.show(text);
      if (!isShown || fd === undefined) return;
      // A terminal that is gone ends the thread, and not the command.
      clock ??= new Worker(`(${drawClock})()`, { eval: true, workerData: fd }).on('error', () => undefined);
      clock.unref();
      clock.postMessage(cut(printable(text), width() - clockColumns));
      hasText = true;
    },

    /** What to write before lines of text, so that nothing of this one is left beside them. */
    erase: () => (hasText ? eraseLine : ''),

    async clear(): Promise<void> {
      await clock?.terminate();
      if (hasText) stream.write(eraseLine);
      [clock, hasText] = [null, false];
    },
  };
}

/** The program of a thread that draws a text and a clock. It can use nothing of this file. */
function drawClock(): void {
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const { writeSync } = process.getBuiltinModule('node:fs');
  let text = '';
  parentPort?.on('message', (next: string) => {
    text = next;
  });
  const begunAtMs = performance.now();
  setInterval(() => {
    const seconds = Math.floor((performance.now() - begunAtMs) / 1_000);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    if (text !== '' && seconds >= 2) writeSync(workerData, `\r${text}  ${clock}\x1b[K`);
  }, 200);
}

const colours = { good: 'green', warn: 'yellow', bad: 'red' } as const;

/** A text for people with some words in colours, if it is for a terminal that has them. */
export function painted(text: string, tones: readonly Toned[], stream: Output): string {
  if (!stream.isTTY) return text;
  return [...Map.groupBy(tones, ({ words }) => words)].reduce((all, [words, of]) => {
    const alone = new RegExp(`(?<=^| {2}|: )${RegExp.escape(words)}(?= |$)`, 'gm');
    return all.replace(alone, found => styleText(colours[of[0]?.tone ?? 'warn'], found, { stream }));
  }, text);
}
