import type { AtomicFile } from '../../store/file/atomic-file.ts';
import type { MirrorReader } from '../../store/read/mirror-reader.ts';
import type { TimeSlice } from '../../time-slice.ts';
import type { ExportFormat } from './table.ts';

/** The settings that all parts of one export share. */
export interface ExportTask {
  readonly reader: MirrorReader;
  readonly format: ExportFormat;
  readonly folder: string;
  readonly isWanted: (resource: string) => boolean;
  /** In CSV, texts that a spreadsheet would run as formulas begin with an apostrophe. */
  readonly forSpreadsheet: boolean;
  readonly slice: TimeSlice;
  readonly onProgress: (rowsDone: number, rowCount: number) => void;
}

/** A file that was written whole and waits for its name. */
export interface WrittenFile {
  readonly file: AtomicFile;
  readonly rowCount: number;
}
