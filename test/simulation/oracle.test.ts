import { expect, test } from 'vitest';
import { judgeForms } from './forms-oracle.ts';
import { generate } from './generate.ts';
import { counted, eachList, type MirrorState } from './mirror-rows.ts';
import { judgeHealed, judgeHistory, judgeRun } from './oracle.ts';
import { contentOf, type Entry } from './records.ts';
import { lineOfRegression, parseRegression } from './regressions.ts';
import type { ListReport, RunReport } from './run-real.ts';
import { plainList, plainRun, plainService, type Scenario } from './scenario.ts';
import { shrink } from './shrink.ts';
import { Totals } from './totals.ts';
import { World } from './world.ts';

const name = 'document-exports';
const scenario: Scenario = {
  connections: 6,
  synced: [name],
  service: plainService,
  lists: { [name]: { ...plainList, size: 3 }, collections: plainList, webhooks: plainList },
  runs: [plainRun],
};

const proven: ListReport = {
  resource: name,
  status: 'completed',
  completeness: 'proven',
  inserted: 0,
  updated: 0,
  removed: 0,
  rejected: 0,
  removalsWithheld: 0,
  undecided: 0,
  requests: 1,
  reason: null,
  error: null,
};

const unproven: ListReport = { ...proven, completeness: 'unproven', status: 'partial', reason: 'it moved' };

/** A world of three records, its contents, and the verdict on a run for mirrors with some of them. */
function setUp() {
  const world = new World(scenario);
  world.beginRun();
  const contents = world.lists[name].entries.map(entry => contentOf(name, entry) ?? '');
  const holding = (texts: readonly string[], words = proven): MirrorState => ({
    lists: { ...eachList(() => counted([])), [name]: counted(texts) },
    forms: eachList(() => new Map()),
    versions: eachList(() => 0),
    connections: world.connectionNames(),
    runId: 1,
    removals: eachList(() => ({ gone: 0, settledCount: 0 })),
    words: [words],
  });
  const reporting = (words = proven, exitCode = 0): RunReport => ({
    exitCode,
    status: words.status,
    lists: [words],
    error: null,
    wasRefused: false,
  });
  const kinds = (before: readonly string[], after: readonly string[], words = proven, exitCode = 0) =>
    judgeRun({
      run: 1,
      world,
      before: holding(before),
      after: holding(after, words),
      report: reporting(words, exitCode),
      shown: { ...eachList(() => new Set<Entry>()), [name]: new Set(world.lists[name].entries) },
      isDirect: true,
      isGuarded: false,
      isMeddled: false,
      isMeddledAmid: false,
      isPure: false,
    }).map(({ kind }) => kind);
  return { world, contents, holding, reporting, kinds };
}

test('a mirror of what is listed breaks no promise; one that lost, invented or kept a record breaks one', () => {
  const { contents, kinds } = setUp();
  const [first = '', ...others] = contents;
  const incremental = { ...proven, completeness: 'incremental' };
  expect(kinds(contents, contents)).toEqual([]);
  expect(kinds(contents, others, { ...proven, removed: 1 })).toContain('removed-wrongly');
  expect(kinds(contents, others, { ...unproven, removed: 1 }, 3)).toContain('removed-wrongly');
  // Once as a record, and once as what it says.
  expect(kinds(others, others)).toEqual(['lost', 'lost', 'unstored']);
  expect(kinds(others, others, incremental)).toEqual(['unstored']);
  expect(kinds([], contents, { ...unproven, inserted: 3 }, 3)).toEqual([]);
  expect(kinds([], others, { ...unproven, inserted: 2 }, 3)).toEqual(['unstored']);
  expect(kinds(contents, [...contents, 'unheard of'], { ...proven, inserted: 1 })).toContain('invented');
  expect(kinds(contents, [...contents, first], { ...proven, inserted: 1 })).toEqual(['invented', 'invented']);
});

test('a record that was absent at one instant can go, and one that was gone before must, if the list is proven', () => {
  const { world, contents, kinds } = setUp();
  world.change({ list: name, kind: 'remove', at: 0, to: 0 });
  expect(kinds(contents, contents)).toEqual([]);
  world.change({ list: name, kind: 'return', at: 0, to: 0 });
  expect(kinds(contents, contents.slice(1), { ...proven, removed: 1 })).toEqual([]);
  world.change({ list: name, kind: 'remove', at: 0, to: 0 });
  world.beginRun();
  expect(kinds(contents, contents)).toEqual(['kept']);
  expect(kinds(contents, contents, unproven, 3)).toEqual([]);
});

test('an edit ends no record and makes no second one, also if it is taken back', () => {
  const { world, contents, kinds } = setUp();
  const [first = '', ...others] = contents;
  world.change({ list: name, kind: 'update', at: 0, to: 0 });
  const edited = contentOf(name, world.lists[name].entries[0] as Entry) ?? '';
  world.change({ list: name, kind: 'revert', at: 0, to: 0 });
  expect(kinds(contents, contents)).toEqual([]);
  expect(kinds(contents, [edited, ...others])).toEqual([]);
  expect(kinds(contents, [first, edited, ...others], { ...proven, inserted: 1 })).toEqual(['invented']);
  expect(kinds(contents, [first, edited, ...others], { ...unproven, inserted: 1 }, 3)).toEqual([]);
  expect(kinds(contents, others, { ...proven, removed: 1 })).toEqual(['removed-wrongly']);
  expect(kinds(others, others)).toEqual(['lost']);
});

test('words that do not fit each other, the record or the mirror are dishonest', () => {
  const { contents, kinds } = setUp();
  const told = (words: Partial<ListReport>, exitCode: number) =>
    kinds(contents, contents, { ...proven, ...words }, exitCode);
  expect(told({ completeness: 'unproven' }, 0)).toContain('dishonest');
  expect(told({ completeness: 'unproven', status: 'partial' }, 3)).toEqual(['dishonest']);
  expect(told({ completeness: 'unproven', status: 'partial', reason: 'it moved' }, 3)).toEqual([]);
  expect(told({ status: 'partial' }, 3)).toEqual(['dishonest']);
  expect(told({ status: 'partial', rejected: 1 }, 3)).toEqual([]);
  expect(told({ undecided: 1 }, 0)).toEqual(['dishonest']);
  expect(told({ inserted: 1 }, 0)).toEqual(['dishonest']);
  expect(told({}, 3)).toEqual(['dishonest']);
  const failed = { completeness: null, status: 'failed' };
  expect(kinds([], contents, { ...proven, ...failed, inserted: 3 }, 1)).toEqual(['dishonest']);
});

test('a wound that stays, a name that is wrong and a claim that is missing are not healed', () => {
  const { world, contents, holding, reporting } = setUp();
  const left = (after: MirrorState, words = proven) =>
    judgeHealed(
      {
        run: 1,
        world,
        before: after,
        after,
        report: reporting(words),
        shown: eachList(() => new Set<Entry>()),
        isDirect: true,
        isGuarded: false,
        isMeddled: false,
        isMeddledAmid: false,
        isPure: false,
      },
      [name],
    ).length;
  expect(left(holding(contents))).toBe(0);
  expect(left(holding(contents.slice(1)))).toBe(1);
  expect(left({ ...holding(contents), connections: new Map([[1, 'another']]) })).toBe(1);
  expect(left(holding(contents), { ...proven, status: 'partial', completeness: 'unproven' })).toBe(1);
});

test('an order or a zone that is another one is no change: an update, a version or another form of a row is wrong', () => {
  const { world, contents, holding } = setUp();
  const list = world.lists[name];
  const was = {
    ...holding(contents),
    forms: { ...eachList(() => new Map()), [name]: new Map([[contents[0] ?? '', 'Z']]) },
  };
  const judged = (after: Partial<MirrorState>, updated = 0) =>
    judgeForms(list, was, { ...was, runId: 2, ...after }, { ...proven, updated }).map(({ what }) => what);
  expect(judged({})).toEqual([]);
  expect(judged({}, 1)).toEqual(['1 updates, of 0 rows whose content changed']);
  expect(judged({ versions: { ...was.versions, [name]: 1 } })).toHaveLength(1);
  expect(judged({ forms: eachList(() => new Map([[contents[0] ?? '', '+01:00']])) })).toHaveLength(1);
  world.change({ list: name, kind: 'update', at: 0, to: 0 });
  const edited = [contentOf(name, list.entries[0] as Entry) ?? '', ...contents.slice(1)];
  const versions = { ...was.versions, [name]: 1 };
  expect(judged({ lists: holding(edited).lists, versions }, 1)).toEqual([]);
});

test('rows of a list that is being filled again may go only if a total falls, or if they are few', () => {
  const judged = (totals: readonly number[], gone: number) => {
    const heard = new Totals();
    for (const total of totals) heard.note({ list: name, pageNo: 1, pageSize: 10 })(total);
    return heard.judgeFilled(name, gone).length;
  };
  expect(judged([40, 41, 42], 50)).toBe(1);
  expect(judged([40, 41, 42], 9)).toBe(0);
  expect(judged([40, 41, 40], 50)).toBe(0);
  expect(judged([40, 40], 50)).toBe(0);
  expect(judged([400, 401], 12)).toBe(0);
});

test('a history that says something else than the mirror did is found', () => {
  const { contents, holding } = setUp();
  const stood = new Map([[1, holding(contents).lists]]);
  expect(judgeHistory(stood, () => holding(contents).lists, 1)).toEqual([]);
  expect(judgeHistory(stood, () => holding(contents.slice(1)).lists, 1)).toMatchObject([
    { kind: 'history', list: name },
  ]);
});

test('a found scenario is made as small as it goes, and no smaller than the same finding', async () => {
  const fails = async ({ runs, lists, synced }: Scenario) =>
    synced.includes(name) && runs.length >= 2 && lists[name].size >= 7;
  let seed = 1;
  while (!(await fails(generate(seed)))) seed++;
  const { runs, lists, service } = await shrink(generate(seed), fails, 2_000);
  expect([runs.length, lists[name].size]).toEqual([2, 7]);
  expect(service).toMatchObject({ ...plainService, maxSize: 2, defaultSize: 2 });
});

test('a case is written without what is plain in it', () => {
  const written = { name: 'some-case', about: 'something', kind: 'lost' as const, scenario };
  const line = lineOfRegression(written);
  expect(line.length).toBeLessThan(JSON.stringify(written).length / 3);
  expect(parseRegression(line)).toEqual(written);
});
