import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Logger } from '../../src/commands/logging.ts';
import { Progress, showProgress } from '../../src/commands/progress.ts';
import { listOf } from '../../src/contract/lists.ts';
import { setScene } from '../support/scene.ts';

const list = listOf('document-exports');
const settings = { environment: {}, inEnvFile: new Set<string>(), flags: {} };
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

  test.each([
    [{ CI: 'true' }, 'info', 0],
    [{}, 'warn', 0],
    [{ CI: 'false' }, 'info', 6],
  ])('with %j and level %s has %i of these lines a minute', (environment, level, count) => {
    const lines: Line[] = [];
    const observer = showProgress(
      { stderr: new Writable(), settings: { ...settings, environment } },
      loggerInto(lines, level),
    );
    observer.listStarted(list);
    vi.advanceTimersByTime(60_000);
    observer.close();
    expect(lines).toHaveLength(count);
  });
});

test('is one line on a terminal, no wider than that, which is gone in the end', () => {
  const written: string[] = [];
  const write = (chunk: unknown, _encoding: string, done: () => void) => {
    written.push(String(chunk));
    done();
  };
  const stderr = Object.assign(new Writable({ write }), { isTTY: true, columns: 24 });
  const observer = showProgress({ stderr, settings }, loggerInto([]));
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
