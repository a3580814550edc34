import {
  type ListName,
  type ListScenario,
  listNames,
  plainList,
  plainRun,
  plainService,
  type RunScenario,
  type Scenario,
  type ServiceScenario,
} from './scenario.ts';

/**
 * Makes a scenario smaller, one step at a time, for as long as the smaller one still fails.
 *
 * @param fails whether a scenario fails with the *same* finding; another one is another story.
 * @param triesMax the most scenarios that are tried.
 */
export async function shrink(
  scenario: Scenario,
  fails: (smaller: Scenario) => Promise<boolean>,
  triesMax: number,
): Promise<Scenario> {
  let smallest = scenario;
  let tries = 0;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const candidate of stepsFrom(smallest)) {
      if (++tries > triesMax) return smallest;
      if (!(await fails(candidate))) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

/** All scenarios that are one step smaller, the largest steps first. */
export function* stepsFrom(scenario: Scenario): Generator<Scenario> {
  const { runs, synced, lists, service } = scenario;
  for (const fewer of without(runs)) if (fewer.length > 0) yield { ...scenario, runs: fewer };
  for (const fewer of without(synced)) if (fewer.length > 0) yield { ...scenario, synced: fewer };
  const { maxSize, defaultSize } = service;
  for (const smaller of towards(service, { ...plainService, maxSize, defaultSize }))
    yield { ...scenario, service: smaller };
  for (const name of synced) {
    for (const list of smallerLists(lists[name])) yield withList(scenario, name, list);
  }
  for (const [at, run] of runs.entries()) {
    for (const smaller of smallerRuns(run, service)) yield { ...scenario, runs: runs.with(at, smaller) };
  }
  for (const name of listNames) {
    if (!synced.includes(name) && !isPlain(lists[name])) yield withList(scenario, name, plainList);
  }
  for (const size of smallerNumbers(maxSize, 2)) {
    yield {
      ...scenario,
      service: { ...service, maxSize: size, defaultSize: Math.min(size, defaultSize) },
    };
  }
}

function isPlain(list: ListScenario): boolean {
  return JSON.stringify(list) === JSON.stringify(plainList);
}

function withList(scenario: Scenario, name: ListName, list: ListScenario): Scenario {
  return { ...scenario, lists: { ...scenario.lists, [name]: list } };
}

function* smallerLists(list: ListScenario): Generator<ListScenario> {
  for (const smaller of towards(list, { ...plainList, size: list.size })) yield smaller;
  for (const size of smallerNumbers(list.size, 0)) yield { ...list, size };
  for (const doubles of without(list.doubles)) yield { ...list, doubles };
}

function* smallerRuns(run: RunScenario, service: ServiceScenario): Generator<RunScenario> {
  yield* towards(run, { ...plainRun, pageSize: run.pageSize });
  for (const before of without(run.before)) yield { ...run, before };
  if (run.shift !== null) {
    for (const smaller of towards(run.shift.service, service))
      yield { ...run, shift: { ...run.shift, service: smaller } };
  }
  for (const skips of without(run.skips)) yield { ...run, skips };
  for (const during of without(run.during)) yield { ...run, during };
  for (const tampers of without(run.tampers)) yield { ...run, tampers };
  for (const meddles of without(run.meddles)) yield { ...run, meddles };
  if (run.concurrency > 2) yield { ...run, concurrency: run.concurrency - 1 };
  if (run.pageSize !== null) yield { ...run, pageSize: null };
}

/** Each field by itself as it is in the plain one. */
function* towards<T extends object>(from: T, plain: T): Generator<T> {
  for (const [name, value] of Object.entries(plain)) {
    const now: unknown = Reflect.get(from, name);
    if (JSON.stringify(now) !== JSON.stringify(value)) yield { ...from, [name]: value };
  }
}

/** Without its later half, its earlier half, and each one. */
function* without<T>(many: readonly T[]): Generator<readonly T[]> {
  const half = many.length >> 1;
  if (half > 1) yield many.slice(0, half);
  if (half > 1) yield many.slice(half);
  for (const at of many.keys()) yield many.toSpliced(at, 1);
}

function* smallerNumbers(number: number, least: number): Generator<number> {
  const half = number >> 1;
  if (half > least) yield half;
  if (number - 5 > least) yield number - 5;
  if (number > least) yield number - 1;
}
