import canonicalize from 'canonicalize';

/** What SQLite gives for a column. */
export type ColumnValue = string | number | null | Uint8Array;

/**
 * A row of a table as canonical JSON (RFC 8785) by its columns' names: without those that are null, a BLOB as lower-case hexadecimal
 * digits. Source: docs/audit.md.
 */
export function canonicalRow(row: Readonly<Record<string, ColumnValue>>): string {
  const members = Object.entries(row)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value]);
  return canonicalize(Object.fromEntries(members)) as string;
}
