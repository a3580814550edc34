import type { ReportListRun } from '../store/read/report-data.ts';

/** What a judgement is made of: how the last run that worked on a list left it. */
type LastRun = Pick<ReportListRun, 'status' | 'completeness' | 'rejected' | 'removalsWithheld'>;

/** What a person is told of a list first. `ended` is a run that failed or was ended, of which its status says all. */
export type Judgement = 'never synced' | 'complete' | 'unproven' | 'rejected' | 'withheld' | 'ended';

/**
 * What to say of a list, where several things could be said: what is unproven is not known at all; what was rejected is why
 * removals were withheld. The view `sync_status` says the same in SQL.
 */
export function judgementOf(last: LastRun | null): Judgement {
  if (last === null) return 'never synced';
  if (last.status === 'completed') return 'complete';
  if (last.completeness === 'unproven') return 'unproven';
  if (last.rejected > 0) return 'rejected';
  return last.removalsWithheld > 0 ? 'withheld' : 'ended';
}
