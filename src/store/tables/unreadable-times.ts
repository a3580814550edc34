import { lists, timeFieldOf } from '../../contract/lists.ts';
import type { FieldsOf } from '../../contract/shapes.ts';
import { allRows, type Sqlite } from './ask.ts';
import type { unreadableOfList } from './run.ts';

/** So many characters of an example are shown. */
const exampleMax = 60;

/** The records of a list in a mirror that have a text for their time which can't be read; null if there are none. */
export function unreadableTimes(sqlite: Sqlite, resource: string): FieldsOf<typeof unreadableOfList> | null {
  const list = lists.find(each => each.resource === resource);
  const column = list && timeFieldOf(list)?.column;
  if (list === undefined || column === undefined) return null;
  const found = `SELECT count(*) AS count, substr(min(${column}), 1, ${exampleMax}) AS example
    FROM ${list.table} WHERE ${column}_ms IS NULL AND ${column} IS NOT NULL`;
  const [times] = allRows<FieldsOf<typeof unreadableOfList>>(sqlite, found);
  return times === undefined || times.count === 0 ? null : times;
}
