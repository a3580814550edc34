import type Database from 'better-sqlite3';
import { fillNewColumns } from '../tables/new-columns.ts';
import { recomputeAll } from '../tables/recompute-contents.ts';

/** A mirror amid its upgrade: its tables and views are those of this docmirror, its rows still say what they said before. */
export interface UpgradeContext {
  /** In the upgrade's transaction, with references off until all is done. */
  readonly sqlite: Database.Database;
  /** The docmirror whose shape the mirror had, and the one that upgrades it. */
  readonly fromVersion: string;
  readonly version: string;
  /** The columns of each table, as they were before. */
  readonly columnsBefore: ReadonlyMap<string, ReadonlySet<string>>;
  /** In ISO 8601, UTC. */
  readonly upgradedAt: string;
}

/** Changes rows, where SQL alone can't. It may throw: then nothing is changed. */
export type UpgradeStep = (context: UpgradeContext) => void;

/** What is done to the rows at every upgrade, in this order. Each finds out by itself whether there is anything to do. */
export const upgradeSteps: readonly UpgradeStep[] = [
  ({ sqlite, columnsBefore }) => fillNewColumns(sqlite, columnsBefore),
  ({ sqlite }) => recomputeAll(sqlite),
];
