import {
  type Connection,
  connectionContent,
  contentOf,
  readWireConnection,
  shapeOf,
  wireConnection,
} from '../../contract/content.ts';
import { keptResources, lists } from '../../contract/lists.ts';
import { isNormalRecord } from '../../contract/record.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';
import { instantMs } from '../../contract/time.ts';
import { MirrorAlteredError, tryToRead } from '../../errors.ts';
import type { TimeSlice } from '../../time-slice.ts';
import { allRows, type Sqlite } from '../tables/ask.ts';
import { ignoredFields } from '../tables/ignored-fields.ts';
import { ListTable } from '../tables/list-table.ts';
import { lastState, RunComposer, sumAfter } from './statements.ts';

type Resource = (typeof keptResources)[number];

/** The rows of a list after one id and up to another, or all of them; all of the connections. */
export interface RowsPart {
  readonly resource: Resource;
  readonly after?: number;
  readonly to?: number;
}

/** Compares the columns of rows with their content, some hundred rows at a time. */
export function* checkRows(sqlite: Sqlite, { resource, after, to }: RowsPart) {
  const list = lists.find(each => each.resource === resource);
  if (list === undefined) {
    const all =
      'SELECT id, name, _extra AS extra, lower(hex(_content)) AS content FROM connections ORDER BY id';
    const connections = allRows<Connection & { readonly content: string }>(sqlite, all);
    yield check(connections, row => {
      // A content is the same if its name is among the further fields.
      const { name, extra } = readWireConnection(wireConnection(row));
      const isAsWritten = name === row.name && extra?.length === row.extra?.length;
      return [connectionContent(row).toString('hex'), isAsWritten];
    });
    return;
  }
  const { timeAt } = shapeOf(list);
  const ignoredBy = ignoredFields(sqlite, resource);
  for (const rows of new ListTable(sqlite, list).rows(after, to))
    yield check(rows, ({ record, sortKey, changedRunId }) => {
      const time = record.scalars[timeAt];
      const isSortKey = record.id !== null || sortKey === (typeof time === 'string' ? instantMs(time) : null);
      return [contentOf(list, record, ignoredBy(changedRunId)), isSortKey && isNormalRecord(list, record)];
    });
}

/** The contents that the columns of some rows give, and the ids of the rows that are not as docmirror wrote them. */
function check<Row extends { readonly id: number; readonly content: string }>(
  rows: readonly Row[],
  read: (row: Row) => [content: string, isNormal: boolean],
) {
  const altered: number[] = [];
  const contents = rows.map(row => {
    const [content, isNormal] = tryToRead(() => read(row)) ?? ['0'.repeat(2 * contentBytes), false];
    if (!isNormal || content !== row.content) altered.push(row.id);
    return content;
  });
  return { contents, altered };
}

/** The sum of the contents that the columns of some rows give. `tell` gets the id of each row that is not as docmirror wrote it. */
export async function sumOfRows(
  sqlite: Sqlite,
  part: RowsPart,
  slice: TimeSlice,
  tell: (id: number) => void,
) {
  const sum = new Sum();
  for (const { contents, altered } of checkRows(sqlite, part)) {
    altered.forEach(tell);
    for (const content of contents) sum.add(content);
    if (slice.isOver) await slice.next();
  }
  return sum;
}

/** Reads every row, in some 4 s a million. Throws a MirrorAlteredError if others changed one; `openRuns` have no receipt yet. */
export async function assertAsWritten(
  { path, sqlite }: { readonly path: string; readonly sqlite: Sqlite },
  slice: TimeSlice,
  openRuns: readonly number[] = [],
): Promise<void> {
  const composer = new RunComposer(sqlite);
  const changes = openRuns.map(runId => composer.changes(runId));
  for (const list of lists)
    if (new ListTable(sqlite, list).malformed().length > 0) throw altered(path, list.resource);
  for (const resource of keptResources) {
    const sum = await sumOfRows(sqlite, { resource }, slice, () => {
      throw altered(path, resource);
    });
    let said = lastState(sqlite, resource);
    for (const ofRun of changes) said = sumAfter(said, ofRun, resource);
    if (!sum.equals(said)) throw altered(path, resource);
  }
}

/** The error if another program altered a list, or the connections. */
export function altered(path: string, resource: Resource): MirrorAlteredError {
  const what = `its ${resource} are not what docmirror wrote`;
  return new MirrorAlteredError(`Another program altered ${path}: ${what}`);
}
