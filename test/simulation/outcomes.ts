import type { Disk } from './disk.ts';
import { play } from './play.ts';
import type { CaseKind, Regression } from './regressions.ts';

/** The outcome of a case: the promises that were broken and, in a case about that, a last run that proved nothing. */
export async function outcomesOf({ kind, scenario }: Regression, disk: Disk): Promise<CaseKind[]> {
  const { findings, runs } = await play(scenario, disk);
  const last = runs[scenario.runs.length - 1]?.report?.lists ?? [];
  const isUnproven = kind === 'unproven' && last.some(({ completeness }) => completeness === 'unproven');
  return [...findings.map(finding => finding.kind), ...(isUnproven ? (['unproven'] as const) : [])];
}
