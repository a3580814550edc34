import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodeOf } from '../../src/sync/run.ts';
import { memoryFolder, run, stored } from '../support/in-process.ts';
import { type Kind, NightlyList } from '../support/nightly-list.ts';

/** The most requests, as multiples of one reading: if nothing was removed, and if something was. */
type Most = readonly [number, number];
const byKey: Most = [1.3, 1.7];
const byAgreement: Most = [2.4, 2.5];
const batches: Most = [2.9, 2.9];
/** A list on one page is shown twice, and once more before a record goes. */
const onOnePage: Most = [2, 3];

const kinds: Record<string, [Kind, Most]> = {
  'by time': [{}, byKey],
  'newest first': [{ order: 'newest first' }, byKey],
  'almost by time': [{ late: 3 }, [1.3, 1.8]],
  'pages of 20': [{ size: 20, count: 600 }, [1.6, 2]],
  'by title': [{ order: 'title' }, byAgreement],
  'by last change': [{ order: 'last change' }, byAgreement],
  'in a stable order that nobody sees': [{ order: 'unseen' }, byAgreement],
  'in no visible order, one arrives': [{ order: 'unseen', arrives: true }, [3.4, 3.4]],
  'with one page size': [{ size: 50, sizes: 'ignored' }, byAgreement],
  'with one page size, others refused': [{ size: 50, sizes: 'refused' }, byAgreement],
  'with one page size, by title': [{ size: 50, sizes: 'ignored', order: 'title' }, byAgreement],
  'batches of 60': [{ batch: 60 }, batches],
  'batches of 60, one arrives': [{ batch: 60, arrives: true }, batches],
  'batches of 45, pages of 50': [{ batch: 45, size: 50 }, batches],
  'batches of 60, pages of 50': [{ batch: 60, size: 50 }, batches],
  'batches of 30, pages of 50': [{ batch: 30, size: 50 }, batches],
  'one arrives': [{ arrives: true }, byKey],
  '404 beyond the end': [{ beyond: '404' }, byKey],
  'the last page again beyond the end': [{ beyond: 'last page' }, byKey],
  'collections by name': [{ list: 'collections', order: 'title', count: 60 }, onOnePage],
};

test.each(Object.entries(kinds))(
  'an honest list ends each of eight nights with 0: %s',
  async (_name, [kind, most]) => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    const source = new NightlyList(kind);
    const worst: [number, number] = [0, 0];
    for (let night = 0; night < 8; night++) {
      const gone = night % 2 === 1 ? 3 : 0;
      source.change(15, 4, gone);
      source.beginRun();
      const summary = await run(path, source, {
        resources: [kind.list ?? 'document-exports'],
        maxRemovals: 0.5,
      });
      const [outcome] = summary.resources;
      const why = `night ${night}: ${outcome?.reason}`;
      expect(exitCodeOf(summary, new AbortController().signal), why).toBe(0);
      expect(outcome?.completeness, why).toBe('proven');
      const rows = new Set(stored(path, kind.list));
      expect(
        [...source.throughout].filter(label => !rows.has(label)),
        why,
      ).toEqual([]);
      expect(
        [...rows].filter(label => !source.listed.has(label)),
        why,
      ).toEqual([]);
      // The first run finds out the order of the list.
      const at = gone > 0 ? 1 : 0;
      if (night > 0) worst[at] = Math.max(worst[at], source.traffic.requests / source.pages);
    }
    expect(worst[0]).toBeLessThanOrEqual(most[0]);
    expect(worst[1]).toBeLessThanOrEqual(most[1]);
  },
);
