import { connectionContent } from './content.ts';
import { listOf } from './lists.ts';
import { pageReader } from './record.ts';
import { readWireConnection } from './wire.ts';

/**
 * The content of a record, in 32 hexadecimal digits, from its JSON in the service's own shape.
 *
 * @param resource a list, or `connections`.
 * @throws SyntaxError, TypeError where the text is no record of that resource.
 */
export function contentOfJson(resource: string, json: string): string {
  if (resource === 'connections') {
    const { id, name, extra } = readWireConnection(json);
    return connectionContent(id, name, extra).toString('hex');
  }
  const page = { text: `{"items":[${json}]}`, items: [JSON.parse(json)] };
  const [record] = pageReader(listOf(resource)).read(page).records;
  if (record === undefined) throw new TypeError(`The text is no record of ${resource}.`);
  return record.content.toString('hex');
}
