import type { Page, Root } from '../render/report/frame.ts';
import { version } from '../version.ts';
import { inSlices } from './in-slices.ts';

/** The report of a mirror as it stands, made in slices; what it takes is loaded only now. */
export async function makeReport(database: string, maxAgeMs: number | null, root: Root): Promise<Page> {
  const { ReportReader } = await import('../store/read/report-reader.ts');
  const { reportPage } = await import('../render/report/page.ts');
  using reader = new ReportReader(database);
  const data = await inSlices(reader.report());
  return reportPage(data, { nowMs: Date.now(), maxAgeMs, version, root });
}
