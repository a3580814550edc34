import type { Page, Root } from '../render/report/frame.ts';
import { version } from '../version.ts';
import { inSlices } from './in-slices.ts';

/** The period and title of a report; the default is the last 30 days, in UTC. */
interface AskedReport {
  /** A moment, or a length that is counted back from the end. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly timezone?: string | undefined;
  /** The heading; the report has a default one. */
  readonly title?: string | undefined;
}

/** The report of a mirror, made in slices; its modules are loaded only now. */
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
