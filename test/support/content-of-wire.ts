import { createHash } from 'node:crypto';

/** The content by its definition: canonical JSON without names of connections and without fields that are null. */
export function contentOfWire(resource: string, text: string): Buffer {
  const record: Record<string, unknown> = JSON.parse(text);
  for (const name of ['sourceConnection', 'destinationConnection']) record[name] = idAlone(record[name]);
  if (resource === 'webhooks' && Array.isArray(record.connections))
    record.connections = record.connections.map(idAlone);
  const names = Object.keys(record)
    .filter(name => record[name] !== null && record[name] !== undefined)
    .sort();
  const canonical = JSON.stringify(Object.fromEntries(names.map(name => [name, record[name]])));
  return createHash('sha256').update(canonical).digest().subarray(0, 16);
}

function idAlone(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'id' in value ? { id: value.id } : value;
}
