import { CsvEncoder, type TableEncoder } from '../../render/export-formats.ts';
import { ParquetEncoder } from '../../render/parquet.ts';
import type { AtomicFile } from '../../store/file/atomic-file.ts';
import type { ExportColumn, ExportValue } from '../../store/read/export-tables.ts';
import type { TimeSlice } from '../../time-slice.ts';

/** The formats that `export` writes, in the order in which its help names them. */
export const exportFormats = ['ndjson', 'csv', 'parquet'] as const;

/** One of the formats that `export` writes. */
export type ExportFormat = (typeof exportFormats)[number];

/** The rows of one file, in both forms in which they can be written. */
interface RowSource {
  readonly columns: readonly ExportColumn[];
  rows(): Iterable<readonly ExportValue[]>;
  /** The rows as JSON, without line feeds. */
  lines(): Iterable<string>;
}

interface WriteTask {
  readonly format: ExportFormat;
  readonly forSpreadsheet: boolean;
  readonly slice: TimeSlice;
  /** Told how many rows are written. */
  readonly onRows: (count: number) => void;
}

/** Writes a whole file, which then waits for its name, and returns how many rows it has. Its memory does not grow with them. */
export async function writeTable(task: WriteTask, file: AtomicFile, source: RowSource): Promise<number> {
  try {
    const rowCount =
      task.format === 'ndjson'
        ? await each(task, source.lines(), line => file.write(`${line}\n`))
        : await encode(task, source, file);
    file.finish();
    return rowCount;
  } catch (error) {
    file.discard();
    throw error;
  }
}

async function encode(task: WriteTask, source: RowSource, file: AtomicFile): Promise<number> {
  const encoder: TableEncoder =
    task.format === 'csv'
      ? new CsvEncoder(source.columns, file.write, task.forSpreadsheet)
      : new ParquetEncoder(source.columns, file.write);
  const rowCount = await each(task, source.rows(), row => encoder.add(row));
  encoder.finish();
  return rowCount;
}

async function each<T>(
  { slice, onRows }: WriteTask,
  items: Iterable<T>,
  write: (item: T) => void,
): Promise<number> {
  let count = 0;
  for (const item of items) {
    write(item);
    count++;
    if (!slice.isOver) continue;
    onRows(count);
    await slice.next();
  }
  onRows(count);
  return count;
}
