import type { Disk } from './disk.ts';
import { generate } from './generate.ts';
import type { Finding } from './oracle.ts';
import type { HabitKind } from './paginator.ts';
import { type Played, play } from './play.ts';
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
  /** How each list of each run ended, and which runs did not; `excused` if a promise was broken that no reader could keep. */
  readonly verdicts: readonly string[];
  readonly runs: number;
  readonly habits: ReadonlySet<HabitKind>;
}

/** Plays the scenario of one seed, and makes it smaller if a promise was broken. */
export async function playSeed(seed: number, disk: Disk, isShrinking: boolean): Promise<SeedResult> {
  const scenario = generate(seed);
  const played = await play(scenario, disk);
  const verdicts = played.runs.flatMap(({ report }) => verdictsOf(report));
  if (played.excused.length > 0) verdicts.push('excused');
  const [finding] = played.findings;
  const runs = played.runs.length;
  const { habits } = played;
  if (finding === undefined) return { found: null, verdicts, runs, habits };
  const smallest = isShrinking ? await shrinkFound(scenario, finding, disk) : scenario;
  const [last = finding] = (await play(smallest, disk)).findings;
  return { found: { seed, finding: last, scenario: smallest }, verdicts, runs, habits };
}

/** The smallest scenario that breaks the same promise of a list of the same kind. */
function shrinkFound(scenario: Scenario, { kind, list, run }: Finding, disk: Disk): Promise<Scenario> {
  const mayStopSick = run <= scenario.runs.length;
  const isSame = (finding: Finding | undefined) => finding?.kind === kind && finding.list === list;
  const fails = async (smaller: Scenario) => isSame((await play(smaller, disk, mayStopSick)).findings[0]);
  return shrink(scenario, fails, shrinkTriesMax);
}

function verdictsOf(report: Played['runs'][number]['report']): string[] {
  if (report === null) return ['killed'];
  if (report.error !== null) return ['thrown'];
  return report.lists.map(({ completeness, status }) => completeness ?? status);
}
