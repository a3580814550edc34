import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { stopSignal } from '../../src/commands/stop-signal.ts';
import { CancelledError } from '../../src/errors.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('the first signal asks for the end, what comes with it says the same, and a later one ends the process', () => {
  const exits: number[] = [];
  const process = Object.assign(new EventEmitter(), { exit: (code: number) => void exits.push(code) });
  const signal = stopSignal(process);
  expect(signal.aborted).toBe(false);
  process.emit('SIGTERM');
  expect(signal.reason).toEqual(new CancelledError('SIGTERM'));
  vi.advanceTimersByTime(900);
  process.emit('SIGINT');
  expect([signal.reason, exits]).toEqual([new CancelledError('SIGTERM'), []]);
  vi.advanceTimersByTime(200);
  process.emit('SIGINT');
  expect(exits).toEqual([130]);
});
