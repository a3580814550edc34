import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runCli, spawnCli } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

/** Kills a run with SIGKILL that waits for its service. */
async function killRun(scene: Scene): Promise<void> {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  scene.service.onRequest = async () => {
    resolve();
    await wait(20_000, undefined, { ref: false });
  };
  await using cli = spawnCli(['sync', '--full'], { env: scene.env });
  await asked;
  cli.child.kill('SIGKILL');
  await cli.done;
  scene.service.onRequest = undefined;
}

describe.concurrent('a run whose process is gone', () => {
  test('is said to have died by status, runs, metrics and report, until the next run records it', async () => {
    await using scene = await setScene();
    expect(await scene.sync()).toMatchObject({ code: 0 });
    await killRun(scene);
    const status = await scene.run('status');
    expect(status.stdout).toMatch(/^State: died, run 2: its process is gone,/m);
    expect(status.stdout).not.toContain('running');
    expect(await scene.run('status', '--strict')).toMatchObject({ code: 4 });
    const [run] = JSON.parse((await scene.run('runs', '--json')).stdout);
    expect(run).toMatchObject({ runId: 2, status: 'died' });
    expect((await scene.run('runs')).stdout).toMatch(/ died /);
    const { stdout } = await scene.run('status', '--format', 'prometheus');
    expect(stdout).toMatch(/^docmirror_runs_died 1$/m);
    expect(stdout).toMatch(/^docmirror_runs_in_progress 0$/m);
    expect(stdout).not.toContain('process_cpu');
    expect(await scene.sync()).toMatchObject({ code: 0 });
    const [, before] = JSON.parse((await scene.run('runs', '--json')).stdout);
    expect(before).toMatchObject({ runId: 2, status: 'interrupted' });
    expect(await scene.run('status', '--strict')).toMatchObject({ code: 0 });
  });
});

test('status of many mirrors is a line each, the worst first, and --strict says whether one is at fault', async () => {
  await using good = await setScene();
  await using refused = await setScene();
  await using removed = await setScene();
  await using killed = await setScene();
  Object.assign(good.env, { DOCMIRROR_LABELS: 'tenant=good' });
  for (const scene of [good, refused, removed, killed]) expect(await scene.sync()).toMatchObject({ code: 0 });
  const healthy = await runCli(['status', '--strict', good.database, refused.database]);
  expect(healthy).toMatchObject({ code: 0 });
  await refused.sync('--token', 'wrong');
  removed.service.lists['document-exports'].splice(0, 120);
  await removed.sync();
  await killRun(killed);
  const broken = join(good.folder, 'broken.sqlite');
  writeFileSync(broken, 'no mirror at all, but a text');
  const files = [good, refused, removed, killed].map(({ database }) => database);
  const { code, stdout } = await runCli(['status', '--strict', ...files, broken]);
  expect(code).toBe(4);
  const [head = '', ...lines] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^State +Why +Age +Version +Mirror$/);
  expect(lines.map(line => line.split(/ {2,}/)[0])).toEqual([
    'unreadable',
    'died',
    'failed',
    'withheld',
    'ok',
  ]);
  expect(lines[2]).toMatch(/unauthorized.* \d.*s +0\.\d.*mirror\.sqlite$/);
  const { mirrors } = JSON.parse((await runCli(['status', '--json', ...files])).stdout);
  expect(mirrors).toMatchObject([
    { state: 'died', database: killed.database },
    { state: 'failed', why: expect.stringContaining('webhooks: unauthorized') },
    { state: 'withheld', why: 'document-exports: 120' },
    { state: 'ok', why: '', labels: { tenant: 'good' }, resources: [{}, {}, {}] },
  ]);
  expect(await runCli(['status', '--max-age', '0', good.database])).toMatchObject({ code: 4 });
  const metrics = await runCli(['status', '--format', 'prometheus', ...files]);
  expect(metrics.stdout.match(/^docmirror_list_records\{/gm)).toHaveLength(12);
  expect(metrics.stdout).toContain('tenant="good"');
  expect(metrics.stdout.match(/^# HELP docmirror_list_records /gm)).toHaveLength(1);
});

test('status of files of settings has a line for each tenant, whether or not it ever began', async () => {
  await using scene = await setScene();
  await scene.sync();
  const tenants = join(scene.folder, 'tenants');
  mkdirSync(tenants);
  const { DOCMIRROR_BASE_URL: url, DOCMIRROR_TOKEN: token } = scene.env;
  const settings = `DOCMIRROR_BASE_URL=${url}\nDOCMIRROR_TOKEN=${token}\n`;
  const texts = {
    acme: `${settings}DOCMIRROR_DATABASE=../mirror.sqlite\n`,
    empty: '',
    fresh: `${settings}DOCMIRROR_DATABASE=../fresh.sqlite\n`,
    globex: `${settings}DOCMIRROR_DATABASE=../mirror.sqlite\nDOCMIRROR_TOKN=x\n`,
    homeless: 'DOCMIRROR_DATABASE=../none.sqlite\n',
    pasted: `DOCMIRROR_BASE_URL=https://other.example\nDOCMIRROR_TOKEN=x\nDOCMIRROR_DATABASE=../mirror.sqlite\n`,
  };
  const files = Object.entries(texts).map(([name, text]) => {
    const file = join(tenants, `${name}.env`);
    writeFileSync(file, text);
    return file;
  });
  const shown = await runCli(['status', '--strict', ...files, scene.database], { cwd: scene.folder });
  expect(shown.code).toBe(4);
  const lines = shown.stdout
    .trimEnd()
    .split('\n')
    .map(line => line.split(/ {2,}/));
  expect(lines.slice(1).map(([state, why]) => [state, why])).toEqual([
    ['unreadable', 'it does not set DOCMIRROR_DATABASE'],
    ['unreadable', expect.stringMatching(/^no run has begun: there is no .*fresh\.sqlite$/)],
    ['unreadable', expect.stringMatching(/^DOCMIRROR_TOKN is not a setting of docmirror/)],
    ['unreadable', expect.stringMatching(/^DOCMIRROR_BASE_URL is not set/)],
    ['unreadable', expect.stringMatching(/ is the mirror of .*, not of https:..other\.example$/)],
    ['ok', expect.anything()],
    ['ok', expect.anything()],
  ]);
  expect(lines.slice(1, 5).map(cells => cells.at(-1))).toEqual(files.slice(1, 5));
  expect(await runCli(['status', '--strict', files[0] as string])).toMatchObject({ code: 0 });
  // An older mirror stays what it was, but nothing keeps it up to date.
  expect(await runCli(['status', files[3] as string])).toMatchObject({ code: 1 });
});

test('status has the message and the address of a failed list, and runs its name', async () => {
  await using scene = await setScene();
  await scene.sync();
  scene.service.options.status = { webhooks: 500 };
  expect(await scene.sync('--give-up-after', '0')).toMatchObject({ code: 3 });
  const address = `webhooks: GET ${scene.env.DOCMIRROR_BASE_URL}/v2/webhooks`;
  const { stdout } = await scene.run('status');
  expect(stdout).toContain(address);
  expect(stdout).toMatch(/answered 500: the service failed.* \[server_error\]$/m);
  expect((await scene.run('runs')).stdout).toMatch(/ partial .* webhooks: server_error$/m);
  scene.service.options.status = { webhooks: 500, collections: 500, 'document-exports': 500 };
  await scene.sync('--give-up-after', '0');
  expect((await scene.run('runs')).stdout).toMatch(/ failed .* {2}server_error$/m);
});
