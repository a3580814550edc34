import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadCommands } from '../../src/commands/index.ts';
import { temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { webhook } from '../support/stand-in.ts';
import { pathWithDocmirror } from './installed.ts';

const readyMsMax = 20_000;
const sigterm = 143;
const failed = 1;
const usage = 2;
const difference = 4;

/** The output of a long-running command when it is ready. */
const readyWords: Readonly<Record<string, RegExp>> = { serve: /docmirror serves /, watch: /next run/ };

let scene: Scene;

beforeAll(async () => {
  scene = await setScene();
  await scene.sync();
  scene.service.lists.webhooks.push(webhook(4));
  await scene.sync();
});

afterAll(() => scene[Symbol.asyncDispose]());

const all = await loadCommands();

describe.concurrent('the examples of the help do what they say', () => {
  test.each(all)('of docmirror $name', async ({ name, command: { examples } }) => {
    await using folder = temporaryFolder();
    copyFileSync(scene.database, join(folder.path, 'docmirror.sqlite'));
    writeFileSync(join(folder.path, 'serve-token'), 'a-token-for-clients\n');
    writeFileSync(join(folder.path, 'views.sql'), 'CREATE VIEW names AS SELECT name FROM collections;');
    writeFileSync(join(folder.path, 'monthly.sql'), 'SELECT count(*) AS exports FROM document_exports;');
    if (name === 'erase') addRejected(join(folder.path, 'docmirror.sqlite'));
    const env = environment(folder.path);
    for (const { line } of examples) {
      const shell = shellOf(line);
      if (shell === null) continue;
      const result = await typed(
        [...shell, onThisMachine(line.replace('1000000', '10000'))],
        { cwd: folder.path, env },
        readyWords[name],
      );
      const isClickHouse = name.startsWith('publish') && !line.includes('--print-ddl');
      // There is no ClickHouse here: that the line is understood shows in that nothing but the server is missing.
      if (isClickHouse) expect(result.stderr, line).toContain('ClickHouse');
      // There are no mirrors in the folder of this example, and --strict says so.
      const isStrict = line.includes('--strict mirrors/');
      const isMissing = line.includes('upgrade --check mirrors/');
      const ofMirrors = isStrict ? difference : isMissing ? usage : 0;
      const code = isClickHouse ? failed : name in readyWords ? sigterm : ofMirrors;
      expect(result, line).toMatchObject({ code });
    }
  });
});

/** The service of these examples lists nothing that can't be read; the record of the example is put there by hand. */
function addRejected(path: string): void {
  const mirror = new Database(path);
  mirror.exec(`INSERT INTO rejected_records (id, run_id, last_run_id, resource, page_no, position, reason, record, content)
    VALUES (7, 1, 1, 'webhooks', 1, 0, 'id: must be integer', '{"id":"7"}', zeroblob(16))`);
  mirror.close();
}

function environment(folder: string): Record<string, string> {
  return {
    PATH: pathWithDocmirror(folder),
    HOME: folder,
    DOCMIRROR_BASE_URL: scene.service.url,
    DOCMIRROR_TOKEN: scene.service.options.token,
    DOCMIRROR_CLICKHOUSE_URL: 'http://127.0.0.1:9',
    DOCMIRROR_TENANT: 'acme',
    DOCMIRROR_GIVE_UP_AFTER: '0',
    KEY: 'another-token-for-clients',
  };
}

/**
 * Adapts a line to this machine. Another process might use the ports of the examples. No name leads to another machine, and no path
 * out of the folder.
 */
function onThisMachine(line: string): string {
  const free = line
    .replace(':9464', ':0')
    .replace('https://clickhouse.example:8443', 'http://127.0.0.1:9')
    .replace('/srv/share/', '');
  return free.includes('docmirror serve') && !free.includes('--port') ? `${free} --port 0` : free;
}

/** The command of the shell that a line is for; null if this machine does not have that shell. */
function shellOf(line: string): string[] | null {
  if (line.includes('completion zsh'))
    return has('zsh')
      ? ['zsh', '-f', '-o', 'errexit', '-c', `autoload -Uz compinit; compinit -D -u; eval "$1"`, 'zsh']
      : null;
  if (line.includes('completion fish')) return has('fish') ? ['fish', '-c'] : null;
  return ['bash', '-e', '-c'];
}

function has(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).status === 0;
}

/** Runs a line to its end, or until it is ready, and then stops it. */
async function typed(
  [program = '', ...args]: string[],
  options: { cwd: string; env: Record<string, string> },
  ready: RegExp | undefined,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', part => (said += String(part)));
  const stderr = text(child.stderr);
  if (ready !== undefined) {
    for (let waitedMs = 0; !ready.test(said) && child.exitCode === null; waitedMs += 20) {
      if (waitedMs > readyMsMax) break;
      await wait(20);
    }
    child.kill('SIGTERM');
  }
  const [code] = await ended;
  return { code: Number(code), stderr: await stderr };
}
