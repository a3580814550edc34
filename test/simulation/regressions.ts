import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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
  /** The file's name, which says what it is about. */
  readonly name: string;
  /** Its story, in a sentence. */
  readonly about: string;
  /** Which promise was broken when it was found. */
  readonly kind: CaseKind;
  readonly scenario: Scenario;
}

/** The folder of found cases. */
export const regressionsFolder = join(import.meta.dirname, 'regressions');
/** The folder with a case for each guard, which fails without it. */
export const guardsFolder = join(import.meta.dirname, 'guards');

/**
 * All cases of a folder, in the order of their names.
 *
 * @throws if a file is not a case: a case that can't be read must not pass.
 */
export function readRegressions(folder: string = regressionsFolder): Regression[] {
  const names = readdirSync(folder).sort();
  return names.map(name => parseRegression(name, readFileSync(join(folder, name), 'utf8')));
}

/** @throws if the text is no case. */
export function parseRegression(fileName: string, text: string): Regression {
  const found: unknown = JSON.parse(text);
  if (!isFound(found)) throw new Error(`${fileName} is no case: ${JSON.stringify(isFound.errors)}`);
  return { ...found, name: basename(fileName, '.json') };
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

const isFound = new Ajv().compile<Omit<Regression, 'name'>>(
  record({
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
