import type Database from 'better-sqlite3';
import { ChangesHash } from '../../audit/changes-hash.ts';
import { keptResources } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { ChangesOfRuns, type RunChanges } from '../receipts/changes-of-runs.ts';
import { readPruned } from '../receipts/pruned.ts';
import { type BrokenText, brokenTextsIn } from '../tables/broken-texts.ts';
import { firstValues } from '../tables/query.ts';
import { type Readable, tryToRead } from '../tables/readable.ts';

/** What one run did to one list, so that it can be taken back. */
interface RunWork extends RunChanges {
  /** The contents of the versions that it ended by an update. */
  readonly updatedAway: Sum;
}

/** What runs did, by the rows and the history. */
export interface WorkOfRuns {
  /** What a run did to a list, or to the connections; in words why that can't be read. */
  of(runId: number, resource: string): Readable<RunWork>;
}

/** What an audit needs besides the rows, one by one: it takes as long as they do, and can be found out beside them. */
export interface Groundwork {
  /** What SQLite's own check finds wrong with the file; nothing where it is whole. */
  readonly faults: readonly string[];
  /** Texts whose bytes are no UTF-8, in all tables of the mirror. */
  readonly brokenTexts: readonly BrokenText[];
  readonly work: WorkOfRuns;
}

/** A sum as plain values. */
type PlainSum = readonly [count: number, hex: string];

/** The same as plain values, for another thread; runs that changed nothing are left out. */
export interface PlainGroundwork extends Omit<Groundwork, 'work'> {
  readonly work: readonly (readonly [name: string, work: Readable<PlainWork>])[];
}

interface PlainWork {
  readonly count: number;
  readonly digest: string;
  readonly sums: readonly [began: PlainSum, gone: PlainSum, updatedAway: PlainSum];
}

/** Begins to read one state of a file: a transaction takes it with its first look. */
export function beginReading(sqlite: Database.Database): void {
  sqlite.exec('BEGIN');
  sqlite.prepare('SELECT count(*) FROM sqlite_schema').get();
}

/** Lays the groundwork of an audit; what runs did is read when it is asked for. */
export function layGroundwork(sqlite: Database.Database): Groundwork {
  return { ...lookAtBytes(sqlite), work: new WorkInFile(sqlite) };
}

/** Lays the groundwork as plain values. */
export function layPlainGroundwork(sqlite: Database.Database): PlainGroundwork {
  const file = new WorkInFile(sqlite);
  const work: [string, Readable<PlainWork>][] = [];
  const runs = sqlite.prepare<[number], number>('SELECT id FROM sync_runs WHERE id > ? ORDER BY id');
  // What pruned runs did can't be read.
  for (const runId of runs.pluck().iterate(readPruned(sqlite).throughRunId)) {
    for (const resource of keptResources) {
      const found = file.of(runId, resource);
      if ('problem' in found) work.push([nameOf(runId, resource), found]);
      else if (isSomething(found.value))
        work.push([nameOf(runId, resource), { value: plainWork(found.value) }]);
    }
  }
  return { ...lookAtBytes(sqlite), work };
}

/** Groundwork that came as plain values. */
export function groundworkOf({ work, ...others }: PlainGroundwork): Groundwork {
  const byName = new Map(work);
  const of = (runId: number, resource: string): Readable<RunWork> => {
    const found = byName.get(nameOf(runId, resource));
    if (found === undefined) return { value: noWork };
    return 'problem' in found ? found : { value: workOf(found.value) };
  };
  return { ...others, work: { of } };
}

/** Reads what runs did; the last run's is kept, for it is asked for twice. */
class WorkInFile implements WorkOfRuns {
  readonly #sqlite: Database.Database;
  /** Kept, for a mirror may have thousands of runs. */
  readonly #readers = new Map<string, ChangesOfRuns>();
  readonly #last = new Map<string, { readonly runId: number; readonly found: Readable<RunWork> }>();

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
  }

  of(runId: number, resource: string): Readable<RunWork> {
    const last = this.#last.get(resource);
    if (last?.runId === runId) return last.found;
    const reader = this.#readers.get(resource) ?? new ChangesOfRuns(this.#sqlite, resource);
    this.#readers.set(resource, reader);
    const found = tryToRead(() => ({ ...reader.of(runId), updatedAway: reader.updatedAway(runId) }));
    this.#last.set(resource, { runId, found });
    return found;
  }
}

/** What no reading of rows tells. In a file that is damaged, only the damage counts. */
function lookAtBytes(sqlite: Database.Database): Omit<Groundwork, 'work'> {
  const faults = firstValues<string>(sqlite, 'PRAGMA integrity_check').filter(problem => problem !== 'ok');
  if (faults.length > 0) return { faults, brokenTexts: [] };
  const tables = "SELECT name FROM pragma_table_list WHERE strict AND type = 'table' AND schema = 'main'";
  const names = firstValues<string>(sqlite, tables);
  return { faults, brokenTexts: names.flatMap(table => [...brokenTextsIn(sqlite, table)]) };
}

function nameOf(runId: number, resource: string): string {
  return `${runId} ${resource}`;
}

function isSomething({ count, updatedAway }: RunWork): boolean {
  return count > 0 || updatedAway.count > 0;
}

const noWork: RunWork = {
  count: 0,
  digest: new ChangesHash().digest(),
  began: new Sum(),
  gone: new Sum(),
  updatedAway: new Sum(),
};

function plainWork({ count, digest, began, gone, updatedAway }: RunWork): PlainWork {
  return { count, digest, sums: [plainSum(began), plainSum(gone), plainSum(updatedAway)] };
}

function workOf({ count, digest, sums }: PlainWork): RunWork {
  const [began, gone, updatedAway] = sums.map(([size, hex]) => Sum.from(size, hex)) as [Sum, Sum, Sum];
  return { count, digest, began, gone, updatedAway };
}

function plainSum(sum: Sum): PlainSum {
  return [sum.count, sum.toString()];
}
