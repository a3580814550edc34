/**
 * A record in the service's shape, with the id of its row under `_id` if it has no id of its own.
 *
 * @param record JSON text of an object.
 */
export function withId(record: string, ownId: number | null, rowId: number): string {
  // If the service sends a field of that name, it stays.
  if (ownId !== null || (record.includes('"_id"') && '_id' in JSON.parse(record))) return record;
  return `{"_id":${rowId}${record === '{}' ? '' : ','}${record.slice(1)}`;
}
