import type { ListDefinition } from '../../contract/lists.ts';
import type { Sum } from '../../contract/sum.ts';
import type { MirrorFile } from '../file/open.ts';
import type { ListTable } from '../tables/list-table.ts';
import type { ChangeObserver } from './row-writer.ts';
import type { RunRecords } from './run-records.ts';
import type { Shortcuts } from './shortcuts.ts';
import type { Staging } from './staging.ts';
import type { OpenTransaction, TransactionOwner } from './transaction.ts';

/** The run that works on the mirror. In a dry run every transaction is rolled back, and `id` stands nowhere. */
export interface CurrentRun {
  readonly id: number;
  readonly startedAt: string;
  readonly baseUrl: string;
  readonly isDry: boolean;
  readonly signal: AbortSignal;
  /** Makes the rows that others refer to, inside each transaction of a dry run. */
  readonly prepare: (transaction: OpenTransaction) => void;
}

/** What reading and writing a list needs; the same for all of a run's walks over it. */
export interface ListContext {
  readonly list: ListDefinition;
  readonly file: MirrorFile;
  readonly transactions: TransactionOwner;
  readonly staging: Staging;
  readonly records: RunRecords;
  readonly run: CurrentRun;
  readonly observe: ChangeObserver | undefined;
  readonly table: ListTable;
  readonly shortcuts: Shortcuts;
  /** M, what the list's rows come to by the newest receipt. */
  readonly sum: Sum;
}
