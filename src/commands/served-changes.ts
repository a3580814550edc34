import { printable } from '../printable.ts';
import { ndjsonLine } from '../render/change-feed.ts';
import type { ChangeChoice, ChangeSource, ChangeStart, ServedChanges } from '../serve/change-page.ts';
import { HttpError } from '../serve/http-error.ts';
import { type ChangeCursor, type ChangeKey, cursorText, readCursor } from '../store/read/change-cursor.ts';
import type { MirrorReader } from '../store/read/mirror-reader.ts';
import { type Browsing, placeText, readPlace } from './browsing.ts';
import { take } from './served-lists.ts';

/** The changes of a mirror, page by page. The cursors are texts that fit in a query string. */
export function servedChanges(reader: () => MirrorReader, browsing: Browsing): ChangeSource {
  return {
    filtered: (start, choice, limit) => filteredChanges(browsing, start, choice, limit),
    read(start, limit) {
      const mirror = reader();
      const page = mirror.changePage(placeOf(start, mirror), limit);
      if ('why' in page)
        throw new HttpError(
          410,
          `The cursor ${page.why}. The newest run that both share is ${page.sharedRunId}: go on with sinceRun=${page.sharedRunId}.`,
        );
      return {
        items: page.changes.map(change => ndjsonLine(change).trimEnd()),
        cursor: Buffer.from(cursorText(page.next)).toString('base64url'),
        isComplete: page.isComplete,
      };
    },
  };
}

/** Changes that match the filter. The cursor contains the filter, so that it can't be used with another one. */
async function filteredChanges(
  browsing: Browsing,
  start: ChangeStart,
  { filter, isDescending }: ChangeChoice,
  limit: number,
): Promise<ServedChanges> {
  const kind = JSON.stringify([filter, isDescending]);
  const [sinceRunId = 0, runId = null, resource, recordId, operation] =
    'cursor' in start ? readPlace('cursor', start.cursor, kind, 5) : [start.sinceRun];
  const after =
    runId === null
      ? null
      : ({
          runId: Number(runId),
          resource: String(resource),
          recordId: Number(recordId),
          operation: String(operation),
        } as ChangeKey);
  const found = await browsing.with(reader =>
    take(reader.changes({ filter, sinceRunId: Number(sinceRunId), isDescending, after }), limit + 1),
  );
  const changes = found.slice(0, limit);
  const last = changes.at(-1) ?? after;
  const place =
    last === null ? [null, null, null, null] : [last.runId, last.resource, last.recordId, last.operation];
  return {
    items: changes.map(change => ndjsonLine(change).trimEnd()),
    cursor: placeText(kind, [sinceRunId, ...place]),
    isComplete: found.length <= limit,
  };
}

function placeOf(
  start: ChangeStart,
  { endedRuns }: MirrorReader,
): ChangeCursor | Pick<ChangeCursor, 'runId' | 'after'> {
  if ('sinceRun' in start) {
    const runId = start.sinceRun;
    if (runId === 0 || endedRuns.has(runId)) return { runId, after: null };
    throw new HttpError(400, `sinceRun: there is no run ${runId} that has ended.`);
  }
  const cursor = readCursor(Buffer.from(start.cursor, 'base64url').toString());
  if (cursor !== null) return cursor;
  throw new HttpError(
    400,
    `cursor: ${printable(JSON.stringify(start.cursor.slice(0, 40)))} is not a cursor of this server.`,
  );
}
