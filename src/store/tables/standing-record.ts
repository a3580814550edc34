import type { RecordValues, StoredConnection } from '../../contract/content.ts';

/** The runs that first saw something and last changed it, up to one time. */
export interface Provenance {
  readonly firstSeenRunId: number;
  readonly changedRunId: number;
}

/** A record as it was at one time. */
export interface StandingRecord extends Provenance {
  readonly id: number;
  readonly record: RecordValues;
}

/** A connection as it was at one time. */
export interface StandingConnection extends StoredConnection, Provenance {}
