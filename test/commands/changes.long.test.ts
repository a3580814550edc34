import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeBigMirror } from '../support/big-mirror.ts';
import { runCli, sqlite, temporaryFolder } from '../support/run-cli.ts';

test('one run of a hundred is found by indexes, in no time', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'big.sqlite');
  makeBigMirror(path, 100_000);
  for (const query of ['run_id = 50', "run_id = 50 AND resource = 'document-exports'"]) {
    const plan = sqlite(path, `EXPLAIN QUERY PLAN SELECT * FROM changes WHERE ${query}`).map(row =>
      String(row.detail),
    );
    // The names that the view gives to lists, history and connections; an array of one record is no table.
    const scans = plan.filter(line => /^SCAN [abchlnt]\b(?! VIRTUAL TABLE)/.test(line));
    expect(scans).toEqual([]);
    for (const table of ['document_exports', 'collections', 'webhooks', 'connections']) {
      expect(plan.join('\n')).toContain(`USING INDEX ${table}_changed_run_id (_changed_run_id=?)`);
    }
    expect(plan.join('\n')).toContain('USING INDEX record_history_valid_from_run_id');
    expect(plan.join('\n')).toContain('USING INDEX record_history_valid_to_run_id');
  }
  const start = performance.now();
  expect(sqlite(path, 'SELECT * FROM changes WHERE run_id = 50')).toHaveLength(56);
  expect(performance.now() - start).toBeLessThan(100);
});

test('a feed that is read slowly takes little memory, and one that is not read on ends quietly', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'big.sqlite');
  makeBigMirror(path, 150_000);
  const flags = ['changes', '--since-run', '0', '--format', 'ndjson', '--database', path];
  const child = spawn(process.execPath, ['src/cli.ts', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'readable');
  await wait(1_000);
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  expect(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1])).toBeLessThan(300_000);
  child.stdout.destroy();
  expect(await ended).toEqual([0, null]);
  const whole = await runCli([...flags, '--resource', 'connections']);
  expect(whole.stdout.split('\n')).toHaveLength(201);
  expect(whole.stderr).toBe('');
  expect(sqlite(path, 'PRAGMA quick_check')).toEqual([{ quick_check: 'ok' }]);
});
