import { existsSync } from 'node:fs';
import type { Labels } from '../config/parse.ts';
import { mergeMetrics } from '../serve/merge-metrics.ts';
import { mirrorMetrics } from '../serve/metrics.ts';
import { ReportReader } from '../store/read/report-reader.ts';
import { version } from '../version.ts';

/** A mirror whose metrics are written, and the labels of each metric. */
interface LabelledMirror {
  readonly database: string;
  readonly labels: Labels;
}

/** The metrics of mirrors in the text format of Prometheus, without those of the process. A metric reports a mirror that can't be read. */
export async function metricsText(mirrors: readonly LabelledMirror[]): Promise<string> {
  const texts: string[] = [];
  for (const { database, labels } of mirrors) {
    const read = () => {
      if (!existsSync(database)) return null;
      using reader = new ReportReader(database);
      return reader.figures();
    };
    texts.push(await mirrorMetrics({ version, labels, ofProcess: false }, read).text());
  }
  return mergeMetrics(texts);
}
