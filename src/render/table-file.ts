/** The formats of files with a row for each record, in the order in which help names them. */
export const fileFormats = ['ndjson', 'csv', 'parquet', 'xlsx'] as const;

/** The writer of a format with columns, loaded when it is needed. Its memory does not grow with the rows. */
export async function tableWriter(format: 'csv' | 'parquet' | 'xlsx') {
  if (format === 'csv') return (await import('./csv.ts')).csvPieces;
  if (format === 'parquet') return (await import('./parquet.ts')).parquetPieces;
  return (await import('./xlsx.ts')).xlsxPieces;
}
