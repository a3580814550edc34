import { expect, test } from 'vitest';
import { type ListEnd, stateText } from '../../src/list-state.ts';
import { openInMemory } from '../../src/store/file/open-to-write.ts';

test('status, the summary, the report and the view say the same of a list, whatever came together', () => {
  expect(stateText(null)).toBe('never synced');
  for (const status of ['completed', 'partial', 'failed', 'cancelled'])
    for (const completeness of ['proven', 'incremental', 'unproven', null])
      for (const rejected of [0, 2])
        for (const removalsWithheld of [0, 3]) {
          const errorCode = status === 'failed' ? 'network' : status === 'cancelled' ? 'cancelled' : null;
          const isWhole = completeness !== null && completeness !== 'unproven';
          if (status === 'completed' && !isWhole) continue;
          const last = { status, completeness, rejected, removalsWithheld, errorCode };
          // The view adds why, which the others say below.
          const inView = stateText(last) === 'unproven' ? 'unproven: why' : stateText(last);
          expect([last, verdictInView(last)]).toEqual([last, inView]);
        }
});

test.each([
  [{ status: 'completed', completeness: 'proven' }, 'complete: proven'],
  [{ completeness: 'unproven', rejected: 2, removalsWithheld: 3 }, 'unproven'],
  [{ rejected: 2, removalsWithheld: 3 }, 'records rejected: 2, removals withheld: 3'],
  [{ removalsWithheld: 3 }, 'removals withheld: 3'],
  [{ status: 'failed', completeness: null, errorCode: 'network' }, 'failed: network'],
  [{ status: 'cancelled', completeness: null, errorCode: 'cancelled' }, 'cancelled'],
])('of a list that ended as %j people read "%s"', (end, words) => {
  const plain = {
    status: 'partial',
    completeness: 'proven',
    rejected: 0,
    removalsWithheld: 0,
    errorCode: null,
  };
  expect(stateText({ ...plain, ...end })).toBe(words);
});

function verdictInView({ status, completeness, rejected, removalsWithheld, errorCode }: ListEnd): string {
  const { sqlite, close } = openInMemory();
  try {
    sqlite.pragma('foreign_keys = OFF');
    const row = {
      run_id: 1,
      resource: 'webhooks',
      status,
      completeness,
      rejected,
      removals_withheld: removalsWithheld,
      reason: 'why',
      error_message: errorCode === status ? null : errorCode,
    };
    sqlite.exec(`INSERT INTO sync_runs (id, status, "trigger", started_at, docmirror_version, base_url)
      VALUES (1, '${status}', 'manual', '', '', '')`);
    const needed = sqlite
      .prepare<[], { name: string; type: string }>(
        `SELECT name, type FROM pragma_table_info('sync_run_resources') WHERE "notnull" AND dflt_value IS NULL`,
      )
      .all()
      .map(({ name, type }): [string, number | string] => [name, type === 'INTEGER' ? 0 : '']);
    const values = { ...Object.fromEntries(needed), ...row };
    const names = Object.keys(values);
    sqlite
      .prepare(`INSERT INTO sync_run_resources (${names}) VALUES (${names.map(name => `@${name}`)})`)
      .run(values);
    return String(
      sqlite.prepare("SELECT verdict FROM sync_status WHERE resource = 'webhooks'").pluck().get(),
    );
  } finally {
    close();
  }
}
