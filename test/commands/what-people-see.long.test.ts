import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { setScene } from '../support/scene.ts';
import { collection, type SampleItem, webhook } from '../support/stand-in.ts';

const hostile = '\u001b]0;gone\u0007\u009b31m\u202ered\u2028\u2066';
const visible = '\\u001b]0;gone\\u0007\\u009b31m\\u202ered\\u2028\\u2066';
/** Characters that could steer a terminal, except line feeds. */
const steering = /[\p{Bidi_Control}\u2028\u2029]|(?!\n)\p{Cc}/u;

describe('a record that would steer a terminal', () => {
  test('is made visible in tables, and whole in data', async () => {
    await using scene = await setScene();
    await scene.sync();
    scene.service.lists.collections.push(collection(90, { name: hostile }));
    const dry = await scene.run('sync', '--dry-run');
    const live = await scene.run('verify', '--live');
    await scene.sync();
    const table = await scene.run('changes');
    for (const { stdout, stderr } of [dry, table, live]) expect(stdout + stderr).not.toMatch(steering);
    for (const { stdout } of [dry, table]) expect(stdout).toContain(visible);
    const data = await scene.run('changes', '--format', 'ndjson');
    expect(JSON.parse(data.stdout).record.name).toBe(hostile);
    const shown = await scene.run('show', 'collections', '90', '--json');
    expect(JSON.parse(shown.stdout).records[0].record.name).toBe(hostile);
    for (const { stdout } of [data, shown]) expect(stdout).not.toMatch(steering);
  });
});

describe('the endpoint of a webhook', () => {
  const secrets = /s3cret/i;
  const endpoints = [
    'https://me:s3cret@hooks.example.com/s3cret?key=s3cret#s3cret',
    ' https://hooks.example.com/s3cret',
    'me:s3cret@hooks.example.com/s3cret?s3cret',
    'HTTPS://ME:S3CRET@HOOKS.EXAMPLE.COM/S3CRET?KEY=S3CRET',
  ];

  test('is shown to people as scheme and host, with a mark that there is more', async () => {
    await using scene = await setScene();
    scene.env.DOCMIRROR_LOG_LEVEL = 'trace';
    await scene.sync();
    const webhooks = endpoints.map((endpoint, at) =>
      webhook(50 + at, { endpoint, description: null, events: [] }),
    );
    scene.service.lists.webhooks.push(...webhooks);
    const said = [
      await scene.run('sync', '--dry-run'),
      await scene.run('verify', '--live'),
      await scene.run('sync'),
    ];
    for (const item of scene.service.lists.webhooks as SampleItem[]) item.endpoint = `${item.endpoint}s3cret`;
    said.push(await scene.run('verify', '--live'), await scene.run('sync'));
    said.push(
      await scene.run('changes', '--since-run', '0'),
      await scene.run('status'),
      await scene.run('runs'),
    );
    const out = join(scene.folder, 'report.html');
    await scene.run('report', '--out', out);
    for (const { stdout, stderr } of said) expect(stdout + stderr).not.toMatch(secrets);
    expect(readFileSync(out, 'utf8')).not.toMatch(secrets);
    const table = said[5]?.stdout;
    expect(table).toMatch(/\+ webhooks 50 {2}https:\/\/hooks\.example\.com\/…/);
    expect(table).toMatch(/\+ webhooks 52 {2}…/);
    expect(table).toContain('https://hooks.example.com/… (a part that is not shown has changed)');
  });
});

describe('a run that ended in the future', () => {
  test('is no fresh one: status says so, and --max-age exits with 4', async () => {
    await using scene = await setScene();
    await scene.sync();
    expect(await scene.run('status', '--max-age', '26h')).toMatchObject({ code: 0 });
    const database = new Database(scene.database);
    const later = new Date(Date.now() + 86_400_000).toISOString();
    database
      .prepare(
        "UPDATE sync_run_resources SET read_since = @later, completed_at = @later WHERE resource = 'webhooks'",
      )
      .run({ later });
    database.close();
    const { code, stdout } = await scene.run('status', '--max-age', '26h');
    expect(code).toBe(4);
    expect(stdout).toContain('State: too old, webhooks: in the future.');
    const plain = await scene.run('status');
    expect(plain.code).toBe(0);
    expect(plain.stdout).toContain('in the future');
    const json = JSON.parse((await scene.run('status', '--json')).stdout);
    expect(json.resources[2]).toMatchObject({ ageMs: null, endedInFuture: true });
    expect(json.resources[0]).toMatchObject({ endedInFuture: false });
  });
});

test('the log shows no secret, and steers no terminal', () => {
  const source = (name: string) =>
    JSON.stringify(fileURLToPath(new URL(`../../src/${name}`, import.meta.url)));
  const script = (isTerminal: boolean) => `
    const { createLogger } = await import(${source('commands/logging.ts')});
    const { Secrets } = await import(${source('service/secrets.ts')});
    const secrets = new Secrets();
    const logger = createLogger({ logLevel: 'info', labels: {} }, { stderr: { isTTY: ${isTerminal}, fd: 2 }, secrets, settings: { flags: {}, environment: {} } });
    secrets.add('secret-token');
    logger.warn({ error: { code: 'internal', message: ${JSON.stringify(hostile)} }, err: new Error('secret-token') }, 'said secret-token\\n${'\\u001b'}[2J');`;
  const log = (isTerminal: boolean) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', script(isTerminal)], {
      encoding: 'utf8',
      env: { ...process.env, NODE_EXTRA_CA_CERTS: '' },
    }).stderr;
  expect(JSON.parse(log(false))).toMatchObject({
    error: { message: hostile },
    msg: 'said [secret]\n\u001b[2J',
  });
  const pretty = log(true);
  expect(pretty).toContain('said [secret]\\n\\u001b[2J');
  expect(pretty).toContain(`${visible} [internal]`);
  expect(pretty).toMatch(/Error: \[secret\]\n +at /);
  expect(pretty).not.toMatch(steering);
});
