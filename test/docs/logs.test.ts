import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { spawnCli } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { webhook } from '../support/stand-in.ts';

type Line = Record<string, unknown>;

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'running.md'), 'utf8');
const common = ['level', 'time', 'runId', 'msg', 'tenant'];
/** As in `sync --json`. */
const counts =
  'resource status mode completeness firstPageNo pageSize pageCount totalRecordCount recordsSeen inserted updated removed unchanged rejected removalsWithheld undecided walks requests retries bytes waitedMs reason reasons ignoredFields readSince error retryAfterUntil newFields restlessFields checksum';

const documented = page
  .split('\n')
  .filter(row => /^\| `[^`]+`(, `[^`]+`)* \| (trace|debug|info|warn|error)/.test(row))
  .flatMap(row => {
    const [, messages = '', levels = '', fields = ''] = row.split('|');
    const named = [...fields.matchAll(/`(\w+)`/g)].map(([, name]) => name as string);
    const all = /counts of the list|the same/.test(fields) ? counts.split(' ') : named;
    const more = fields.includes('as `reading`') ? ['reading', 'pages', 'pageCount', 'resource'] : [];
    const only = [...common, ...all, ...more, 'error', 'err'];
    return [...messages.matchAll(/`([^`]+)`/g)].map(([, msg]) => ({ msg, levels, only }));
  });

const linesOf = (stderr: string) =>
  stderr.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));

function expectDocumented(lines: readonly Line[]): string[] {
  for (const line of lines) {
    const about = documented.filter(({ msg }) => msg === line.msg);
    expect(about, `${line.msg} is not in docs/running.md`).not.toEqual([]);
    const one = about.find(({ levels }) => levels.includes(String(line.level)));
    expect(one, `${line.msg} is of level ${line.level}`).toBeDefined();
    expect(
      Object.keys(line).filter(field => !one?.only.includes(field)),
      String(line.msg),
    ).toEqual([]);
  }
  return lines.map(({ msg }) => String(msg));
}

test('every log line of runs has a documented message, level and fields', async () => {
  await using scene = await setScene({
    status: { webhooks: 404 },
    faults: ({ n }) => {
      if (n === 1) return { kind: 'status', status: 429, headers: { 'retry-after': '2' } };
      return n === 2 ? { kind: 'status', status: 500 } : undefined;
    },
  });
  Object.assign(scene.env, { DOCMIRROR_LOG_LEVEL: 'trace', DOCMIRROR_LABELS: 'tenant=acme' });
  scene.env.DOCMIRROR_SHARE = join(scene.folder, 'share.sqlite');
  const failed = await scene.run('sync');
  scene.service.options.order = 'shuffled-per-request';
  scene.service.options.status = {};
  const shuffled = await scene.run('sync', '--full', '--page-size', '20');
  scene.env.DOCMIRROR_SHARE_SQL = join(scene.folder, 'share.sql');
  writeFileSync(scene.env.DOCMIRROR_SHARE_SQL, 'SELECT * FROM nothing');
  scene.service.lists.webhooks.push(webhook(9));
  const unshared = await scene.run('sync');
  const messages = expectDocumented([failed, shuffled, unshared].flatMap(({ stderr }) => linesOf(stderr)));
  const seldom = ['rate limited by the service; waiting', 'trying again', 'list failed', 'list completed'];
  const ofReadings = [
    'reading started',
    'page done',
    'not proven yet; reading the list again',
    'list partial',
  ];
  expect(messages).toContain('there was no mirror here; it was made');
  const ofShares = ['share made', 'the share could not be made'];
  expect(messages).toEqual(expect.arrayContaining([...seldom, ...ofReadings, ...ofShares]));
});

test('every log line of a watch has a documented message, level and fields', async () => {
  await using scene = await setScene();
  const env = { ...scene.env, DOCMIRROR_LABELS: 'tenant=acme', DOCMIRROR_LOG_LEVEL: 'trace' };
  await using cli = spawnCli(['watch', '--run-now', '--jitter', '10ms', '--schedule', '0 0 1 1 *'], { env });
  await vi.waitFor(async () => expect((await scene.run('runs')).stdout).toContain('completed'), 30_000);
  cli.child.kill('SIGTERM');
  const messages = expectDocumented(linesOf((await cli.done).stderr));
  const wanted = ['next run', 'run started', 'run delayed by --jitter', 'run completed', 'watch is ending'];
  expect(messages).toEqual(expect.arrayContaining(wanted));
});
