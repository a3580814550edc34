/**
 * A record in the service's shape that has the id of its row under `_id`, if it has none of its own.
 *
 * @param record JSON text of an object.
 */
export function withId(record: string, ownId: number | null, rowId: number): string {
  // A further field of that name is the service's own, and stays.
  if (ownId !== null || (record.includes('"_id"') && '_id' in JSON.parse(record))) return record;
  return `{"_id":${rowId}${record === '{}' ? '' : ','}${record.slice(1)}`;
}
