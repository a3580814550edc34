import type { CellValue, Column } from '../contract/cells.ts';

/** The formats of files with a row for each record, in the order in which help names them. */
export const fileFormats = ['ndjson', 'csv', 'parquet', 'xlsx'] as const;

/** One of these formats. */
export type FileFormat = (typeof fileFormats)[number];

/** Makes the content of a file from rows, piece by piece. Its memory does not grow with them. */
export type TableWriter = (
  columns: readonly Column[],
  rows: Iterable<readonly CellValue[]>,
) => Iterable<string | Uint8Array>;

/** The writer of a format with columns. It is loaded when it is needed. */
export async function tableWriter(format: Exclude<FileFormat, 'ndjson'>): Promise<TableWriter> {
  if (format === 'csv') return (await import('./csv.ts')).csvPieces;
  if (format === 'parquet') return (await import('./parquet.ts')).parquetPieces;
  return (await import('./xlsx.ts')).xlsxPieces;
}

/** True for a format whose bytes are not for a terminal. */
export function isBinary(format: string): boolean {
  return format === 'parquet' || format === 'xlsx';
}
