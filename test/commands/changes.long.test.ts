import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeBigMirror } from '../support/big-mirror.ts';
import { sqlite, temporaryFolder } from '../support/run-cli.ts';

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
