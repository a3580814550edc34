/** A change of one record, by one run. */
export interface Change {
  readonly runId: number;
  /** When the run had applied the list. For connections, which belong to several lists, when the run had ended. */
  readonly changedAt: string | null;
  readonly resource: string;
  readonly recordId: number;
  readonly operation: 'insert' | 'update' | 'removal';
  /** JSON text: the record after the change or, if it was removed, before it; null if it was erased. */
  readonly record: string | null;
  /** JSON text: the record before an update; null otherwise, and if that version was erased or pruned. */
  readonly before: string | null;
}
