import type { ListDefinition } from '../../contract/lists.ts';
import { readContent } from '../../contract/page.ts';
import { type MirrorRecord, type PageReader, pageReader } from '../../contract/record.ts';
import { MirrorFileError } from '../../errors.ts';
import type { StoredVersion } from './record-lives.ts';
import type { StandingRecord } from './standing-record.ts';

/** Versions are read together up to this number: reading a page has its costs, however short it is. */
const versionsPerPage = 200;

/**
 * Reads versions of a list's records back from the history, by the same way as a page of the service: so what was kept in the
 * service's shape comes back as the very columns that it was written from.
 */
export function* restoredVersions(
  list: ListDefinition,
  versions: Iterable<StoredVersion>,
): Generator<StandingRecord> {
  const reader = pageReader(list);
  let batch: StoredVersion[] = [];
  for (const version of versions) {
    batch.push(version);
    if (batch.length < versionsPerPage) continue;
    yield* restore(reader, batch);
    batch = [];
  }
  yield* restore(reader, batch);
}

function* restore(reader: PageReader, versions: readonly StoredVersion[]): Generator<StandingRecord> {
  const records = readBack(reader, versions);
  for (const [at, { recordId, firstSeenRunId, validFromRunId }] of versions.entries()) {
    const record = records[at] as MirrorRecord;
    yield { id: recordId, record, firstSeenRunId, changedRunId: validFromRunId };
  }
}

const anyPagination = '"pagination":{"pageCount":1,"pageNo":1,"pageSize":1,"totalRecordCount":1}';

function readBack(reader: PageReader, versions: readonly StoredVersion[]): readonly MirrorRecord[] {
  const items = versions.map(({ record }) => record).join(',');
  try {
    const { records } = reader.read(readContent(Buffer.from(`{"items":[${items}],${anyPagination}}`)));
    if (records.length === versions.length) return records;
  } catch {
    // Which of them is at fault is found out below.
  }
  if (versions.length === 1) {
    throw new MirrorFileError(
      `record_history ${versions[0]?.id} holds what is no record. "docmirror verify" tells what else is wrong.`,
    );
  }
  return versions.flatMap(version => readBack(reader, [version]));
}
