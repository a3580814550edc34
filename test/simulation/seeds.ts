import { Coverage, featuresOf } from './coverage.ts';
import type { Disk } from './disk.ts';
import { generate } from './generate.ts';
import type { Finding } from './oracle.ts';
import { play } from './play.ts';
import type { Scenario } from './scenario.ts';
import { shrink } from './shrink.ts';

/** The most scenarios that are tried to make a found one smaller. */
const shrinkTriesMax = 600;

/** A broken promise, with the smallest scenario in which it was seen. */
export interface FoundCase {
  readonly seed: number;
  readonly finding: Finding;
  readonly scenario: Scenario;
}

export interface SeedResult {
  readonly found: FoundCase | null;
  /** Null if the seed does not have the feature that was asked for. */
  readonly coverage: Coverage | null;
  readonly runs: number;
}

/** Plays the scenario of one seed, and makes it smaller if a promise was broken. */
export async function playSeed(
  seed: number,
  disk: Disk,
  { only, isShrinking }: { only: string | null; isShrinking: boolean },
): Promise<SeedResult> {
  const scenario = generate(seed);
  if (only !== null && !featuresOf(scenario).includes(only)) return { found: null, coverage: null, runs: 0 };
  const played = await play(scenario, disk);
  const coverage = new Coverage();
  coverage.add(scenario, played);
  const [finding] = played.findings;
  const runs = played.runs.length;
  if (finding === undefined) return { found: null, coverage, runs };
  const smallest = isShrinking ? await shrinkFound(scenario, finding, disk) : scenario;
  const [last = finding] = (await play(smallest, disk)).findings;
  return { found: { seed, finding: last, scenario: smallest }, coverage, runs };
}

/** The smallest scenario that breaks the same promise of a list of the same kind. */
export function shrinkFound(scenario: Scenario, { kind, list, run }: Finding, disk: Disk): Promise<Scenario> {
  const mayStopSick = run <= scenario.runs.length;
  const isSame = (finding: Finding | undefined) => finding?.kind === kind && finding.list === list;
  const fails = async (smaller: Scenario) => isSame((await play(smaller, disk, mayStopSick)).findings[0]);
  return shrink(scenario, fails, shrinkTriesMax);
}
