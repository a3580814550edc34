import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { memoryFolder, stored, sync, syncScene } from '../support/in-process.ts';
import { labelOf, type Move, MovingList, type Script } from '../support/moving-list.ts';
import { expectExactMirror, expectSound, listed, mirrored } from '../support/oracle.ts';
import { sqlite } from '../support/run-cli.ts';
import { make, type Scene, setScene } from '../support/scene.ts';
import { collection, documentExport, type StandIn, type StandInOptions } from '../support/stand-in.ts';

const pageSize = 5;
const pageCount = 5;
const count = pageSize * pageCount - 2;

type Place = 'front' | 'amid' | 'end';
const places: readonly Place[] = ['front', 'amid', 'end'];

/** The position of a change in the list. An insertion can also be behind the last record. */
function positionOf(place: Place, isInsertion: boolean): number {
  if (place === 'front') return 0;
  if (place === 'end') return isInsertion ? count : count - 1;
  return 2 * pageSize + 2;
}

const insertion = (place: Place): Move => ({ kind: 'insert', at: positionOf(place, true) });
const deletion = (place: Place): Move => ({ kind: 'delete', at: positionOf(place, false) });
const times = (n: number, move: Move): Move[] => Array.from({ length: n }, () => move);

/** The changes that can happen between two requests. */
const events: [name: string, moves: readonly Move[]][] = [
  ...places.flatMap((place): [string, Move[]][] => [
    [`one record is deleted (${place})`, [deletion(place)]],
    [`one record is inserted (${place})`, [insertion(place)]],
    [`a whole page is deleted (${place})`, times(pageSize, deletion(place))],
    [`a whole page is inserted (${place})`, times(pageSize, insertion(place))],
  ]),
  ...places.flatMap(from =>
    places.map((to): [string, Move[]] => [
      `one record is deleted (${from}) and one inserted (${to})`,
      [deletion(from), insertion(to)],
    ]),
  ),
  [
    'a whole page is deleted (front) and one inserted (end)',
    [...times(pageSize, deletion('front')), ...times(pageSize, insertion('end'))],
  ],
  [
    'a whole page is deleted (end) and one inserted (front)',
    [...times(pageSize, deletion('end')), ...times(pageSize, insertion('front'))],
  ],
  ['a record is updated and moves to the front', [{ kind: 'move', at: count - 3, to: 0 }]],
  ['a record moves to the end', [{ kind: 'move', at: 1, to: count - 1 }]],
];

/** The moves fall before the nth request of a run, counted from 1. */
function atRequest(request: number, moves: readonly Move[]): Script {
  return [...quietRequests(request - 1), moves];
}

function quietRequests(n: number): Move[][] {
  return Array.from({ length: n }, () => []);
}

/** After each page of a walk, and in the gap between the first walk and the second. */
const boundaries = Array.from({ length: pageCount + 1 }, (_, at) => at + 2);

/** Runs a script over a copy of a mirror, and then twice in peace: if nobody sees the order, a removal takes two runs. */
async function play(path: string, concurrency: number, script: Script) {
  const source = new MovingList(count, pageSize, concurrency, true);
  source.play(script);
  const outcome = await sync(path, source);
  const after = stored(path);
  const instants = source.instants.map(entries => entries.map(labelOf));
  source.play([]);
  const first = await sync(path, source);
  source.play([]);
  const quiet = first.status === 'completed' ? first : await sync(path, source);
  return { outcome, after, instants, quiet, last: stored(path), truth: source.entries.map(labelOf).sort() };
}

/**
 * Checks what is true of any run, whatever happened in it.
 *
 * @param moved records that changed their places while they were read: they can be in neither.
 */
function expectRight(
  known: readonly string[],
  moved: readonly string[],
  played: Awaited<ReturnType<typeof play>>,
): void {
  const { outcome, after, instants, quiet, last, truth } = played;
  const isAlways = (label: string) => instants.every(instant => instant.includes(label));
  expect(after, 'a known record that was listed throughout was removed').toEqual(
    expect.arrayContaining(known.filter(isAlways)),
  );
  expect(new Set(after).size, 'a record is stored twice').toBe(after.length);
  if (outcome.completeness === 'proven') {
    const always = (instants[0] ?? []).filter(label => isAlways(label) && !moved.includes(label));
    expect(after, 'proven, but a record is missing').toEqual(expect.arrayContaining(always));
    const never = after.filter(label => !instants.flat().includes(label));
    expect(never, 'proven, but a record was never listed').toEqual([]);
  }
  expect(['completed', 'partial']).toContain(outcome.status);
  expect(quiet).toMatchObject({ status: 'completed', removalsWithheld: 0 });
  expect(last, 'the next quiet runs are not exact').toEqual(truth);
}

/** The records that moves have put to another place of a list that was still before. */
function movedBy(moves: readonly Move[]): string[] {
  return moves.flatMap(move => (move.kind === 'move' ? [`R${move.at} title 0`] : []));
}

describe.each(events)('while a run walks, %s:', (_event, moves) => {
  test('over a mirror, whatever page it falls behind, no known record that is listed is removed', async () => {
    await using folder = memoryFolder();
    const template = join(folder.path, 'template.sqlite');
    const quiet = new MovingList(count, pageSize, 1, true);
    quiet.play([]);
    await sync(template, quiet);
    for (const boundary of boundaries) {
      const path = join(folder.path, `${boundary}.sqlite`);
      copyFileSync(template, path);
      expectRight(stored(template), movedBy(moves), await play(path, 1, atRequest(boundary, moves)));
    }
  });

  test('on a first sync, with pages in flight, nothing false is proven and the next quiet run is exact', async () => {
    await using folder = memoryFolder();
    for (const boundary of boundaries) {
      const path = join(folder.path, `${boundary}.sqlite`);
      expectRight([], movedBy(moves), await play(path, 1 + (boundary % 3), atRequest(boundary, moves)));
    }
  });
});

describe('a deletion and an insertion in separate gaps', () => {
  test('at any two page boundaries, a known record that is listed is never removed', async () => {
    await using folder = memoryFolder();
    const template = join(folder.path, 'template.sqlite');
    const quiet = new MovingList(count, pageSize, 1, true);
    quiet.play([]);
    await sync(template, quiet);
    for (const first of boundaries) {
      for (const second of boundaries.filter(boundary => boundary > first)) {
        const script: Script = [
          ...quietRequests(first - 1),
          [deletion('front')],
          ...quietRequests(second - first - 1),
          [insertion('end')],
        ];
        const path = join(folder.path, `${first}-${second}.sqlite`);
        copyFileSync(template, path);
        expectRight(stored(template), [], await play(path, 1, script));
      }
    }
  });
});

const resource = 'document-exports';

/** A scene whose mirror is exact already. */
async function setSyncedScene(
  options: Partial<StandInOptions> = {},
  sizes: Parameters<typeof setScene>[1] = {},
): Promise<Scene> {
  const scene = await setScene({ maxPageSize: 20, ...options }, sizes);
  expect(await syncScene(scene)).toMatchObject({ code: 0, status: 'completed' });
  return scene;
}

function allOf(service: StandIn): string[] {
  return listed(service.lists[resource], resource);
}

describe('if the service contradicts itself,', () => {
  test.each([1, 3, 40, -1, -3, -40])(
    'a total that is always wrong by %i never wedges the mirror: each run stores what is new and removes only what is shown to be gone',
    async totalError => {
      await using scene = await setSyncedScene();
      const { service, database } = scene;
      service.options.totalError = totalError;
      service.lists[resource].splice(30, 2);
      service.lists[resource].push(documentExport(901));
      const first = await syncScene(scene);
      expect(first).toMatchObject({ code: 3, status: 'partial' });
      expect(first.of(resource)).toMatchObject({
        status: 'partial',
        completeness: 'unproven',
        inserted: 1,
        removed: 2,
      });
      expect(mirrored(database, resource)).toEqual(allOf(service).toSorted());
      service.lists[resource].unshift(documentExport(902));
      const second = await syncScene(scene);
      expect(second.of(resource)).toMatchObject({ completeness: 'unproven', inserted: 1, removed: 0 });
      expectSound(database);
      service.options.totalError = 0;
      const honest = await syncScene(scene);
      expect(honest).toMatchObject({ code: 0, status: 'completed' });
      expect(honest.of(resource)).toMatchObject({ completeness: 'proven', removed: 0 });
      expectExactMirror(database, service);
    },
  );

  test('a total that is wrong from the first run on is unproven, and all records are stored all the same', async () => {
    await using scene = await setScene({ maxPageSize: 20, totalError: 7 });
    const first = await scene.sync();
    expect(first).toMatchObject({ code: 3, status: 'partial' });
    expect(first.of(resource)).toMatchObject({ completeness: 'unproven', inserted: 130 });
    expectExactMirror(scene.database, scene.service);
  });

  test('a list in another order at every request is unproven, and nothing known is removed', async () => {
    await using scene = await setSyncedScene();
    const known = mirrored(scene.database, resource);
    scene.service.options.order = 'shuffled-per-request';
    scene.service.lists[resource].push(...make(20, n => documentExport(900 + n)));
    const synced = await syncScene(scene);
    expect(synced).toMatchObject({ code: 3, status: 'partial' });
    expect(synced.of(resource)).toMatchObject({ completeness: 'unproven', removed: 0, updated: 0 });
    expect(mirrored(scene.database, resource)).toEqual(expect.arrayContaining(known));
    scene.service.options.order = 'stable';
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
  });

  test('a list that grows at every request is proven as it was at one of them, and nothing known is lost', async () => {
    await using scene = await setSyncedScene();
    const { service } = scene;
    const known = mirrored(scene.database, resource);
    let n = 2_000;
    service.onRequest = request => {
      if (request.resource === resource) service.lists[resource].unshift(documentExport(n++));
    };
    const synced = await syncScene(scene);
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    expect(synced.of(resource)).toMatchObject({ completeness: 'proven', removed: 0, updated: 0 });
    const held = mirrored(scene.database, resource);
    expect(held).toEqual(expect.arrayContaining(known));
    const cameLater = service.lists[resource].length - held.length;
    expect(cameLater).toBeLessThanOrEqual(synced.of(resource).requests);
    expect(held).toEqual(listed(service.lists[resource].slice(cameLater), resource));
    service.onRequest = undefined;
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, service);
  });

  const blind: [name: string, pageNo: StandInOptions['pageNo']][] = [
    ['ignored', 'ignored'],
    ['ignored, with an echo that lies,', 'ignored-lying-echo'],
    ['clamped to the third page', { clampTo: 3 }],
    ['clamped to the last page but one', { clampTo: 6 }],
  ];

  test.each(blind)(
    'a pageNo that is %s fails the list, and the mirror stays as it was',
    async (_name, pageNo) => {
      await using scene = await setSyncedScene();
      const before = mirrored(scene.database, resource);
      scene.service.options.pageNo = pageNo;
      scene.service.lists[resource].push(...make(5, n => documentExport(900 + n)));
      const synced = await syncScene(scene);
      // The other lists are on one page.
      expect(synced).toMatchObject({ code: 3 });
      expect(synced.of(resource)).toMatchObject({
        status: 'failed',
        completeness: null,
        inserted: 0,
        removed: 0,
        error: { code: 'pagination_ignored' },
      });
      expect(mirrored(scene.database, resource)).toEqual(before);
      scene.service.options.pageNo = 'honest';
      expect(await syncScene(scene)).toMatchObject({ code: 0 });
      expectExactMirror(scene.database, scene.service);
    },
  );

  test.each(blind)('a pageNo that is %s is found out on a first sync, too', async (_name, pageNo) => {
    await using scene = await setScene({ maxPageSize: 20, pageNo });
    const synced = await syncScene(scene);
    expect(synced.of(resource)).toMatchObject({ status: 'failed', error: { code: 'pagination_ignored' } });
    expect(mirrored(scene.database, resource)).toEqual([]);
  });

  test.each<[StandInOptions['pageNo'], 'collections' | 'document-exports', pages: number, served: number]>([
    ['ignored', 'collections', 2, 1],
    ['ignored-lying-echo', 'collections', 2, 1],
    ['ignored-lying-echo', 'document-exports', 2, 1],
    [{ clampTo: 2 }, 'collections', 3, 2],
    [{ clampTo: 3 }, 'document-exports', 5, 3],
  ])(
    'a pageNo that is %s is found out where the total is that of the pages that are served: %s',
    async (pageNo, list, pages, served) => {
      const size = 4;
      await using scene = await setScene({}, { exports: pages * size, collections: pages * size });
      const resources = [list];
      expect(await syncScene(scene, { resources })).toMatchObject({ code: 0 });
      const before = mirrored(scene.database, list);
      const lies = { pageNo, maxPageSize: size, totalError: (served - pages) * size };
      Object.assign(scene.service.options, lies);
      for (const _run of [1, 2]) {
        const synced = await syncScene(scene, { resources });
        expect(synced.of(list)).toMatchObject({ inserted: 0, removed: 0 });
        expect(['failed', 'partial']).toContain(synced.of(list).status);
        expect(mirrored(scene.database, list)).toEqual(before);
      }
    },
  );

  test('is not taken for a list of one page if the last record of that page has a twin on a smaller page, too', async () => {
    await using scene = await setScene({ pageNo: 'ignored-lying-echo', maxPageSize: 4, totalError: -4 });
    const [twin, ...others] = make(7, n => documentExport(n + 1));
    if (twin === undefined) throw new Error('no export');
    scene.service.lists['document-exports'] = [...others.slice(0, 1), twin, ...others.slice(1, 2), twin];
    scene.service.lists['document-exports'].push(...others.slice(2));
    const resources = ['document-exports'] as const;
    const synced = await syncScene(scene, { resources });
    expect(['failed', 'partial']).toContain(synced.of('document-exports').status);
  });

  test.each([2, 4])(
    'is not what a short list is taken for whose last page comes again, and from which a record goes at request %i',
    async at => {
      await using scene = await setScene({ maxPageSize: 50, beyond: 'last' }, { exports: 3 });
      const { service } = scene;
      let requests = 0;
      service.onRequest = () => {
        if (++requests === at) service.lists['document-exports'].pop();
      };
      const synced = await syncScene(scene, { resources: ['document-exports'] });
      expect(synced.of('document-exports')).toMatchObject({ completeness: 'proven' });
      expectExactMirror(scene.database, service, ['document-exports']);
    },
  );

  test('is not what a list is taken for whose total is that of the page: it is stored, and unproven', async () => {
    await using scene = await setScene({}, { exports: 95 });
    const { service } = scene;
    let size = 10;
    service.onRequest = ({ pageSize }) => {
      size = Math.min(10, pageSize ?? 10);
    };
    service.options.rawBody = (asked, pageNo) => {
      const items = service.lists[asked].slice(size * (pageNo - 1), size * pageNo);
      const pagination = { pageCount: 1, pageNo, pageSize: size, totalRecordCount: items.length };
      return JSON.stringify({ items, pagination });
    };
    const synced = await syncScene(scene, { resources: ['document-exports'] });
    expect(synced.of('document-exports')).toMatchObject({ completeness: 'unproven', inserted: 95 });
  });

  test('is found out soon if the records have ids, whatever its total', async () => {
    const lies = { pageNo: 'ignored-lying-echo', totalError: 1_000_000 } as const;
    await using scene = await setScene({ maxPageSize: 4, ...lies }, { exports: 0, collections: 40 });
    const synced = await syncScene(scene, { resources: ['collections'] });
    expect(synced.of('collections')).toMatchObject({ error: { code: 'pagination_ignored' } });
    expect(synced.of('collections')?.requests).toBeLessThan(150);
  });
});

test.each<[sizes: number[], place: number, completeness: string]>([
  [[10, 25, 50, 100], 25, 'proven'],
  // If a size is refused, no other one is tried.
  [[10, 25, 50, 100], 50, 'unproven'],
  [[25, 50, 100], 50, 'unproven'],
  // All of these cut the list after its hundredth record.
  [[25, 50, 100], 100, 'unproven'],
  [[10, 25, 50, 100], 100, 'unproven'],
])('if %j are the page sizes, a record that is twice around place %i is %s', async (...shown) => {
  const [sizes, place, completeness] = shown;
  await using scene = await setScene({}, { exports: 120 });
  const exports = scene.service.lists[resource];
  exports[place] = exports[place - 1] as (typeof exports)[number];
  scene.service.options.faults = ({ pageSize }) =>
    pageSize === null || sizes.includes(pageSize) ? undefined : { kind: 'status', status: 400 };
  const synced = await syncScene(scene, { resources: [resource] });
  expect(synced.of(resource)).toMatchObject({ completeness });
});

test.each([
  [2, 'last'],
  [30, 'last'],
  [2, 'last-echoed'],
  [30, 'last-echoed'],
] as const)(
  'a total that is %i too high is no ignored pageNo where the last page, not full, comes again (%s)',
  async (totalError, beyond) => {
    await using scene = await setScene(
      { totalError, beyond, maxPageSize: 10 },
      { exports: 19, collections: 19 },
    );
    const synced = await syncScene(scene);
    for (const list of ['document-exports', 'collections'] as const)
      expect(synced.of(list)).toMatchObject({ completeness: 'unproven', inserted: 19, error: null });
  },
);

test('records of a page that came again are seen once', async () => {
  await using scene = await setScene({ totalError: 3, beyond: 'last' }, { exports: 41 });
  const synced = await syncScene(scene, { resources: [resource] });
  expect(synced.of(resource)).toMatchObject({ completeness: 'unproven', recordsSeen: 41, inserted: 41 });
});

test('a list whose pageCount shows more than the total is not read at its ends only', async () => {
  await using scene = await setScene({ maxPageSize: 10 }, { exports: 130 });
  const resources = ['document-exports'] as const;
  expect((await syncScene(scene, { resources })).of(resource)).toMatchObject({ completeness: 'proven' });
  scene.service.lists[resource].push(documentExport(900));
  scene.service.options.totalError = -1;
  const synced = await syncScene(scene, { resources, fullEveryMs: 3_600_000 });
  expect(synced.of(resource)).toMatchObject({ completeness: 'unproven', inserted: 1 });
});

describe('a service of one page size that heeds no pageNo, whatever number it echoes,', () => {
  test.each([
    ['collections', 1, 'failed'],
    ['document-exports', 1, 'failed'],
    // As ids of a list that moves come again, too.
    ['collections', 2, 'partial'],
  ] as const)('is found out: %s, from page %i on', async (list, last, status) => {
    await using scene = await setScene({}, { exports: 230, collections: 230 });
    const { lists } = scene.service;
    scene.service.options.rawBody = (asked, pageNo) => {
      if (asked !== list) return undefined;
      const from = 50 * (Math.min(pageNo, last) - 1);
      const pagination = { pageCount: 5, pageNo, pageSize: 50, totalRecordCount: 230 };
      return JSON.stringify({ items: lists[list].slice(from, from + 50), pagination });
    };
    const synced = await syncScene(scene);
    const code = 'pagination_ignored';
    expect(synced.of(list)).toMatchObject({ status, error: status === 'failed' ? { code } : null });
    expect(mirrored(scene.database, list)).toHaveLength(status === 'failed' ? 0 : 100);
  });

  test.each([
    [50, 2, 'proven'],
    [50, 1, 'proven'],
    [49, 2, 'proven'],
    [1, 2, 'proven'],
  ])('can have a list of one page: %i records of 50, pageCount %i, are %s', async (...list) => {
    const [count, pageCount, completeness] = list;
    await using scene = await setScene({}, { collections: count });
    scene.service.options.rawBody = asked => {
      if (asked !== 'collections') return undefined;
      const pagination = { pageCount, pageNo: 1, pageSize: 50, totalRecordCount: count };
      return JSON.stringify({ items: scene.service.lists.collections, pagination });
    };
    for (const _run of [1, 2]) {
      const synced = await syncScene(scene, { resources: ['collections'] });
      expect(synced.of('collections')).toMatchObject({ completeness, removed: 0 });
      expect(mirrored(scene.database, 'collections')).toHaveLength(count);
    }
  });

  test.each([15, 20, 21, 40])(
    'can echo any size, and send its last page again: %i records of 20',
    async count => {
      await using scene = await setScene({}, { exports: count });
      scene.service.options.rawBody = (asked, pageNo, pageSize) => {
        if (asked !== 'document-exports') return undefined;
        const pageCount = Math.ceil(count / 20);
        const shownNo = Math.min(pageNo, pageCount);
        const items = scene.service.lists['document-exports'].slice(20 * (shownNo - 1), 20 * shownNo);
        const pagination = { pageCount, pageNo: shownNo, pageSize, totalRecordCount: count };
        return JSON.stringify({ items, pagination });
      };
      for (const _run of [1, 2]) {
        const synced = await syncScene(scene, { resources: ['document-exports'] });
        expect(synced.of('document-exports')).toMatchObject({ completeness: 'proven', recordsSeen: count });
      }
    },
  );

  test('is not taken for one whose records are all alike', async () => {
    await using scene = await setScene({}, { exports: 0 });
    scene.service.lists['document-exports'] = make(150, () => documentExport(1));
    scene.service.options.rawBody = (asked, pageNo) => {
      if (asked !== 'document-exports') return undefined;
      const items = scene.service.lists['document-exports'].slice(50 * (pageNo - 1), 50 * pageNo);
      return JSON.stringify({
        items,
        pagination: { pageCount: 3, pageNo, pageSize: 50, totalRecordCount: 150 },
      });
    };
    expect((await syncScene(scene)).of('document-exports')).toMatchObject({
      status: 'partial',
      completeness: 'unproven',
      error: null,
    });
    expect(mirrored(scene.database, 'document-exports')).toHaveLength(50);
  });
});

/** A service that has suddenly nothing to say. */
const silences: [name: string, change: (service: StandIn) => void][] = [
  ['lists nothing', service => service.lists[resource].splice(0)],
  [
    'answers with a page of HTML',
    ({ options }) => {
      options.faults = request => (request.resource === resource ? { kind: 'html' } : undefined);
    },
  ],
  [
    'answers with 500 only',
    ({ options }) => {
      options.status = { 'document-exports': 500 };
    },
  ],
  [
    'answers with 404 only',
    ({ options }) => {
      options.status = { 'document-exports': 404 };
    },
  ],
  [
    'says null for its items',
    ({ options }) => {
      options.rawBody = name => (name === resource ? '{"items":null,"pagination":null}' : undefined);
    },
  ],
];

describe('a removal of many records', () => {
  test.each(silences)('is withheld if the service suddenly %s', async (_name, change) => {
    await using scene = await setSyncedScene();
    const before = mirrored(scene.database, resource);
    change(scene.service);
    const synced = await syncScene(scene, { giveUpAfterMs: 100 });
    expect(synced.code).toBe(3);
    expect(synced.of(resource)).toMatchObject({ removed: 0 });
    expect(synced.of(resource).status).not.toBe('completed');
    expect(mirrored(scene.database, resource)).toEqual(before);
  });

  test('is withheld if all lists are suddenly empty, and the exit code is not 0', async () => {
    await using scene = await setSyncedScene({}, { collections: 30, webhooks: 30 });
    const { lists } = scene.service;
    for (const name of Object.keys(lists) as (keyof typeof lists)[]) lists[name] = [];
    const synced = await syncScene(scene);
    expect(synced).toMatchObject({ code: 3, status: 'partial' });
    expect(mirrored(scene.database, resource)).toHaveLength(130);
    expect(mirrored(scene.database, 'webhooks')).toHaveLength(30);
  });

  test('is withheld beyond the share that is set, says how to allow it, and is made when it is allowed', async () => {
    await using scene = await setSyncedScene();
    scene.service.lists[resource].splice(0, 66);
    scene.service.lists.collections.push(collection(77));
    const withheld = await scene.run('sync');
    expect(withheld.code).toBe(3);
    expect(withheld.stdout).toContain('66 records were not seen, but their removal was withheld');
    expect(withheld.stdout).toContain('docmirror sync --resource document-exports --allow-mass-removal');
    expect(mirrored(scene.database, resource)).toHaveLength(130);
    expectExactMirror(scene.database, scene.service, ['collections', 'webhooks']);
    const again = await syncScene(scene);
    expect(again.of(resource)).toMatchObject({
      completeness: 'proven',
      removed: 0,
      removalsWithheld: 66,
      reason: 'removals were withheld because they are more than DOCMIRROR_MAX_REMOVALS allows',
    });
    const allowed = await scene.sync('--resource', resource, '--allow-mass-removal');
    expect(allowed.code).toBe(0);
    expect(allowed.of(resource)).toMatchObject({ removed: 66, removalsWithheld: 0 });
    expectExactMirror(scene.database, scene.service);
  });

  test('stays withheld if as many came in the place of what is gone, also after a run that proved nothing', async () => {
    await using scene = await setSyncedScene({}, { exports: 100 });
    scene.service.lists[resource] = make(100, n => documentExport(500 + n));
    for (let run = 0; run < 3; run++) {
      expect((await syncScene(scene)).of(resource)).toMatchObject({ removed: 0, removalsWithheld: 100 });
      scene.service.options.totalError = -1;
      expect((await syncScene(scene)).of(resource)).toMatchObject({ completeness: 'unproven', removed: 0 });
      scene.service.options.totalError = 0;
    }
    const allowed = await syncScene(scene, { allowMassRemoval: true });
    expect(allowed.of(resource)).toMatchObject({ removed: 100, removalsWithheld: 0 });
    expectExactMirror(scene.database, scene.service);
  });

  test('is made at exactly the share that is set, and withheld one record beyond', async () => {
    await using scene = await setSyncedScene();
    scene.service.lists[resource].splice(0, 65);
    expect((await syncScene(scene)).of(resource)).toMatchObject({ status: 'completed', removed: 65 });
    scene.service.lists[resource].splice(0, 33);
    expect((await syncScene(scene)).of(resource)).toMatchObject({ status: 'partial', removalsWithheld: 33 });
  });

  test('is bounded by DOCMIRROR_MAX_REMOVALS', async () => {
    await using scene = await setSyncedScene();
    scene.service.lists[resource].splice(0, 30);
    expect((await syncScene(scene, { maxRemovals: 0.1 })).of(resource)).toMatchObject({
      removalsWithheld: 30,
    });
    expect((await syncScene(scene, { maxRemovals: 1 })).of(resource)).toMatchObject({ removed: 30 });
  });

  test('is no mass if they are 20 at most, whatever their share', async () => {
    await using scene = await setSyncedScene({}, { exports: 20 });
    scene.service.lists[resource] = [];
    expect(await syncScene(scene, { maxRemovals: 0 })).toMatchObject({ code: 3, status: 'partial' });
    const synced = await syncScene(scene, { maxRemovals: 0 });
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    expect(synced.of(resource)).toMatchObject({ removed: 20, completeness: 'proven' });
    expectExactMirror(scene.database, scene.service);
  });

  test('is withheld after a rejected record that no settled run had, be they ever so few, also if masses are allowed', async () => {
    await using scene = await setSyncedScene();
    scene.service.lists[resource].splice(10, 1);
    scene.service.lists[resource].push('"no object"');
    // A record without a key hides the order of the list: so a removal takes two runs.
    const first = await syncScene(scene, { allowMassRemoval: true });
    expect(first.of(resource)).toMatchObject({ completeness: 'unproven', rejected: 1, removed: 0 });
    const text = await scene.run('sync', '--allow-mass-removal');
    expect(text.code).toBe(3);
    expect(text.stdout).toContain('its removal was withheld, because records were rejected');
    const [{ verdict } = { verdict: null }] = sqlite(
      scene.database,
      `SELECT verdict FROM sync_status WHERE resource = '${resource}'`,
    );
    expect(verdict).toBe('records rejected: 1, removals withheld: 1');
    expect((await scene.run('status')).stdout).toContain(`  ${verdict}  `);
    const status: unknown = JSON.parse((await scene.run('status', '--json')).stdout);
    expect(status).toMatchObject({
      resources: [{ verdict }, { verdict: 'complete: proven' }, { verdict: 'complete: proven' }],
    });
    // The record that can't be read was there in a run that was sure of the list: so it is not the one that is gone.
    const third = await syncScene(scene, { allowMassRemoval: true });
    expect(third.of(resource)).toMatchObject({ rejected: 1, removed: 1, removalsWithheld: 0 });
    scene.service.lists[resource].pop();
    expect((await syncScene(scene)).of(resource)).toMatchObject({ status: 'completed', removed: 0 });
    expectExactMirror(scene.database, scene.service);
  });

  test('leaves record counts and digests as they are: the next runs agree with the rows', async () => {
    await using scene = await setSyncedScene();
    const all = [...scene.service.lists[resource]];
    scene.service.lists[resource] = [];
    await syncScene(scene);
    scene.service.lists[resource] = all;
    expect((await syncScene(scene)).of(resource)).toMatchObject({
      status: 'completed',
      inserted: 0,
      updated: 0,
      removed: 0,
      unchanged: 130,
    });
    expectExactMirror(scene.database, scene.service);
  });
});

test('a twin that is still listed is not overwritten by a run that proves nothing', async () => {
  await using folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const list = new MovingList(4, 2, 1);
  list.play([]);
  await sync(path, list);
  // One of the twins is corrected at every request, the other is unchanged.
  list.play([
    [{ kind: 'twin', at: 1 }],
    ...Array.from({ length: 100 }, (): Move[] => [{ kind: 'update', at: 1 }]),
  ]);
  expect(await sync(path, list)).toMatchObject({ completeness: 'unproven' });
  expect(stored(path)).toContain('R1 title 0');
  list.play([]);
  expect(await sync(path, list)).toMatchObject({ status: 'completed' });
  expect(stored(path)).toEqual(list.entries.map(labelOf).sort());
});
