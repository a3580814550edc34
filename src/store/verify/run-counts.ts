import type Database from 'better-sqlite3';
import { and, between, count, eq, isNotNull } from 'drizzle-orm';
import type { RecordLife } from '../tables/record-lives.ts';
import { rejectedRecords, syncRunResources } from '../tables/schema.ts';
import { prepare, prepareArrays, select } from '../tables/statement.ts';
import type { LivingRow } from './verify-life.ts';

type Counts = Record<'inserted' | 'updated' | 'removed', number>;

/**
 * Counts the records that each run inserted, updated and removed, from the rows and the history, to compare them with the runs'
 * records.
 */
export class RunCounts {
  readonly #sqlite: Database.Database;
  readonly #resource: string;
  readonly #byRun = new Map<number, Counts>();

  constructor(sqlite: Database.Database, resource: string) {
    this.#sqlite = sqlite;
    this.#resource = resource;
  }

  add({ versions, row }: RecordLife<LivingRow>): void {
    for (const { firstSeenRunId, validFromRunId, validToRunId, endedBy } of versions) {
      this.#count(validFromRunId, firstSeenRunId === validFromRunId ? 'inserted' : 'updated');
      if (endedBy === 'removal') this.#count(validToRunId, 'removed');
    }
    if (row === null) return;
    this.#count(row.changedRunId, row.firstSeenRunId === row.changedRunId ? 'inserted' : 'updated');
  }

  /** The differences between the counts and the runs' records. */
  *differences(prunedThrough: number): Generator<{ runId: number; what: string }> {
    const rejected = this.#rejected();
    const of = syncRunResources;
    const { runId: run, inserted, updated, removed, rejected: rejectedInRun } = of;
    const recorded = prepare(this.#sqlite, (resource: string) =>
      select({ runId: run, inserted, updated, removed, rejected: rejectedInRun })
        .from(of)
        .where(eq(of.resource, resource))
        .orderBy(run),
    );
    for (const record of recorded.iterate(this.#resource)) {
      const { runId } = record;
      const found = { ...(this.#byRun.get(runId) ?? noCounts), rejected: rejected.get(runId) ?? 0 };
      this.#byRun.delete(runId);
      for (const name of ['inserted', 'updated', 'removed', 'rejected'] as const) {
        // A record that was rejected before and after a run, but not by it, also counts for that run.
        const isRight = name === 'rejected' ? found[name] >= record[name] : found[name] === record[name];
        if (isRight || (name !== 'rejected' && runId <= prunedThrough)) continue;
        const where = name === 'rejected' ? 'rejected_records holds' : 'rows and history have';
        yield { runId, what: `${this.#resource}: ${name} is ${record[name]}, but ${where} ${found[name]}` };
      }
    }
    for (const runId of this.#byRun.keys()) {
      yield { runId, what: `${this.#resource}: rows or history name this run, but it has no record of them` };
    }
  }

  #count(runId: number, name: keyof Counts): void {
    const counts = this.#byRun.get(runId) ?? { ...noCounts };
    counts[name]++;
    this.#byRun.set(runId, counts);
  }

  #rejected(): Map<number, number> {
    const [list, record] = [syncRunResources, rejectedRecords];
    const isInRun = and(
      eq(record.resource, list.resource),
      between(list.runId, record.runId, record.lastRunId),
    );
    const rows = prepareArrays<[resource: string], [runId: number, rejected: number]>(
      this.#sqlite,
      resource =>
        select({ runId: list.runId, rejected: count() })
          .from(list)
          .innerJoin(record, isInRun)
          .where(and(eq(list.resource, resource), isNotNull(list.recordCount)))
          .groupBy(list.runId),
    ).all(this.#resource);
    return new Map(rows);
  }
}

const noCounts: Readonly<Counts> = { inserted: 0, updated: 0, removed: 0 };
