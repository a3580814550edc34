import { contentOfJson } from '../../contract/record-content.ts';
import { tryToRead } from '../tables/readable.ts';
import type { RecordLife, StoredVersion } from '../tables/record-lives.ts';
import type { Provenance } from '../tables/standing-record.ts';
import type { Differences } from './differences.ts';

/** A row whose past is compared with the history. */
export type LivingRow = Provenance & { readonly id: number };

/** A version or the row itself, as one step in a record's life. */
type Link = Pick<StoredVersion, 'firstSeenRunId' | 'validFromRunId'>;

/** Checks that a record's versions follow each other without a gap or an overlap, and that their runs are recorded. */
export class LifeCheck {
  readonly #table: string;
  readonly #runIds: ReadonlySet<number>;
  readonly #differences: Differences;
  readonly #knownAfter: number;

  /** @param knownAfter the last run whose ended versions were deleted, or before a rebuild; 0 if there is none. Both leave gaps. */
  constructor(table: string, runIds: ReadonlySet<number>, differences: Differences, knownAfter: number) {
    this.#knownAfter = knownAfter;
    this.#table = table;
    this.#runIds = runIds;
    this.#differences = differences;
  }

  check({ recordId, versions, row }: RecordLife<LivingRow>): void {
    for (const version of versions) this.#checkVersion(version);
    if (row !== null) this.#checkRuns(this.#table, row.id, [row.firstSeenRunId, row.changedRunId]);
    for (const [at, version] of versions.entries()) {
      const problem = problemBetween(versions[at - 1], version, this.#knownAfter);
      if (problem !== null)
        this.#differences.add('record_history', version.id, `${this.#table} ${recordId}: ${problem}`);
    }
    const last = versions.at(-1);
    if (row !== null) {
      const link = { firstSeenRunId: row.firstSeenRunId, validFromRunId: row.changedRunId };
      const problem = problemBetween(last, link, this.#knownAfter);
      if (problem !== null) this.#differences.add(this.#table, row.id, problem);
    } else if (last?.endedBy === 'update' && last.validToRunId > this.#knownAfter) {
      const problem = `the version that run ${last.validToRunId} put in its place is missing`;
      this.#differences.add('record_history', last.id, `${last.resource} ${recordId}: ${problem}`);
    }
  }

  #checkVersion(version: StoredVersion): void {
    const { id, resource, recordId, firstSeenRunId, validFromRunId, validToRunId, endedBy } = version;
    const add = (what: string) =>
      this.#differences.add('record_history', id, `${resource} ${recordId}: ${what}`);
    const { record } = version;
    const content = record === null ? null : tryToRead(() => contentOfJson(resource, record));
    // An erased version has no text to compare, so only the receipts check its content hash.
    if (content !== null && (!('value' in content) || content.value !== version.content))
      add('the record and its content disagree');
    if (validFromRunId >= validToRunId)
      add(`it ended with run ${validToRunId}, but began with run ${validFromRunId}`);
    if (endedBy !== 'update' && endedBy !== 'removal')
      add(`ended_by is ${JSON.stringify(endedBy)}, neither update nor removal`);
    this.#checkRuns('record_history', id, [firstSeenRunId, validFromRunId, validToRunId]);
  }

  #checkRuns(table: string, id: number, runIds: readonly number[]): void {
    for (const runId of new Set(runIds)) {
      if (!this.#runIds.has(runId)) this.#differences.add(table, id, `run ${runId} is not recorded`);
    }
  }
}

/** The fault between a version and the one before, in words; null if there is none. */
function problemBetween(before: StoredVersion | undefined, link: Link, knownAfter: number): string | null {
  const isInsert = link.firstSeenRunId === link.validFromRunId;
  // A rebuild drops rows without a trace. Records that the service still has begin again.
  const isNewAfterRebuild = isInsert && before !== undefined && before.validToRunId <= knownAfter;
  if (before === undefined || before.endedBy === 'removal' || isNewAfterRebuild) {
    const overlaps = before !== undefined && link.validFromRunId < before.validToRunId;
    if (overlaps) return `it overlaps with the version that ended with run ${before.validToRunId}`;
    return isInsert || link.validFromRunId <= knownAfter
      ? null
      : `the version that run ${link.validFromRunId} ended is missing from record_history`;
  }
  if (link.validFromRunId < before.validToRunId)
    return `it overlaps with the version that ended with run ${before.validToRunId}`;
  if (link.validFromRunId > before.validToRunId && link.validFromRunId > knownAfter)
    return `a version is missing before it, from run ${before.validToRunId} to ${link.validFromRunId}`;
  return link.firstSeenRunId === before.firstSeenRunId || link.validFromRunId > before.validToRunId
    ? null
    : `it was first seen by run ${link.firstSeenRunId}, the version before by run ${before.firstSeenRunId}`;
}
