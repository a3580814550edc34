import { firstValue, type Sqlite } from '../../tables/ask.ts';
import { EndedRuns } from '../../tables/ended-runs.ts';
import type { ChangeFilter } from '../browsable.ts';
import { type ChangeRequest, changesThatFit } from './changes.ts';
import { CursorLost, lossOf, newestGap, type Position, positionAt } from './position.ts';

/** The changes of ended runs that match, each once for a reader that keeps its position; to be read from one state of the mirror. */
export function feed(sqlite: Sqlite, filter?: ChangeFilter) {
  const newest = new EndedRuns(sqlite).newest() ?? 0;
  const open = (position: Position) => feedFrom(sqlite, filter, newest, position);
  /** Begins after a run that has ended, or with 0 at the first run, with what is kept of the history. */
  const since = (runId: number) => {
    const begunAfter = newestGap(sqlite);
    return open(positionAt(sqlite, runId, begunAfter === null ? {} : { begunAfter }));
  };
  return {
    since,
    /** Goes on after a position. Throws CursorLost if a run that the reader has is not the mirror's, or not all after it is kept. */
    from(position: Position) {
      // A reader that has nothing yet begins now.
      if (position.runId === 0 && !position.after) return since(0);
      const loss = lossOf(sqlite, position);
      if (loss !== null) throw new CursorLost(loss);
      return open(position);
    },
  };
}

function feedFrom(sqlite: Sqlite, filter: ChangeFilter | undefined, newest: number, position: Position) {
  const { runId: deliveredRunId, since, after: amid = null, begunAfter } = position;
  const begun = begunAfter === undefined ? {} : { begunAfter };
  // docmirror 0.4 did not note which run the reader is in: that one is read again from its beginning.
  const lastTaken = amid?.leafHash === undefined ? null : amid;
  const take = (request: ChangeRequest, limit: number) => {
    const found = changesThatFit(sqlite, { filter, ...request })
      .take(limit + 1)
      .toArray();
    const changes = found.slice(0, limit);
    return { changes, last: changes.at(-1) ?? request.after ?? null, isComplete: found.length <= limit };
  };
  return {
    /** As many of the next changes, at least 1; they are complete if nothing is left until the next run ends. */
    upTo(limit: number) {
      const { changes, last, isComplete } = take({ sinceRunId: deliveredRunId, after: lastTaken }, limit);
      if (isComplete || last === null)
        return { changes, isComplete, next: positionAt(sqlite, newest, begun) };
      const before = 'SELECT max(id) FROM sync_runs WHERE id < ?';
      const whole = Math.max(deliveredRunId, firstValue<number>(sqlite, before, last.runId) ?? 0);
      return { changes, isComplete, next: positionAt(sqlite, whole, begun, last) };
    },

    /** The same with the newest changes first. Those of later runs are not delivered: a reader reads back to where it began. */
    newestFirst(limit: number) {
      // A reader of docmirror 0.4 begins again, because its cursor does not say how far up it began.
      const isBegun = since !== undefined;
      const sinceRunId = isBegun ? since : deliveredRunId;
      const after = isBegun ? amid : null;
      const { changes, last, isComplete } = take({ sinceRunId, after, isDescending: true }, limit);
      if (last === null) return { changes, isComplete, next: position };
      const top = isBegun ? deliveredRunId : newest;
      return { changes, isComplete, next: positionAt(sqlite, top, { since: sinceRunId }, last) };
    },

    /** All changes until a run that has ended, one at a time: even if they are many, they take no memory. */
    through(runId: number) {
      const sinceRunId = deliveredRunId;
      return {
        sinceRunId,
        changes: changesThatFit(sqlite, { filter, sinceRunId, untilRunId: runId, after: lastTaken }),
        next: runId > sinceRunId ? positionAt(sqlite, runId, begun) : position,
      };
    },
  };
}
