import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { findingKinds } from './oracle.ts';
import {
  beyondManners,
  changeKinds,
  faultKinds,
  listNames,
  meddleKinds,
  orders,
  pageNoManners,
  plainList,
  plainRun,
  plainService,
  type Scenario,
  sizeManners,
  tamperKinds,
  totalKinds,
  trafficKinds,
} from './scenario.ts';

/** Which promise was broken; or a last run that proved nothing although it must. */
export const caseKinds = [...findingKinds, 'unproven'] as const;
export type CaseKind = (typeof caseKinds)[number];

/** A case that was found once, and must not come back. */
export interface Regression {
  /** What it is about, in words with hyphens. */
  readonly name: string;
  /** Its story, in a sentence. */
  readonly about: string;
  /** Which promise was broken when it was found. */
  readonly kind: CaseKind;
  readonly scenario: Scenario;
}

/** The cases that were found, one a line, and those that fail without a guard. Each has only what is not plain. */
const files = { regressions: 'regressions.ndjson', guards: 'guards.ndjson' };

/**
 * All cases of a file.
 *
 * @throws if a line is not a case: a case that can't be read must not pass.
 */
export function readRegressions(file: keyof typeof files = 'regressions'): Regression[] {
  const text = readFileSync(join(import.meta.dirname, files[file]), 'utf8');
  return text.trimEnd().split('\n').map(parseRegression);
}

/** @throws if there is no case of that name. */
export function regressionCalled(name: string): Regression {
  const found = [...readRegressions(), ...readRegressions('guards')].find(each => each.name === name);
  if (found === undefined) throw new Error(`There is no case ${name}.`);
  return found;
}

/** @throws if the line is no case. */
export function parseRegression(line: string): Regression {
  const written = JSON.parse(line);
  const found: unknown = { ...written, scenario: completed(written.scenario) };
  if (!isFound(found)) throw new Error(`${written.name} is no case: ${JSON.stringify(isFound.errors)}`);
  return found;
}

/** The line of a case, without a line break. */
export function lineOfRegression({ scenario, ...words }: Regression): string {
  return JSON.stringify({ ...words, scenario: shortened(scenario) });
}

type Written = { readonly [field: string]: unknown };
type WrittenScenario = Written & {
  readonly service: Written;
  readonly lists: { readonly [name: string]: Written };
  readonly runs: readonly (Written & { readonly shift?: (Written & { readonly service: Written }) | null })[];
};

/** A scenario with all that its line leaves out. */
function completed({ service, lists, runs, ...others }: WrittenScenario): unknown {
  const names = new Set([...listNames, ...Object.keys(lists)]);
  return {
    ...others,
    service: { ...plainService, ...service },
    lists: Object.fromEntries([...names].map(name => [name, { ...plainList, ...lists[name] }])),
    runs: runs.map(({ shift, ...run }) => ({
      ...plainRun,
      ...run,
      shift: shift ? { ...shift, service: { ...plainService, ...shift.service } } : null,
    })),
  };
}

/** A scenario without what is plain in it. */
function shortened({ service, lists, runs, ...others }: Scenario): Written {
  const all = listNames.map(name => [name, differing(lists[name], plainList)] as const);
  return {
    ...others,
    service: differing(service, plainService),
    lists: Object.fromEntries(all.filter(([, list]) => Object.keys(list).length > 0)),
    runs: runs.map(({ shift, ...run }) => ({
      ...differing(run, plainRun),
      ...(shift !== null && { shift: { ...shift, service: differing(shift.service, plainService) } }),
    })),
  };
}

function differing(from: object, plain: object): Written {
  const differs = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(Reflect.get(plain, name));
  return Object.fromEntries(Object.entries(from).filter(differs));
}

const number = { type: 'integer' };
const boolean = { type: 'boolean' };
const text = { type: 'string', minLength: 1 };
const oneOf = (...choices: readonly unknown[]) => ({ enum: choices });
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const many = (items: object) => ({ type: 'array', items });
const record = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const service = record({
  firstPageNo: oneOf(0, 1),
  defaultSize: number,
  maxSize: number,
  sizes: oneOf(...sizeManners),
  beyond: oneOf(...beyondManners),
  pageNo: oneOf(...pageNoManners),
  totals: record({ kind: oneOf(...totalKinds), by: number }),
  pageCounts: oneOf('right', 'capped', 'too-high'),
  noise: boolean,
  paginationFirst: boolean,
  cache: orNull(record({ nth: number, hours: { type: 'number' } })),
  replicaLag: number,
});

const list = record({
  size: number,
  doubles: many(record({ at: number, of: number, text: number })),
  traffic: orNull(record({ kind: oneOf(...trafficKinds), every: number })),
  order: oneOf(...orders),
  ties: number,
});

const change = record({ list: oneOf(...listNames), kind: oneOf(...changeKinds), at: number, to: number });

const run = record({
  skips: many(oneOf(...listNames)),
  pageSize: orNull(number),
  concurrency: number,
  schedule: number,
  incremental: boolean,
  guarded: boolean,
  keepHours: orNull(number),
  lies: boolean,
  rollback: number,
  meddles: many(
    record({
      list: oneOf(...listNames),
      kind: oneOf(...meddleKinds),
      row: number,
      to: number,
      request: number,
    }),
  ),
  before: many(change),
  during: many(record({ request: number, change })),
  faults: many(record({ request: number, kind: oneOf(...faultKinds) })),
  shift: orNull(record({ request: number, service })),
  crash: orNull(
    record({
      at: oneOf('request', 'clock', 'event'),
      nth: number,
      way: oneOf('kill', 'throw', 'signal'),
    }),
  ),
  tampers: many(record({ kind: oneOf(...tamperKinds), table: number, row: number, column: number })),
});

const lists = record(Object.fromEntries(listNames.map(name => [name, list])));

const isFound = new Ajv().compile<Regression>(
  record({
    name: text,
    about: text,
    kind: oneOf(...caseKinds),
    scenario: record({
      connections: number,
      synced: many(oneOf(...listNames)),
      service,
      lists,
      runs: many(run),
    }),
  }),
);
