import { describe, expect, test } from 'vitest';
import { setScene } from '../support/scene.ts';

/** Makes a process's wall clock, and it alone, go so many times as fast as time; backwards if that is below zero. */
function withClock(speed: number): string {
  const script = `
    const now = Date.now, began = now();
    globalThis.Date = class extends Date {
      constructor(...parts) { super(...(parts.length === 0 ? [Date.now()] : parts)); }
      static now() { return Math.round(began + ${speed} * (now() - began)); }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(script)}`;
}

describe.concurrent('a wall clock that is set while a run goes on', () => {
  test('back, makes no wait longer and no duration negative', async () => {
    await using scene = await setScene();
    scene.env.NODE_OPTIONS = withClock(-10);
    scene.service.options.faults = ({ n }) =>
      n === 1 ? { kind: 'status', status: 429, headers: { 'retry-after': '1' } } : undefined;
    const { code, summary, of } = await scene.sync();
    expect(code).toBe(0);
    expect(Date.parse(summary.completedAt as string)).toBeLessThan(Date.parse(summary.startedAt as string));
    expect(summary.durationMs).toBeGreaterThan(950);
    expect(summary.durationMs).toBeLessThan(20_000);
    expect(of('collections').waitedMs).toBeGreaterThan(0);
    expect((await scene.run('runs')).stdout).toMatch(/ 0 ms +completed /);
  });
});
