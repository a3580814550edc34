import type Database from 'better-sqlite3';
import type { ListDefinition } from '../../contract/lists.ts';
import { readContent } from '../../contract/page.ts';
import { type MirrorRecord, readRecords } from '../../contract/record.ts';
import { MirrorFileError } from '../../errors.ts';
import type { StandingRecord } from './standing-record.ts';

/** A version of a record that ended. */
export interface StoredVersion {
  readonly id: number;
  readonly resource: string;
  readonly recordId: number;
  readonly firstSeenRunId: number;
  readonly validFromRunId: number;
  /** Null if it was erased. */
  readonly record: string | null;
  /** 32 hexadecimal digits. */
  readonly content: string;
}

/** The ended versions that fit a condition in SQL, the first written first. */
export function storedVersions(
  sqlite: Database.Database,
  condition: string,
  ...values: readonly (string | number)[]
): IterableIterator<StoredVersion> {
  return sqlite
    .prepare<(string | number)[], StoredVersion>(
      `SELECT id, resource, record_id AS recordId, first_seen_run_id AS firstSeenRunId,
        valid_from_run_id AS validFromRunId, record, lower(hex(content)) AS content
       FROM record_history WHERE ${condition} ORDER BY id`,
    )
    .iterate(...values);
}

/** Versions are parsed together up to this number, because each page that is parsed has a fixed cost. */
const versionsPerPage = 200;

/** A version whose text was not erased. */
type KeptVersion = StoredVersion & { readonly record: string };

/** A version that ended, as a record. */
interface RestoredVersion extends StandingRecord {
  readonly version: KeptVersion;
}

/**
 * Reads versions of a list's records back from the history. They are parsed like a page of the service, so each gets the same
 * columns that it was written from. Erased versions are left out.
 */
export function* restoredVersions(
  list: ListDefinition,
  versions: Iterable<StoredVersion>,
): Generator<RestoredVersion> {
  let batch: KeptVersion[] = [];
  for (const version of versions) {
    if (!isKept(version)) continue;
    batch.push(version);
    if (batch.length < versionsPerPage) continue;
    yield* restore(list, batch);
    batch = [];
  }
  yield* restore(list, batch);
}

function isKept(version: StoredVersion): version is KeptVersion {
  return version.record !== null;
}

function* restore(list: ListDefinition, versions: readonly KeptVersion[]): Generator<RestoredVersion> {
  const records = readBack(list, versions);
  for (const [at, version] of versions.entries()) {
    const { recordId: id, firstSeenRunId, validFromRunId: changedRunId } = version;
    yield { id, record: records[at] as MirrorRecord, firstSeenRunId, changedRunId, version };
  }
}

function readBack(list: ListDefinition, versions: readonly KeptVersion[]): readonly MirrorRecord[] {
  const items = versions.map(({ record }) => record).join(',');
  try {
    const { records } = readRecords(list, readContent(Buffer.from(`[${items}]`)));
    if (records.length === versions.length) return records;
  } catch {
    // The code below finds the record that can't be read.
  }
  if (versions.length === 1) {
    throw new MirrorFileError(
      `record_history ${versions[0]?.id} contains a text that is not a record. "docmirror verify" shows what else is wrong.`,
    );
  }
  return versions.flatMap(version => readBack(list, [version]));
}
