import { expect, test } from 'vitest';
import { type Judgement, judgementOf } from '../../src/render/judgement.ts';
import { openInMemory } from '../../src/store/file/open-to-write.ts';

/** How the view `sync_status` begins what it says of a list. */
const words: Readonly<Record<Judgement, string>> = {
  'never synced': 'never synced',
  complete: 'complete: ',
  unproven: 'unproven: ',
  rejected: 'records rejected: ',
  withheld: 'removals withheld: ',
  ended: 'partial',
};

test('status, the report and the view say the same of a list, whatever came together', () => {
  expect(judgementOf(null)).toBe('never synced');
  for (const status of ['completed', 'partial'])
    for (const completeness of ['proven', 'unproven', null])
      for (const rejected of [0, 2])
        for (const removalsWithheld of [0, 3]) {
          const last = { status, completeness, rejected, removalsWithheld };
          expect([last, verdictInView(last)]).toEqual([
            last,
            expect.stringMatching(new RegExp(`^${words[judgementOf(last)]}`)),
          ]);
        }
});

type Last = Exclude<Parameters<typeof judgementOf>[0], null>;

function verdictInView({ status, completeness, rejected, removalsWithheld }: Last): string {
  const { sqlite, close } = openInMemory();
  try {
    sqlite.pragma('foreign_keys = OFF');
    const row = {
      run_id: 1,
      resource: 'webhooks',
      status,
      completeness: completeness ?? (status === 'completed' ? 'proven' : null),
      rejected,
      removals_withheld: removalsWithheld,
      reason: 'why',
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
