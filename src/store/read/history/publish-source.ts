import { Sum } from '../../../contract/sum.ts';
import { MirrorFileError } from '../../../errors.ts';
import { openMirrorForReading } from '../../file/open.ts';
import { allRows, firstRow, firstValue, type Sqlite } from '../../tables/ask.ts';
import { versionsOf } from './as-of.ts';
import type { Change } from './changes.ts';
import { lossOfRun } from './feed.ts';

/** A mirror for a publication. Later runs do not change the rows and changes of a run, so they can be sent again. */
export type PublishSource = ReturnType<typeof openPublishSource>;
/** A run that has ended, however it ended. */
export type EndedRun = ReturnType<PublishSource['runs']>[number];

/** Opens one state of a mirror, to publish it run by run. Throws a MirrorFileError if it can't be read, or none of its runs has ended. */
export function openPublishSource(path: string) {
  using opening = new DisposableStack();
  const { sqlite } = opening.use(openMirrorForReading(path));
  sqlite.exec('BEGIN');
  // Each receipt names the mirror, and the first one is written when its first run ends.
  const first = "SELECT receipt ->> 'mirrorId' FROM sync_receipts ORDER BY leaf_index LIMIT 1";
  const mirrorId = firstValue<string>(sqlite, first);
  if (mirrorId === null)
    throw new MirrorFileError(`No run of ${path} has ended yet. Make one with "docmirror sync".`);
  // Changes of a run that is not over can't be read yet, nor can those of later runs.
  const ended = `SELECT id AS runId, started_at AS startedAt FROM sync_runs
    WHERE id < coalesce((SELECT min(id) FROM sync_runs WHERE status = 'running'), 9e18) ORDER BY id`;
  const rowCount = 'SELECT total(inserted + updated + removed) FROM sync_run_resources WHERE run_id > ?';
  // Prepared once, because the view is long, and there can be thousands of runs.
  const ofRun = `SELECT run_id AS runId, changed_at AS changedAt, resource, record_id AS recordId, operation, record
    FROM changes WHERE run_id = ?`;
  const changes = sqlite.prepare<[number], Omit<Change, 'before'>>(ofRun);
  const file = opening.move();
  return {
    mirrorId,
    /** Why the runs after one can't be added to what was published of a mirror up to that run; null if they can. */
    lossOf: (published: Parameters<typeof lossOfRun>[1]) => lossOfRun(sqlite, published),
    runs: () => allRows<{ runId: number; startedAt: string }>(sqlite, ended),
    /** About how many rows the later runs wrote and removed; for a progress bar. */
    rowCountSince: (runId: number) => firstValue<number>(sqlite, rowCount, runId) ?? 0,
    /** The versions that a run wrote, and those that it removed, in any order. */
    rows: (resource: string, runId: number) => rowsOf(sqlite, resource, runId),
    changes: (runId: number) => changes.iterate(runId),
    /** How many rows a list has after a run, and the sum of their contents modulo 2^128, as 32 hexadecimal digits. */
    sumAfter: (resource: string, runId: number) => sumAfter(sqlite, resource, runId),
    [Symbol.dispose]: () => file.dispose(),
  };
}

function* rowsOf(sqlite: Sqlite, resource: string, run: number) {
  // The plus keeps SQLite from using another index than that of the run.
  const removed = "h.valid_to_run_id = @run AND h.ended_by = 'removal' AND +h.resource = @resource";
  const written = 'h.valid_from_run_id = @run AND +h.resource = @resource';
  const gone = { isRemoved: true, rows: '0', versions: removed };
  const own = { isRemoved: false, rows: 't._changed_run_id = @run', versions: written };
  for (const { isRemoved, ...wanted } of [gone, own])
    for (const version of versionsOf(sqlite, resource, wanted, { run, resource })) {
      const { scalars, arrays, extra } = version.values;
      // A removed record is given with its last content.
      yield { ...version, values: [...scalars, ...arrays], extra, isRemoved };
    }
}

/** As the run recorded it. No run records connections, so these are added up from their versions. */
function sumAfter(sqlite: Sqlite, resource: string, runId: number) {
  if (resource !== 'connections') {
    const newest = `SELECT record_count AS recordCount, checksum AS contentSum FROM sync_run_resources
      WHERE resource = ? AND run_id <= ? AND checksum IS NOT NULL ORDER BY run_id DESC LIMIT 1`;
    const recorded = firstRow<{ recordCount: number; contentSum: string }>(sqlite, newest, resource, runId);
    return recorded ?? { recordCount: 0, contentSum: new Sum().toString() };
  }
  const stood = `SELECT lower(hex(_content)) FROM connections WHERE _changed_run_id <= @runId
    UNION ALL SELECT lower(hex(content)) FROM record_history
    WHERE resource = 'connections' AND valid_from_run_id <= @runId AND valid_to_run_id > @runId`;
  const contents = sqlite.prepare<{ runId: number }, string>(stood);
  const sum = new Sum();
  for (const content of contents.pluck().iterate({ runId })) sum.add(content);
  return { recordCount: sum.count, contentSum: sum.toString() };
}
