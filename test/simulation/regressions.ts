import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import { findingKinds } from './oracle.ts';
import { play } from './play.ts';
import { listNames, plainList, plainRun, plainService, type Scenario } from './scenario.ts';

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

/** All cases of a file. */
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

/** @throws if the line is no JSON. */
export function parseRegression(line: string): Regression {
  const written = JSON.parse(line);
  return { ...written, scenario: completed(written.scenario) };
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
function completed({ service, lists, runs, ...others }: WrittenScenario): object {
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

/** The outcome of a case: the promises that were broken and, in a case about that, a last run that proved nothing. */
export async function outcomesOf({ kind, scenario }: Regression, disk: Disk): Promise<CaseKind[]> {
  const { findings, runs } = await play(scenario, disk);
  const last = runs[scenario.runs.length - 1]?.report?.lists ?? [];
  const isUnproven = kind === 'unproven' && last.some(({ completeness }) => completeness === 'unproven');
  return [...findings.map(finding => finding.kind), ...(isUnproven ? (['unproven'] as const) : [])];
}
