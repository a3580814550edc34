import type { MirrorNumbers } from '../../serve/metrics.ts';
import { type MirrorFile, openForReading } from '../file/open.ts';
import { type ReportData, readReport } from './report-data.ts';
import { readFigures, readRevision } from './run-figures.ts';

/** Reads what a mirror comes to: its numbers and its report. It never writes. */
export class ReportReader implements Disposable {
  readonly #file: MirrorFile;

  /** @throws MirrorFileError where there is no mirror, or it can't be read. */
  constructor(path: string) {
    this.#file = openForReading(path);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** A short text that changes whenever a run has changed what the mirror holds, and only then. */
  revision(): string {
    return readRevision(this.#file.sqlite);
  }

  figures(): MirrorNumbers {
    return readFigures(this.#file.sqlite);
  }

  /** What the report tells, read in slices; until it is done, nothing else can be asked of this reader. */
  *report(): Generator<void, ReportData> {
    const { sqlite } = this.#file;
    // One state of the file, whatever a run writes meanwhile.
    sqlite.exec('BEGIN');
    try {
      return yield* readReport(sqlite);
    } finally {
      sqlite.exec('ROLLBACK');
    }
  }
}
