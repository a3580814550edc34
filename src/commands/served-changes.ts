import { printable } from '../printable.ts';
import { ndjsonLine } from '../render/change-feed.ts';
import type { ChangeSource, ChangeStart } from '../serve/change-page.ts';
import { HttpError } from '../serve/http-error.ts';
import { type ChangeCursor, cursorText, readCursor } from '../store/read/change-cursor.ts';
import type { MirrorReader } from '../store/read/mirror-reader.ts';

/** The changes of a mirror, page by page, with cursors as texts that a query string can carry. */
export function servedChanges(reader: () => MirrorReader): ChangeSource {
  return {
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
