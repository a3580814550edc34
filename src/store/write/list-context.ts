import type { ListDefinition } from '../../contract/lists.ts';
import type { Sum } from '../../contract/sum.ts';
import type { MirrorFile } from '../file/open.ts';
import type { ListTable } from '../tables/list-table.ts';
import type { ConnectionNames } from './connections.ts';
import type { ListMemory } from './memory.ts';
import type { RunRecords } from './run-records.ts';

/** One change that a dry run would make; `record` and `before` are JSON in the service's shape. */
export interface RecordChange {
  readonly resource: string;
  readonly operation: 'insert' | 'update' | 'removal';
  readonly recordId: number;
  readonly record: string;
  readonly before: string | null;
}

/** Receives each change. */
export type ChangeObserver = (change: RecordChange) => void;

/** A run that writes nothing. */
export interface DryRun {
  /** Receives each change that it would make. */
  readonly tell: ChangeObserver;
  /** What the lists would call their connections, as far as they were read. */
  readonly names: ConnectionNames;
}

/** The run that works on the mirror. In a dry run `id` is in no table. */
export interface CurrentRun {
  readonly id: number;
  readonly startedAt: string;
  readonly baseUrl: string;
  /** Null if the run writes. */
  readonly dry: DryRun | null;
  readonly signal: AbortSignal;
}

/** The values that reading and writing a list need. */
export interface ListContext {
  readonly list: ListDefinition;
  readonly file: MirrorFile;
  readonly records: RunRecords;
  readonly run: CurrentRun;
  readonly table: ListTable;
  readonly memory: ListMemory;
  /** M, the sum of the list's rows according to the newest receipt. */
  readonly sum: Sum;
}
