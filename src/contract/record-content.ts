import { isDeepStrictEqual } from 'node:util';
import { parseKept } from './canonical.ts';
import { connectionContent, normalExtra, type RecordValues } from './content.ts';
import { arrayFields, type ListDefinition, listOf, type Scalar, scalarFields } from './lists.ts';
import { type MirrorRecord, readRecords } from './record.ts';
import { readWireConnection } from './wire.ts';

/**
 * The content of a record, in 32 hexadecimal digits, from its JSON in the service's own shape.
 *
 * @param resource a list, or `connections`.
 * @throws SyntaxError, TypeError if the text is not a record of that resource.
 */
export function contentOfJson(resource: string, json: string): string {
  if (resource === 'connections') return connectionContent(readWireConnection(json)).toString('hex');
  const record = readItem(listOf(resource), json);
  if (record === undefined) throw new TypeError(`The text is not a record of ${resource}.`);
  return record.content.toString('hex');
}

/**
 * A record as docmirror writes it: a field that fits its columns is there, not in `extra`, so that queries of the
 * columns find it. Returns the same object if the record is so already.
 *
 * @throws SyntaxError, TypeError if `extra` is not a JSON object.
 */
export function normalRecord(list: ListDefinition, record: RecordValues): RecordValues {
  const extra = normalExtra(record.extra);
  if (extra === null) return record.extra === null ? record : { ...record, extra };
  const further = parseKept(extra) as Record<string, unknown>;
  const [scalars, arrays] = [[...record.scalars], [...record.arrays]];
  // If the list has ids, the id belongs in its column, whatever its value.
  let isMoved = list.identity.by === 'id' && Object.hasOwn(further, 'id');
  if (isMoved) delete further.id;
  for (const field of list.fields) {
    const held = Object.hasOwn(further, field.name) ? readAlone(list, field.name, further) : undefined;
    if (held === undefined) continue;
    if (!Object.hasOwn(JSON.parse(held.extra ?? '{}'), field.name)) {
      delete further[field.name];
      isMoved = true;
      const at = scalarFields(list).findIndex(({ name }) => name === field.name);
      if (at >= 0) scalars[at] = held.scalars[at] as Scalar;
    }
    const at = arrayFields(list).findIndex(({ name }) => name === field.name);
    if (at >= 0) arrays[at] = held.arrays[at] as Scalar[];
  }
  if (extra === record.extra && !isMoved && isDeepStrictEqual(arrays, record.arrays)) return record;
  return { ...record, scalars, arrays, extra: isMoved ? normalExtra(JSON.stringify(further)) : extra };
}

/** A record with that field alone; undefined if no column can have a value of this kind. */
function readAlone(list: ListDefinition, name: string, values: Readonly<Record<string, unknown>>) {
  return readItem(list, JSON.stringify({ id: 0, [name]: values[name] }));
}

function readItem(list: ListDefinition, json: string): MirrorRecord | undefined {
  const part = { text: () => `[${json}]`, items: [JSON.parse(json)] };
  return readRecords(list, { count: 1, parts: [part] }).records[0];
}
