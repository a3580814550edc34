import { once } from 'node:events';
import { copyFileSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../../src/sample/random.ts';
import { verifyMirror } from '../../src/store/verify/verify.ts';
import { erase } from '../../src/store/write/erase.ts';
import { tamper } from '../store/verify/tamper.ts';
import { syncScene } from '../support/in-process.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { spawnCli, sqlite, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { textsIn } from '../support/share.ts';
import { documentExport } from '../support/stand-in.ts';

const kills = 40;
const seed = Number(process.env.DOCMIRROR_TEST_SEED ?? Date.now() % 1_000_000);
const secret = 'Confidential words';
const { signal } = new AbortController();

/** A mirror with a history, big enough that what is killed takes a while. */
let base: Scene;
beforeAll(async () => {
  console.log(`seed ${seed}: set DOCMIRROR_TEST_SEED to it to have the same moments`);
  base = await setScene({}, { exports: 3_000 });
  const exports = base.service.lists['document-exports'];
  for (const n of [4, 5, 6])
    exports[n] = documentExport(n, { sourceDocumentTitle: `${secret} ${n} ${'and more '.repeat(900)}` });
  await syncScene(base, { pageSize: 1_000 });
  exports.splice(4, 3);
  await syncScene(base, { pageSize: 1_000 });
});
afterAll(() => base[Symbol.asyncDispose]());

const differencesIn = async (path: string) => (await verifyMirror(path, { limit: 5, signal })).differences;

const receipts = (path: string) =>
  sqlite(path, 'SELECT receipt FROM sync_receipts ORDER BY leaf_index').map(({ receipt }) =>
    JSON.parse(String(receipt)),
  );

/** Starts a command, and resolves when it made the mirror's log, before it writes; false if it ended before. */
async function untilItOpens(path: string, exit: Promise<unknown>): Promise<boolean> {
  let isOver = false;
  exit.then(() => {
    isOver = true;
  });
  while (!isOver) {
    if (statSync(`${path}-wal`, { throwIfNoEntry: false }) !== undefined) return true;
    await wait(1);
  }
  return false;
}

/** Runs a command to its end; returns how long it has the mirror open, in milliseconds. */
async function timeOpen(path: string, args: string[]): Promise<number> {
  await using cli = spawnCli(args, { env: { ...base.env, DOCMIRROR_DATABASE: path } });
  await untilItOpens(path, cli.done);
  const startedAt = performance.now();
  expect(await cli.done).toMatchObject({ code: 0 });
  return performance.now() - startedAt;
}

/** Runs a command and kills it so long after it opened the mirror; true if it had not ended. */
async function kill(path: string, args: string[], afterMs: number): Promise<boolean> {
  await using cli = spawnCli(args, { env: { ...base.env, DOCMIRROR_DATABASE: path } });
  const exit = once(cli.child, 'exit');
  await untilItOpens(path, exit);
  await Promise.race([exit, wait(afterMs)]);
  const isRunning = cli.child.exitCode === null;
  cli.child.kill('SIGKILL');
  await exit;
  return isRunning;
}

/** Does one command on copies of the mirror, each time killed at another moment, and looks at what is left. */
async function killEach(
  chance: Random,
  args: string[],
  prepare: (path: string) => void,
  look: (path: string) => Promise<string>,
): Promise<Map<string, number>> {
  const left = new Map<string, number>();
  await using folder = temporaryFolder();
  const copy = (name: string) => {
    const path = join(folder.path, `${name}.sqlite`);
    copyFileSync(base.database, path);
    prepare(path);
    return path;
  };
  const wholeMs = await timeOpen(copy('whole'), args);
  let killed = 0;
  // A run that ends before it is killed shows nothing, and does not count.
  for (let n = 0; killed < kills && n < 3 * kills; n++) {
    const path = copy(`${n}`);
    const isKilled = await kill(path, args, chance.fraction() * wholeMs);
    if (isKilled) killed++;
    const what = isKilled ? await look(path) : 'ended';
    left.set(what, (left.get(what) ?? 0) + 1);
  }
  console.log(`${args.join(' ')}, killed within ${Math.round(wholeMs)} ms:`, Object.fromEntries(left));
  return left;
}

describe('killed at any moment', { timeout: 900_000 }, () => {
  test('a rebuild leaves a mirror that is refused as before, or one that is sound; the next one succeeds', async () => {
    const altered = "UPDATE document_exports SET source_document_title = 'other' WHERE id % 3 = 0";
    const left = await killEach(
      new Random(seed),
      ['sync', '--rebuild', '--page-size', '1000', '--max-removals', '100%'],
      path => expect(tamper(path, altered)).toBe(true),
      async path => {
        const titles = sqlite(
          path,
          "SELECT count(*) AS n FROM document_exports WHERE source_document_title = 'other'",
        );
        const isRebuilt = receipts(path).some(({ kind }) => kind === 'rebuild');
        const target = { service: base.service, database: path };
        if (isRebuilt) {
          expect(titles).toEqual([{ n: 0 }]);
          expect(await differencesIn(path)).toEqual([]);
        } else {
          expect(titles).toEqual([{ n: 999 }]);
          await expect(syncScene(target)).rejects.toMatchObject({ code: 'mirror_altered' });
        }
        expect(await syncScene(target, { mayRebuild: true, pageSize: 1_000 })).toMatchObject({ code: 0 });
        expectExactMirror(path, base.service);
        expect(await differencesIn(path)).toEqual([]);
        expect(await syncScene(target, { pageSize: 1_000 })).toMatchObject({ code: 0 });
        return isRebuilt ? 'rebuilt' : 'refused';
      },
    );
    expect((left.get('rebuilt') ?? 0) + (left.get('refused') ?? 0)).toBe(kills);
  });

  test('an erasure is made with its receipt or not at all, and the next run leaves the text nowhere', async () => {
    const left = await killEach(
      new Random(seed + 1),
      ['erase', 'document-exports', '5'],
      () => undefined,
      async path => {
        const [row] = sqlite(
          path,
          'SELECT count(record) AS texts, count(*) AS versions FROM record_history WHERE record_id = 5',
        );
        const isErased = receipts(path).some(({ kind }) => kind === 'erase');
        expect(row).toEqual({ texts: isErased ? 0 : 1, versions: 1 });
        expect(await differencesIn(path)).toEqual([]);
        const files = [path, `${path}-wal`, `${path}.lock`];
        const withText = () =>
          files.filter(each => existsSync(each) && textsIn(each, [`${secret} 4`]).length > 0);
        if (isErased) {
          const target = { service: base.service, database: path };
          expect(await syncScene(target, { pageSize: 1_000 })).toMatchObject({ code: 0 });
          expect(withText()).toEqual([]);
        }
        const again = erase(path, {
          resource: 'document-exports',
          recordId: 5,
          actor: 'test',
          at: new Date().toISOString(),
        });
        expect(again.versions).toBe(isErased ? 0 : 1);
        expect(withText()).toEqual([]);
        expect(receipts(path).filter(({ kind }) => kind === 'erase')).toHaveLength(1);
        expect(await differencesIn(path)).toEqual([]);
        return isErased ? 'erased' : 'not erased';
      },
    );
    expect((left.get('erased') ?? 0) + (left.get('not erased') ?? 0)).toBe(kills);
  });
});
