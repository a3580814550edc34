import { select } from '../tables/statement.ts';
import { changes } from '../tables/view-columns.ts';

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

/** Begins a SELECT of changes. The caller adds conditions and order. */
export function selectChanges() {
  const { runId, changedAt, resource, recordId, operation, record, before } = changes;
  return select({ runId, changedAt, resource, recordId, operation, record, before }).from(changes);
}
