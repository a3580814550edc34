import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Random } from '../../src/sample/random.ts';
import { tamper } from '../store/verify/tamper.ts';
import { programPath } from '../support/program.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection, documentExport, type SampleItem } from '../support/stand-in.ts';

const steps = 24;
const sizes = { exports: 6, collections: 4, webhooks: 1 };

interface Change {
  readonly runId: number;
  readonly changedAt: string;
  readonly resource: string;
  readonly recordId: number;
  readonly operation: string;
}

/** Runs of a restored mirror use the same numbers again, but not the same times. */
const keyOf = (change: Change) =>
  [change.runId, change.changedAt, change.resource, change.recordId, change.operation].join(' ');

/** Somebody who takes over changes batch by batch, and can be killed at any moment. */
class Consumer {
  readonly delivered = new Map<string, number>();
  /** Times that a batch can come again: it was loaded, and the cursor was not moved. */
  readonly again = new Map<string, number>();
  /** The last run whose changes were deleted with the history before they were read, and docmirror said so. */
  prunedTo = 0;
  readonly #scene: Scene;
  readonly #cursor: string;
  readonly #next: string;
  readonly #random: Random;

  constructor(scene: Scene, name: string, random: Random) {
    this.#scene = scene;
    this.#cursor = join(scene.folder, `${name}.cursor`);
    this.#next = join(scene.folder, `${name}.next`);
    this.#random = random;
  }

  /** changes > batch && load batch && mv next cursor. */
  async read(mayDie: boolean, sinceRun: string | null = null): Promise<void> {
    const since = sinceRun === null ? [] : ['--since-run', sinceRun];
    const isBegun = sinceRun === null && existsSync(this.#cursor);
    const diesAt = mayDie ? this.#random.integer(0, 2) : -1;
    const flags = ['--cursor', this.#cursor, '--next', this.#next, '--format', 'ndjson', ...since];
    const killedAfter = diesAt === 0 ? this.#random.integer(0, 3_000) : Number.POSITIVE_INFINITY;
    const { code, stdout, stderr } = await this.#run(['changes', ...flags], killedAfter);
    if (code === 4) {
      expect({ stdout, sinceRun }).toEqual({ stdout: '', sinceRun: null });
      const shared = /--since-run (\d+)/.exec(stderr)?.[1];
      expect(stderr).toContain('[cursor_lost]');
      return await this.read(mayDie, shared ?? '');
    }
    if (code === null) return;
    expect(code, stderr).toBe(0);
    const told = /After run (\d+) nothing is missing/.exec(stderr)?.[1];
    if (told === undefined) expect(stderr).toBe('');
    // Only a reader that begins, or begins again, can meet history that was deleted.
    else expect(isBegun).toBe(false);
    this.prunedTo = Math.max(this.prunedTo, Number(told ?? 0));
    if (diesAt === 1) return;
    const batch = stdout.split('\n').flatMap(line => (line === '' ? [] : [keyOf(JSON.parse(line))]));
    for (const key of batch) this.delivered.set(key, (this.delivered.get(key) ?? 0) + 1);
    if (diesAt === 2) for (const key of batch) this.again.set(key, (this.again.get(key) ?? 0) + 1);
    else renameSync(this.#next, this.#cursor);
  }

  async #run(args: readonly string[], killedAfter: number) {
    const child = spawn(process.execPath, ['--', programPath, ...args], {
      cwd: this.#scene.folder,
      env: { PATH: process.env.PATH, ...this.#scene.env },
    });
    let stdout = '';
    let stderr = '';
    child.stderr.on('data', data => {
      stderr += data;
    });
    child.stdout.on('data', data => {
      stdout += data;
      if (stdout.length > killedAfter) child.kill('SIGKILL');
    });
    const [code] = await once(child, 'close');
    return { code: code as number | null, stdout, stderr };
  }
}

function changesOf(database: string): Change[] {
  const columns = 'run_id AS runId, changed_at AS changedAt, resource, record_id AS recordId, operation';
  return sqlite(database, `SELECT ${columns} FROM changes`) as unknown as Change[];
}

/** One thing that happens to the service or the mirror. */
async function step(scene: Scene, random: Random, no: number): Promise<void> {
  const { lists } = scene.service;
  const kind = random.integer(0, 11);
  const backup = join(scene.folder, 'kept.sqlite');
  if (kind < 4) lists.collections.push(collection(100 + no));
  else if (kind < 6) lists['document-exports'].push(documentExport(100 + no));
  else if (kind < 8)
    (lists.collections[random.integer(0, lists.collections.length - 1)] as SampleItem).name = `name ${no}`;
  else if (kind === 8 && lists['document-exports'].length > 3) lists['document-exports'].splice(1, 1);
  else if (kind === 9) await scene.run('backup', backup);
  else if (kind === 10 && existsSync(backup)) {
    expect((await scene.run('backup', '--restore', backup)).code).toBe(0);
    return;
  } else if (kind === 11 && random.integer(0, 1) === 0) {
    tamper(
      scene.database,
      `UPDATE collections SET name = 'by hand ${no}' WHERE id = (SELECT max(id) FROM collections)`,
    );
    expect((await scene.sync('--rebuild')).code).toBe(0);
    return;
  }
  const flags = random.integer(0, 9) === 0 ? ['--keep-history', '1ms'] : [];
  const { code, stderr } = await scene.sync('--full', ...flags);
  expect([0, 3], stderr).toContain(code);
}

test.each([1, 2, 3])(
  'two readers of random history %i get every change, whatever dies between',
  { timeout: 240_000 },
  async seed => {
    const random = new Random(seed);
    await using scene = await setScene({}, sizes);
    expect((await scene.sync()).code).toBe(0);
    const consumers = ['one', 'two'].map(name => new Consumer(scene, name, random));
    for (let no = 0; no < steps; no++) {
      await step(scene, random, no);
      for (const consumer of consumers)
        if (random.integer(0, 2) > 0) await consumer.read(random.integer(0, 1) === 0);
    }
    for (const consumer of consumers) {
      await consumer.read(false);
      const missing = changesOf(scene.database).filter(
        change => change.runId > consumer.prunedTo && !consumer.delivered.has(keyOf(change)),
      );
      expect(missing).toEqual([]);
      await consumer.read(false);
    }
  },
);
