import { expect, test } from 'vitest';
import { beforeEachAnswer } from '../support/answers.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { documentExport, type SampleItem } from '../support/stand-in.ts';

// An incremental run adds up: the rows of before and those that it adds are as many as the list has. Otherwise it becomes a full one.

const exportsOf = ({ service }: Scene) => service.lists['document-exports'] as SampleItem[];

/** A mirror of so many exports, in the order of their times or newest first. */
async function setMirror(count: number, order: 'oldest first' | 'newest first' = 'oldest first') {
  const scene = await setScene({ maxPageSize: 50 }, { exports: count, collections: 1, webhooks: 1 });
  if (order === 'newest first') exportsOf(scene).reverse();
  let next = count;
  /** Adds the newest exports. */
  const arrive = (many: number) => {
    for (let n = 0; n < many; n++) {
      const item = documentExport(++next);
      if (order === 'newest first') exportsOf(scene).unshift(item);
      else exportsOf(scene).push(item);
    }
  };
  const sync = async () => {
    const synced = await scene.sync('--resource', 'document-exports');
    const outcome = synced.of('document-exports');
    expect({ code: synced.code, ...outcome }).toMatchObject({ code: 0, status: 'completed', removed: 0 });
    scene.service.onRequest = undefined;
    return outcome;
  };
  expect(await sync()).toMatchObject({ mode: 'full', inserted: count });
  expect(await sync()).toMatchObject({ mode: 'incremental', inserted: 0 });
  return { scene, arrive, sync, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

/** Inserts an export with a time between those of its neighbours. */
function commitLate(scene: Scene, at: number, n: number): void {
  const before = exportsOf(scene)[at - 1] as SampleItem;
  const exportedAt = new Date(Date.parse(`${before.exportedAt}`) + 1_000).toISOString();
  exportsOf(scene).splice(at, 0, documentExport(n, { exportedAt }));
}

// At these lengths the newest export that is known is on the last page but one.
test.each([599, 600, 601])(
  'three exports that were committed late are not hidden by three that arrive while the list is read: %d exports',
  async count => {
    await using mirror = await setMirror(count);
    const { scene, arrive, sync } = mirror;
    for (const n of [1, 2, 3]) commitLate(scene, 100 * n, 10_000 + n);
    beforeEachAnswer(scene.service, 'document-exports', ({ n }) => {
      if (n === 2) arrive(3);
    });
    expect(await sync()).toMatchObject({ inserted: 6 });
    expectExactMirror(scene.database, scene.service, ['document-exports']);
    expect(await sync()).toMatchObject({ mode: 'incremental', inserted: 0 });
    arrive(4);
    expect(await sync()).toMatchObject({ mode: 'incremental', inserted: 4 });
    expectExactMirror(scene.database, scene.service, ['document-exports']);
  },
);

test.each(['oldest first', 'newest first'] as const)(
  'a busy hour stays incremental, also if exports arrive while the list is read: %s',
  async order => {
    await using mirror = await setMirror(600, order);
    const { scene, arrive, sync } = mirror;
    for (const come of [1, 20, 70, 130]) {
      arrive(come);
      beforeEachAnswer(scene.service, 'document-exports', ({ n }) => {
        if (n > 1) arrive(1);
      });
      const outcome = await sync();
      expect({ come, ...outcome }).toMatchObject({ mode: 'incremental', completeness: 'incremental' });
      expect(outcome.requests).toBeLessThanOrEqual(2 + Math.ceil(come / 40));
    }
    expect(await sync()).toMatchObject({ mode: 'incremental' });
    expectExactMirror(scene.database, scene.service, ['document-exports']);
  },
);
