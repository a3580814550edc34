import { readContent } from '../../contract/page.ts';
import type { PageFindings, WalkEnvelope } from '../../sync/ports.ts';
import type { RunRecords } from './run-records.ts';
import type { Staging, WalkOrigin } from './staging.ts';
import type { WalkComparison } from './walk-comparison.ts';

/** A staged walk older than this is begun anew: what it read may have changed without a trace in the counts. */
const resumeAgeMsMax = 60 * 60 * 1000;

/**
 * Takes up the walk that an interrupted run left of a list: the pages that it had read need not be asked for again.
 *
 * @param firstDigest the digest of the first page's items as they are now.
 * @returns what the pages showed; nothing where the list, the service or the mirror is not what it was.
 */
export function takeUpStagedWalk(
  staging: Staging,
  records: RunRecords,
  resource: string,
  now: WalkEnvelope & { readonly baseUrl: string },
  firstDigest: string,
  walk: WalkComparison,
): PageFindings[] {
  const left = staging.lastWalk(resource);
  if (left === null || !isSameList(left.origin, now) || !isSameMirror(left.origin, resource, records))
    return [];
  if (Date.now() - left.begunAtMs >= resumeAgeMsMax) return [];
  if (staging.digestOfPage(resource, left.walk, now.firstPageNo) !== firstDigest) return [];
  staging.keepAsFirstWalk(resource, left.walk);
  const findings: PageFindings[] = [];
  for (const staged of staging.pages(resource, 1)) {
    walk.takeUp(staged, staged.news && readContent(staged.news.bytes));
    findings.push(staged.findings);
  }
  return findings;
}

function isSameList(origin: WalkOrigin, now: WalkEnvelope & { readonly baseUrl: string }): boolean {
  return (
    origin.baseUrl === now.baseUrl &&
    origin.firstPageNo === now.firstPageNo &&
    origin.pageSize === now.pageSize &&
    origin.pageCount === now.pageCount &&
    origin.totalRecordCount === now.totalRecordCount
  );
}

function isSameMirror(origin: WalkOrigin, resource: string, records: RunRecords): boolean {
  const lastAppliedRunId = records.lastApplied(resource)?.runId ?? 0;
  return records.startOf(origin.runId) === origin.runStartedAt && lastAppliedRunId < origin.runId;
}
