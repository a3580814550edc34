import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { growDocmirror } from '../support/grown-docmirror.ts';
import { makeOutgrownMirror, type Outgrown } from '../support/outgrown-mirror.ts';
import { runNode } from '../support/program-copy.ts';
import { sqlite, type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';

// Does the work of a maintainer when the service has new fields: the steps of CONTRIBUTING.md, and no others.

type Wire = Record<string, unknown>;

let folder: TemporaryFolder;
let grown: string;
let outgrown: Outgrown;
let listed: Wire[];
let database: string;
/** The copy that the first run made. */
let copy: string;

const docmirror = (...args: string[]) =>
  runNode(grown, ['src/cli.ts', ...args], {
    DOCMIRROR_BASE_URL: outgrown.service.url,
    DOCMIRROR_TOKEN: outgrown.service.options.token,
    DOCMIRROR_DATABASE: database,
    DOCMIRROR_LOG_LEVEL: 'error',
  });

/** Without nulls, which for a reader are as nothing, and with each connection as its id, because the mirror keeps only the newest name. */
const comparable = (records: readonly Wire[]) =>
  records
    .map(record =>
      Object.entries(record)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => [name, Object(value).id ?? value])
        .sort(),
    )
    .map(members => JSON.stringify(members))
    .sort();

beforeAll(async () => {
  folder = temporaryFolder();
  grown = join(folder.path, 'docmirror');
  await growDocmirror(grown);
  database = join(folder.path, 'mirror.sqlite');
  copy = `${database}.before-test`;
  outgrown = await makeOutgrownMirror(database);
  const { lists, options } = outgrown.service;
  listed = lists['document-exports'].map(item => (typeof item === 'string' ? JSON.parse(item) : item));
  // A run brings the mirror up to date even if the service does not answer.
  options.status = { 'document-exports': 500, collections: 500, webhooks: 500 };
  expect(await docmirror('sync', '--give-up-after', '0')).toMatchObject({ code: 1 });
  options.status = {};
}, 60_000);

afterAll(async () => {
  await outgrown[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

test('the new columns have what had waited in _extra and fits, and the rest is where it was', () => {
  const rows = sqlite(
    database,
    `SELECT source_document_reference AS reference, language, page_total, _extra FROM document_exports_named
     WHERE source_document_reference IN ('DOC-8', 'DOC-9', 'DOC-11', 'DOC-20', 'DOC-600') ORDER BY exported_at_ms`,
  );
  expect(rows).toEqual([
    { reference: 'DOC-8', language: 'fr', page_total: null, _extra: null },
    { reference: 'DOC-9', language: null, page_total: null, _extra: '{"pageTotal":9007199254740993}' },
    { reference: 'DOC-11', language: null, page_total: null, _extra: '{"pageTotal":"eleven","language":11}' },
    { reference: 'DOC-20', language: null, page_total: 20, _extra: null },
    { reference: 'DOC-600', language: 'it', page_total: 3, _extra: null },
  ]);
});

test('the views show the fields, and `changes` says what it said before', () => {
  const changes = (path: string) =>
    sqlite(path, 'SELECT run_id, resource, record_id, operation, record FROM changes').map(
      ({ record, ...rest }) => `${Object.values(rest)} ${comparable([JSON.parse(`${record}`)])}`,
    );
  expect(changes(database).sort()).toEqual(changes(copy).sort());
});

test('export, now and as of a run, report and changes have the fields', async () => {
  const exported = async (out: string, ...flags: string[]): Promise<Wire[]> => {
    expect(await docmirror('export', '--out', join(folder.path, out), ...flags)).toMatchObject({ code: 0 });
    const lines = readFileSync(join(folder.path, out, 'document_exports.ndjson'), 'utf8').trimEnd();
    return lines.split('\n').map(line => JSON.parse(line));
  };
  expect(comparable(await exported('now'))).toEqual(comparable(listed));
  for (const [run, language] of [
    [1, 'de'],
    [2, 'fr'],
  ]) {
    const then = await exported(`run-${run}`, '--as-of-run', `${run}`);
    expect(then.find(record => record.sourceDocumentReference === 'DOC-8')?.language).toBe(language);
  }
  expect(await docmirror('report', '--out', join(folder.path, 'report.html'))).toMatchObject({ code: 0 });
  expect((await docmirror('changes', '--since-run', '1', '--format', 'ndjson')).stdout).toContain(
    '"language":"fr"',
  );
});

test('the mirror is sound, and the next full sync finds nothing new', async () => {
  expect(await docmirror('verify')).toMatchObject({ code: 0 });
  const { code, stdout } = await docmirror('sync', '--full', '--json', '--resource', 'document-exports');
  // The records that do not fit the new fields are rejected now, and stay as they were.
  expect(code).toBe(3);
  expect(JSON.parse(stdout).resources).toMatchObject([{ inserted: 0, updated: 0, removed: 0 }]);
  expect(await docmirror('verify')).toMatchObject({ code: 0 });
});
