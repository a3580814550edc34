/** A change of one record, by one run. */
export interface Change {
  readonly runId: number;
  /** When the run had applied the list or, for connections, which belong to several, when it had ended. */
  readonly changedAt: string | null;
  readonly resource: string;
  readonly recordId: number;
  readonly operation: 'insert' | 'update' | 'removal';
  /** JSON text: the record after the change or, if it was removed, before it; null if it was erased. */
  readonly record: string | null;
  /** JSON text: the record before an update; null otherwise, and if that version was erased or pruned. */
  readonly before: string | null;
}

/** Selects what a `Change` says, from the view `changes` under the name `c`; conditions and order are to follow. */
// By hand: the view of changes, which statements by hand go on from.
export const selectChange = `SELECT c.run_id AS runId, c.changed_at AS changedAt, c.resource, c.record_id AS recordId,
  c.operation, c.record, c.before`;
