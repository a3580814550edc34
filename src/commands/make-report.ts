import type { Page, Root } from '../render/report/frame.ts';
import { version } from '../version.ts';
import { inSlices } from './in-slices.ts';

/** What is asked of a report; without anything it is about the last 30 days, in UTC. */
interface AskedReport {
  /** A moment, or a length that is counted back from the end. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly timezone?: string | undefined;
  /** What stands at its top; a name of its own where it is left out. */
  readonly title?: string | undefined;
}

/** The report of a mirror as it stands, made in slices; what it takes is loaded only now. */
export async function makeReport(
  database: string,
  maxAgeMs: number | null,
  root: Root,
  { since, until, timezone = 'UTC', title }: AskedReport = {},
): Promise<Page> {
  const { reportPeriod } = await import('./report-period.ts');
  const { ReportReader } = await import('../store/read/report-reader.ts');
  const { reportPage } = await import('../render/report/page.ts');
  const nowMs = Date.now();
  const period = reportPeriod({ since, until, timezone }, nowMs);
  using reader = new ReportReader(database);
  const data = await inSlices(reader.report(period));
  return reportPage(data, { nowMs, maxAgeMs, version, root, title });
}
