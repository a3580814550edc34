import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { progressOn } from '../../src/commands/progress.ts';
import { statusLineOn } from '../../src/commands/terminal.ts';
import { listOf } from '../../src/contract/lists.ts';
import { setScene } from '../support/scene.ts';

const list = listOf('document-exports');

/** A terminal, and what is written to it. */
function terminalOf(columns: number) {
  const written: string[] = [];
  const write = (chunk: unknown, _encoding: string, done: () => void) => {
    written.push(String(chunk));
    done();
  };
  return { written, stream: Object.assign(new Writable({ write }), { isTTY: true, columns }) };
}

test('is one line on a terminal, no wider than that, which is gone in the end', async () => {
  const { written, stream } = terminalOf(24);
  const logger = Object.assign(pino({ level: 'warn' }), { current: { runId: null }, logsEnds: false });
  const observer = progressOn(logger, statusLineOn(stream, {}));
  observer.listStarted(list);
  await observer.close();
  expect(written).toEqual(['\rdocument-exports  aski…\u001b[K', '\r\u001b[K']);
});

test('a line is as wide as the terminal is now, by the columns that characters take', () => {
  const { written, stream } = terminalOf(11);
  const line = statusLineOn(stream, {});
  line.show('見積書見積書', '見積書');
  stream.columns = 80;
  line.show('見積書見積書', '\u001b[2J');
  expect(written).toEqual(['\r見積書見…\u001b[K', '\r見積書見積書  \\u001b[2J\u001b[K']);
});

test('a run says until when it waits if the service asks for a pause', async () => {
  await using scene = await setScene({
    faults: ({ n }) =>
      n === 1 ? { kind: 'status', status: 429, headers: { 'retry-after': '2' } } : undefined,
  });
  scene.env.DOCMIRROR_LOG_LEVEL = 'info';
  const { stderr, code } = await scene.run('sync');
  expect(code).toBe(0);
  const waits = stderr.split('\n').filter(line => line.includes('rate limited by the service'));
  expect(waits).toHaveLength(1);
  expect(waits[0]).toMatch(/"until":"\d{4}-.*Z"/);
});
