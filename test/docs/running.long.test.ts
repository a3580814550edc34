import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { docmirrorShell } from '../support/docmirror-shell.ts';
import { putKept } from '../support/kept.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'running.md'), 'utf8');
const [first = ''] = page.split('## Ways to start runs');
const hasSqliteCli = spawnSync('sqlite3', ['--version']).status === 0;

test('what docs/running.md has one type first works, from nothing to a backup', async () => {
  await using scene = await setScene({}, { exports: 30 });
  const shell = docmirrorShell(scene.folder);
  const blocks = [...first.matchAll(/```sh\n(.*?)```/gs)].map(([, script = '']) => script);
  expect(blocks).toHaveLength(6);
  for (const block of blocks) {
    if (block.startsWith('sqlite3 ') && !hasSqliteCli) continue;
    const script = block
      .replace('https://service.example', scene.service.url)
      .replace('the-token', scene.service.options.token)
      // It would go on for ever.
      .replace('docmirror watch --run-now', 'docmirror sync');
    expect(await shell(`set -e\n${script}`), block).toMatchObject({ code: 0 });
  }
  expect(statSync(join(scene.folder, 'docmirror.env')).mode & 0o777).toBe(0o600);
  expect(existsSync(join(scene.folder, 'report.html'))).toBe(true);
});

test('its loop over tenants syncs and backs up each, and writes metrics with its label', async () => {
  await using scene = await setScene({}, { exports: 3 });
  const shell = docmirrorShell(scene.folder);
  const file = (path: string) => join(scene.folder, path);
  for (const folder of ['tenants', 'mirrors', 'logs', 'metrics']) mkdirSync(file(folder));
  const { DOCMIRROR_DATABASE: _, ...settings } = scene.env;
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  const own = /### Many tenants.*?```ini\n(.*?)```/s.exec(page)?.[1] ?? '';
  // The scene has the address and the token.
  const paths = own.replace(/^DOCMIRROR_(BASE_URL|TOKEN_FILE)=.*\n/gm, '');
  for (const name of ['acme', 'globex'])
    writeFileSync(file(`tenants/${name}.env`), lines.join('') + paths.replaceAll('acme', name));
  const loop = /### Many tenants.*?```sh\n(.*?)```/s.exec(page)?.[1] ?? '';
  expect(await shell(loop)).toMatchObject({ code: 0, output: expect.stringMatching(/acme(.|\n)*globex/) });
  expect(await shell(loop.replace('docmirror sync', 'docmirror backup backups --keep 14'))).toMatchObject({
    code: 0,
  });
  writeFileSync(file('tenants/initech.env'), 'DOCMIRROR_TOKN=x\n');
  const refused = (lines.join('') + paths)
    .replaceAll('acme', 'hooli')
    .replace(scene.service.options.token, 'x');
  writeFileSync(file('tenants/hooli.env'), refused);
  const misspelt = await shell(loop);
  expect(misspelt).toMatchObject({
    code: 4,
    output: expect.stringContaining('DOCMIRROR_TOKN is not a setting'),
  });
  expect(readFileSync(file('logs/initech.log'), 'utf8')).toContain('DOCMIRROR_TOKN');
  expect(readFileSync(file('logs/hooli.log'), 'utf8')).toMatch(
    /^hooli: failed \(unauthorized\)\. The mirror was never complete\.$/m,
  );
  const shown = /```text\n(acme: failed .*)\n/.exec(page)?.[1];
  expect(shown).toMatch(/^acme: failed \(\w+\)\. The mirror is complete as of run 41, 3 h ago\.$/);
  for (const name of ['acme', 'globex']) {
    expect(readFileSync(file(`metrics/${name}.prom`), 'utf8')).toContain(
      `docmirror_mirror_readable{tenant="${name}"} 1`,
    );
    expect(readFileSync(file(`metrics/${name}-backup.prom`), 'utf8')).toContain(`{tenant="${name}"} 0`);
  }
});

test('the way from 0.5 to 0.6 is one run, and the statement for DuckDB that the page names counts its Parquet by a clock', async () => {
  await using scene = await setScene({}, { exports: 30 });
  putKept('mirror-0.5.0', scene.database);
  expect(page).toContain('One run is enough: `docmirror sync`.');
  // The service of the test has other records.
  const others = ['--accept-new-base-url', '--allow-mass-removal'];
  expect(await scene.run('sync', ...others)).toMatchObject({ code: 0 });
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
  const lake = join(scene.folder, 'lake');
  expect(await scene.run('export', '--format', 'parquet', '--out', lake)).toMatchObject({ code: 0 });
  const [, day = ''] = /In DuckDB, write `([^`]+)`/.exec(page) ?? [];
  const duckdb = await (await DuckDBInstance.create()).connect();
  const sql = `SELECT (${day})::DATE AS day, count(*) AS n FROM '${lake}/document_exports.parquet' GROUP BY 1`;
  const counts = (await duckdb.runAndReadAll(sql)).getRowObjects();
  const { n } = sqlite(scene.database, 'SELECT count(*) AS n FROM document_exports')[0] ?? {};
  expect(counts.reduce((sum, row) => sum + Number(row.n), 0)).toBe(n);
});
