import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CancelledError } from '../../../src/errors.ts';
import { verifyMirror } from '../../../src/store/verify/verify.ts';
import { casesOf } from '../../support/cases.ts';
import { programPath } from '../../support/program.ts';
import { temporaryFolder } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

const rowCount = 45_000;
let scene: Scene;
beforeAll(async () => {
  scene = await setScene({}, { exports: rowCount, collections: 5, webhooks: 3 });
  await scene.sync();
});
afterAll(() => scene[Symbol.asyncDispose]());

/** Does some work with a copy of the mirror that a statement altered. */
async function altered<T>(sql: string, work: (path: string) => T): Promise<Awaited<T>> {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'copy.sqlite');
  copyFileSync(scene.database, path);
  write(path, sql);
  return await work(path);
}

function write(path: string, sql: string): void {
  const database = new Database(path);
  database.pragma('foreign_keys = OFF');
  database.exec(sql);
  database.close();
}

/** Verifies in this process, and does something with the thread that starts. Returns what is found, and how many threads ended. */
async function verify(path: string, meet: (thread: Worker) => void = () => undefined, signal = never) {
  let [begun, ended] = [0, 0];
  const onThread = (thread: Worker) => {
    begun++;
    thread.once('exit', () => ended++);
    meet(thread);
  };
  process.on('worker', onThread);
  try {
    const result = await verifyMirror(path, { limit: 100, signal }).catch((error: unknown) => error);
    return { result, begun, ended };
  } finally {
    process.off('worker', onThread);
  }
}

const never = new AbortController().signal;

/** What `verify --json` prints in a process of its own, which another program starts. */
function printed(path: string, ...starter: string[]) {
  const [command = '', ...words] = [...starter, '--', programPath, 'verify', '--json', '--database', path];
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** Rows of all thirds, from the last to the first. */
const ids = [rowCount, 40_001, 30_000, 15_002, 15_000, 2, 1];
const wrong = `UPDATE document_exports SET source_document_title = 'x' WHERE id IN (${ids});
  UPDATE collections SET name = 'x' WHERE id = 3; DELETE FROM document_exports WHERE id = 20000`;
const foundIn = (result: unknown) => {
  const { differences } = result as Awaited<ReturnType<typeof verifyMirror>>;
  return differences.flatMap(({ table, id }) => (table === 'document_exports' ? (id ?? []) : []));
};
const found = ids.toReversed();

describe.skipIf(availableParallelism() < 2)('rows of a large mirror are read by two threads', () => {
  test('a sound one is sound, and the thread has ended', async () => {
    const { result, begun, ended } = await verify(scene.database);
    expect(result).toMatchObject({ differenceCount: 0, lists: [{ recordCount: rowCount }, {}, {}] });
    expect({ begun, ended }).toEqual({ begun: 1, ended: 1 });
  });

  const alterations: readonly [what: string, sql: string][] = [
    ['altered rows', wrong],
    [
      'a row beyond all others, and one before them',
      `UPDATE document_exports SET id = 9000000000000000 WHERE id = 7;
      UPDATE document_exports SET id = -5 WHERE id = 8`,
    ],
    ['a table that is missing', `${wrong}; DROP TABLE webhook_events`],
    ['a run without its changes', 'UPDATE document_exports SET _changed_run_id = 2 WHERE id > 44000'],
    ['no receipts', 'DROP TABLE sync_receipts'],
  ];

  test.each(casesOf(alterations, 5))(
    '%s: the same is printed as by one, and where no thread can start',
    async (_what, sql) => {
      await altered(sql, path => {
        const byTwo = printed(path, process.execPath);
        expect(byTwo).toMatchObject({ status: 4, stderr: '' });
        expect(printed(path, 'taskset', '-c', '0', process.execPath)).toEqual(byTwo);
        const allowed = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--allow-addons'];
        const { status, stdout } = printed(path, process.execPath, ...allowed);
        expect({ status, stdout }).toEqual({ status: 4, stdout: byTwo.stdout });
      });
    },
  );

  test('altered rows are told in their order', async () => {
    const { result, begun } = await altered(wrong, path => verify(path));
    expect({ begun, found: foundIn(result) }).toEqual({ begun: 1, found });
  });

  test('what a thread that was ended has not read is read by the other', async () => {
    const before = await altered(wrong, path => verify(path, thread => void thread.terminate()));
    expect(before).toMatchObject({ begun: 1, ended: 1 });
    expect(foundIn(before.result)).toEqual(found);
  });

  test('if another program writes before both threads see one state, nothing is taken from the other thread', async () => {
    const change = `UPDATE document_exports SET source_document_title = 'x' WHERE id = 44999;
      UPDATE document_exports SET id = 50000 WHERE id = 44998`;
    const { result, begun, ended } = await altered('', path =>
      verify(path, thread => thread.once('message', () => write(path, change))),
    );
    expect({ begun, ended, found: foundIn(result) }).toEqual({ begun: 1, ended: 1, found: [44_999] });
    expect(result).toMatchObject({ lists: [{ recordCount: rowCount }, {}, {}] });
  });

  test('a signal ends both, and nothing is left beside the mirror', async () => {
    const stopping = new AbortController();
    const { result, ended } = await verify(
      scene.database,
      thread => thread.once('message', () => stopping.abort(new CancelledError('SIGTERM'))),
      stopping.signal,
    );
    expect(result).toBe(stopping.signal.reason);
    expect(ended).toBe(1);
    expect(readdirSync(scene.folder)).toEqual(['mirror.sqlite', 'mirror.sqlite.lock']);
  });
});

test('rows of a small mirror are read by one thread', async () => {
  const { result, begun } = await altered('DELETE FROM document_exports WHERE id > 40000', path =>
    verify(path),
  );
  expect(begun).toBe(0);
  expect(result).toMatchObject({ lists: [{ recordCount: 40_000 }, {}, {}] });
});

test('the built thread is beside the program', () => {
  expect(readdirSync(join(programPath, '..'))).toContain('rows-thread.js');
});
