import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Logger } from '../../src/commands/logging.ts';
import { Progress } from '../../src/commands/progress.ts';
import { listOf } from '../../src/contract/lists.ts';
import { setScene } from '../support/scene.ts';

const list = listOf('document-exports');
const startedAtMs = Date.parse('2026-11-20T14:00:00Z');

interface Line {
  readonly msg: string;
  readonly [field: string]: unknown;
}

function loggerInto(lines: Line[], level = 'info'): Logger {
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as Line);
      done();
    },
  });
  return Object.assign(pino({ level }, stream), { current: { runId: null } });
}

describe('the log', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: startedAtMs });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('reports each ten seconds how far a list is', () => {
    const lines: Line[] = [];
    const observer = new Progress(loggerInto(lines));
    observer.listStarted(list);
    observer.walkStarted(list, 2, 500);
    for (let page = 1; page <= 250; page++) {
      vi.advanceTimersByTime(100);
      observer.pageDone(list, page, 500);
    }
    expect(lines.map(({ msg }) => msg)).toEqual(['reading', 'reading']);
    expect(lines[1]).toMatchObject({ resource: list.resource, reading: 2, pages: 199, pageCount: 500 });
    observer.close();
    vi.advanceTimersByTime(60_000);
    expect(lines).toHaveLength(2);
  });
});

test('is one line on a terminal, no wider than that, which is gone in the end', () => {
  const written: string[] = [];
  const write = (chunk: unknown, _encoding: string, done: () => void) => {
    written.push(String(chunk));
    done();
  };
  const stderr = Object.assign(new Writable({ write }), { isTTY: true, columns: 24 });
  const observer = new Progress(loggerInto([]), stderr);
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
