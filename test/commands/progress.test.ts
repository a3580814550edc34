import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { progressOn } from '../../src/commands/progress.ts';
import { listOf } from '../../src/contract/lists.ts';
import { setScene } from '../support/scene.ts';

const list = listOf('document-exports');

test('is one line on a terminal, no wider than that, which is gone in the end', () => {
  const written: string[] = [];
  const write = (chunk: unknown, _encoding: string, done: () => void) => {
    written.push(String(chunk));
    done();
  };
  const stderr = Object.assign(new Writable({ write }), { isTTY: true, columns: 24 });
  const logger = Object.assign(pino({}, new Writable({ write })), { current: { runId: null } });
  const observer = progressOn(logger, stderr);
  observer.listStarted(list);
  observer.walkStarted(list, 1, 5_000);
  observer.pageDone(list, 1, 5_000);
  observer.close();
  expect(written).toEqual(['\rdocument-exports 1/5,00\u001b[K', '\r\u001b[K']);
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
