import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, inject, test } from 'vitest';
import { docmirrorShell } from '../support/docmirror-shell.ts';
import { sqlite, temporaryFolder } from '../support/run-cli.ts';

test('pgloader copies the tables of a share to PostgreSQL', async ({ skip }) => {
  if (spawnSync('pgloader', ['--version']).status !== 0) skip('pgloader is needed');
  await using folder = temporaryFolder();
  expect(await docmirrorShell(folder.path)('docmirror demo')).toMatchObject({ code: 0 });
  const share = join(folder.path, 'docmirror-demo-share.sqlite');
  const host = inject('socketFolder');
  const maker = new Client({ host, user: 'zoo', database: 'postgres' });
  await maker.connect();
  await maker.query('CREATE DATABASE loaded');
  await maker.end();
  execFileSync('pgloader', [`sqlite://${share}`, `postgresql://zoo@unix:${host}:5432/loaded`], {
    stdio: 'pipe',
  });
  const client = new Client({ host, user: 'zoo', database: 'loaded' });
  await client.connect();
  const both = async (sql: string) => {
    const { rows } = await client.query(sql);
    const texts = (row: object) => Object.values(row).map(String);
    expect(rows.map(texts)).toEqual(sqlite(share, sql).map(texts));
  };
  await both('SELECT count(*) AS n, sum(id) AS ids, sum(exported_at_ms) AS ms FROM document_exports');
  await both(`SELECT id, source_document_title, source_document_reference, exported_at_ms, exported_at FROM document_exports
    WHERE id % 401 = 1 ORDER BY id`);
  await both('SELECT run_id, resource, error, error_code FROM sync_run_resources ORDER BY 1, 2');
  await client.end();
});
