import type { RecordValues } from '../../contract/content.ts';

/** A record as it stood at one time, and the runs that first saw and last changed it until then. */
export interface StandingRecord {
  readonly id: number;
  readonly record: RecordValues;
  readonly firstSeenRunId: number;
  readonly changedRunId: number;
}
