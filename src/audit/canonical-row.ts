import canonicalize from 'canonicalize';

/** A value of a column, as SQLite returns it. */
export type ColumnValue = string | number | null | Uint8Array;

/**
 * A row of a table as canonical JSON (RFC 8785), by the names of its columns. Null columns are left out. A BLOB is written in
 * lower-case hexadecimal digits. Source: docs/audit.md.
 */
export function canonicalRow(row: Readonly<Record<string, ColumnValue>>): string {
  const members = Object.entries(row)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value]);
  return canonicalize(Object.fromEntries(members)) as string;
}
