// What the receipt of a run states, computed from the tables when the run ends, and again by `verify`.

import { type ColumnValue, canonicalRow, LinesHash } from '../../audit/hashes.ts';
import { type ListReceipt, type ListSum, type RunReceipt, receiptOrNull } from '../../audit/receipt.ts';
import { keptResources, lists, tableOf } from '../../contract/lists.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';
import { allRows, firstRow, firstValue, type Sqlite } from '../tables/ask.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { ignoredNames } from '../tables/ignored-fields.ts';
import { reasonsIn } from '../tables/reasons.ts';
import { factKindOf } from '../tables/service-facts.ts';
import { keptBy, keptSums } from './kept.ts';
import { ReceiptLog } from './receipt-log.ts';

type Resource = ListSum['resource'];
type Row = Record<string, ColumnValue>;
type RunRow = Omit<RunReceipt, 'kind' | 'mirrorId' | 'runId' | 'books' | 'rejected' | 'facts' | 'lists'>;
type ListRow = Omit<ListReceipt, 'changes' | 'ended' | 'ignoredFields' | 'readSince' | 'reasons'> & {
  readonly ignored: string | null;
  readonly since: string | null;
  readonly why: string | null;
};
type Work = ReadonlyMap<string, Partial<RunReceipt['lists'][number]>>;

/** The changes of one run in each list, and in the connections. */
export type RunChanges = ReturnType<RunComposer['changes']>;

interface OwnRows {
  readonly table: string;
  readonly where: string;
  /** The columns that its receipt does not cover. */
  readonly left: readonly string[];
}

/** The rows that a run wrote about itself. */
const runRows: readonly OwnRows[] = [
  { table: 'sync_runs', where: 'id = ?', left: [] },
  // A generated column adds no information.
  { table: 'sync_run_resources', where: 'run_id = ? ORDER BY resource', left: ['error'] },
];
// Later runs change last_run_id, and the text can be erased. Its content hash covers it, and 0.5 had no identity.
const rejectedRows: OwnRows = {
  table: 'rejected_records',
  where: 'run_id = ? ORDER BY id',
  left: ['last_run_id', 'record', 'identity'],
};

/** SQLite writes the lines of `changes`, because joining an id and a content for each row here would take twice as long. */
const changesOf = (resource: Resource) =>
  `SELECT operation || char(9) || id || char(9) || lower(hex(content)) || char(10) FROM (
     SELECT iif(_first_seen_run_id = @runId, 'insert', 'update') AS operation, id, _content AS content
     FROM ${tableOf(resource)} WHERE _changed_run_id = @runId
     UNION ALL
     SELECT iif(first_seen_run_id = @runId, 'insert', 'update'), record_id, content
     FROM record_history WHERE +resource = '${resource}' AND valid_from_run_id = @runId
     UNION ALL
     SELECT 'removal', record_id, content
     FROM record_history WHERE +resource = '${resource}' AND valid_to_run_id = @runId AND ended_by = 'removal')
   ORDER BY operation, id`;

/** Lines of so many inserted rows are one text: a text for each takes three times as long. */
export const rowsPerText = 2_000;

/** Of a run that only inserted rows, and whose rows are all as it wrote them: the last id of some rows, their lines, and their contents. */
const insertionsOf = (resource: Resource) =>
  `SELECT max(id) AS last, count(*) AS count, group_concat('insert' || char(9) || id || char(9) || lower(hex(content)) || char(10), '') AS lines,
     CAST(group_concat(content, '') AS BLOB) AS contents
   FROM (SELECT id, _content AS content FROM ${tableOf(resource)} WHERE _changed_run_id = @runId AND id > @after ORDER BY id LIMIT ${rowsPerText})`;
/** Whether a run is one of many insertions and nothing else, as the first one of a list. Small runs do not pay for further statements. */
const isOfInsertions = (resource: Resource) =>
  `SELECT EXISTS (SELECT 1 FROM ${tableOf(resource)} WHERE _changed_run_id = @runId LIMIT 1 OFFSET ${rowsPerText})
     AND NOT EXISTS (SELECT 1 FROM ${tableOf(resource)} WHERE _changed_run_id = @runId
       AND (_first_seen_run_id IS NOT @runId OR length(_content) IS NOT ${contentBytes}))
     AND NOT EXISTS (SELECT 1 FROM record_history WHERE +resource = '${resource}' AND valid_from_run_id = @runId)
     AND NOT EXISTS (SELECT 1 FROM record_history WHERE +resource = '${resource}' AND valid_to_run_id = @runId AND ended_by = 'removal')`;

interface Insertions {
  readonly last: number;
  readonly count: number;
  readonly lines: string | null;
  readonly contents: Buffer | null;
}

/** Composes receipts of runs from the tables, to write and to compare them. Rows are found by their run, and not kept in memory. */
export class RunComposer {
  readonly #sqlite;
  readonly #changes;
  readonly #ended;

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
    this.#changes = keptResources.map(resource => {
      type Of = { readonly runId: number };
      return {
        resource,
        lines: sqlite.prepare<[Of], string>(changesOf(resource)).pluck(),
        isOfInsertions: sqlite.prepare<[Of], number>(isOfInsertions(resource)).pluck(),
        insertions: sqlite.prepare<[Of & { readonly after: number }], Insertions>(insertionsOf(resource)),
      };
    });
    // The plus keeps SQLite from reading all versions of the list.
    const ended = `SELECT ended_by, first_seen_run_id, record, record_id, valid_from_run_id, content
      FROM record_history WHERE valid_to_run_id = ? AND +resource = ? ORDER BY record_id, id`;
    this.#ended = sqlite.prepare<[runId: number, resource: string], Row>(ended);
  }

  changes(runId: number) {
    const changes = this.#changes.map(({ resource, lines, isOfInsertions, insertions }) => {
      const hash = new LinesHash();
      /** The contents that the run put into the list. */
      let began = new Sum();
      const isMany = isOfInsertions.get({ runId }) === 1;
      let [after, left] = [Number.NEGATIVE_INFINITY, isMany];
      while (left) {
        const some = insertions.get({ runId, after }) as Insertions;
        hash.add(some.lines ?? '', some.count);
        began = began.plus(Sum.of(some.contents ?? new Uint8Array()));
        [after, left] = [some.last, some.count === rowsPerText];
      }
      for (const line of isMany ? [] : lines.iterate({ runId })) {
        hash.add(line);
        if (!line.startsWith('removal')) began.add(line.slice(-2 * contentBytes - 1, -1));
      }
      /** Those that it took out: of records that it removed, and the old ones of records that it updated. */
      const { ended, gone } = this.ended(runId, resource);
      const hashes = { changes: hash.digest(), ended };
      return [resource, { count: hash.count, hashes, began, gone }] as const;
    });
    return new Map(changes);
  }

  /** The receipt's `ended`, 64 hexadecimal digits, and the contents of the versions that the run ended. */
  ended(runId: number, resource: string) {
    const [hash, gone] = [new LinesHash(), new Sum()];
    for (const { content, ...row } of this.#ended.iterate(runId, resource)) {
      hash.add(`${canonicalRow(row)}\n`);
      gone.add(content as Buffer);
    }
    return { ended: hash.digest(), gone };
  }

  /**
   * The receipt of an ended run; null if there is none. `work` has the hashes of each list, and all of the connections if changed.
   *
   * @param facts the hash of the facts of the service after the run; null for the form of docmirror 0.5 and older, which has none, and in
   * which `books` covers the rejected records.
   */
  compose(runId: number, mirrorId: string, work: Work, facts: string | null): RunReceipt | null {
    const ofRun = `SELECT status, "trigger", started_at AS startedAt, completed_at AS completedAt, docmirror_version AS docmirrorVersion,
      base_url AS baseUrl, coalesce(_actor, '') AS actor FROM sync_runs WHERE id = ?`;
    const run = firstRow<RunRow>(this.#sqlite, ofRun, runId);
    if (run === undefined) return null;
    const ofLists = `SELECT resource, status, completeness, inserted, updated, removed, rejected, removals_withheld AS removalsWithheld,
      record_count AS recordCount, checksum, ignored_fields AS ignored, read_since AS since, reasons AS why FROM sync_run_resources WHERE run_id = ?`;
    const rows = allRows<ListRow>(this.#sqlite, ofLists, runId);
    const stated = lists.flatMap(({ resource }) => rows.filter(row => row.resource === resource));
    const connections = work.get('connections');
    const all = [
      ...stated.map(({ ignored, since, why, ...row }) => {
        // Receipts of older versions have no such members.
        const news = {
          ...(ignored !== null && { ignoredFields: ignoredNames(ignored) }),
          ...(since !== null && { readSince: since }),
          ...(why !== null && { reasons: reasonsIn(why) }),
        };
        return { ...work.get(row.resource), ...row, ...news };
      }),
      ...(connections === undefined ? [] : [connections]),
    ] as RunReceipt['lists'];
    const rejected = this.rejected(runId, facts === null);
    const books = facts === null ? rejected.hash : this.#hashOf(runId, runRows).digest();
    const news = facts !== null && { facts, rejected };
    return { ...run, kind: 'run', mirrorId, runId, books, ...news, lists: all };
  }

  /** How many rejected records a run has, and the hash over them; of a run of 0.5 its `books`, which have them, too. */
  rejected(runId: number, isOf05: boolean): { readonly count: number; readonly hash: string } {
    const rows = this.#hashOf(runId, [rejectedRows]);
    const { count } = rows;
    const hash = isOf05 ? this.#hashOf(runId, [...runRows, rejectedRows]) : rows;
    return { count, hash: hash.digest() };
  }

  /** The hash over a line for each of these rows of a run. */
  #hashOf(runId: number, tables: readonly OwnRows[]): LinesHash {
    const hash = new LinesHash();
    for (const { table, where, left } of tables) {
      // A run can have rejected a whole list.
      const rows = this.#sqlite.prepare<[number], Row>(`SELECT * FROM ${table} WHERE ${where}`);
      for (const row of rows.iterate(runId)) {
        for (const name of left) delete row[name];
        hash.add(`${table}\t${canonicalRow(row)}\n`);
      }
    }
    return hash;
  }
}

/** The receipt's `facts`, 64 hexadecimal digits: over what runs have seen of the service, but for times and rates. */
export function factsHash(sqlite: Sqlite): string {
  const hash = new LinesHash();
  for (const row of allRows<Row>(sqlite, 'SELECT * FROM service_facts ORDER BY resource, fact'))
    if (factKindOf(String(row.fact))?.isMeasured !== true) hash.add(`service_facts\t${canonicalRow(row)}\n`);
  return hash.digest();
}

/** Writes the receipt of a run, in the transaction that ends it. */
export function writeRunReceipt(sqlite: Sqlite, runId: number): void {
  const [log, composer] = [new ReceiptLog(sqlite), new RunComposer(sqlite)];
  const changes = composer.changes(runId);
  const connections = sumAfter(lastState(sqlite, 'connections'), changes, 'connections');
  const receipt = composer.compose(runId, log.mirrorId(), workOf(changes, connections), factsHash(sqlite));
  if (receipt !== null) log.append(receipt);
}

/** The sum of a list, or of the connections, after the changes of a run. */
export function sumAfter(sum: Sum, changes: RunChanges, resource: Resource): Sum {
  const ofList = changes.get(resource);
  return ofList === undefined ? sum : sum.plus(ofList.began).minus(ofList.gone);
}

/** What rows and history say for a run's receipt, with the sum of the connections after it if it changed some. */
export function workOf(changes: RunChanges, connections: Sum): Work {
  const work = new Map<string, Partial<RunReceipt['lists'][number]>>();
  for (const [resource, { count, hashes }] of changes)
    if (resource !== 'connections') work.set(resource, hashes);
    else if (count > 0) work.set(resource, { ...stateOf(resource, connections), ...hashes });
  return work;
}

/** Receipts that name a resource, the newest first. Those of connections have an index with this very condition. */
export const receiptsNaming = (resource: Resource) =>
  `SELECT receipt FROM sync_receipts WHERE instr(receipt, '"resource":"${resource}"') > 0 ORDER BY leaf_index DESC`;

/** The sum of a list, or of the connections, in the newest receipt that has it; an empty sum if none does. */
export function lastState(sqlite: Sqlite, resource: Resource): Sum {
  for (const text of sqlite.prepare<[], string>(receiptsNaming(resource)).pluck().iterate()) {
    const receipt = receiptOrNull(text);
    const states: readonly ListSum[] = receipt !== null && 'lists' in receipt ? receipt.lists : [];
    const state = states.find(list => list.resource === resource);
    if (state !== undefined) return sumOf(state);
  }
  return new Sum();
}

/** The sum of the content hashes beside the rows of a list, or of the connections, without those that `exceptRunId` wrote; 0 for all. */
export function sumOfContents(sqlite: Sqlite, resource: Resource, exceptRunId = 0): Sum {
  const sum = new Sum();
  const others = `SELECT _content FROM ${tableOf(resource)} WHERE _changed_run_id <> ?`;
  const contents = sqlite.prepare<[number], Buffer | null>(others).pluck();
  for (const content of contents.iterate(exceptRunId)) if (content?.length === contentBytes) sum.add(content);
  return sum;
}

/** The sum that a receipt states. Those of a share have none. */
export function sumOf({ recordCount, checksum }: ListSum): Sum {
  return Sum.from(recordCount, checksum ?? '0');
}

/** A list's sum in the form of a receipt. */
export function stateOf(resource: Resource, sum: Sum): ListSum {
  return { resource, recordCount: sum.count, checksum: sum.toString() };
}

/** The receipts of a kind that no run writes. */
export const ofKind = (kind: 'prune' | 'rebuild' | 'upgrade' | 'erase' | 'restore') =>
  `sync_receipts WHERE run_id IS NULL AND instr(receipt, '"kind":"${kind}"') > 0 AND json_valid(receipt)`;

/** Up to which time and run ended versions were deleted, null and 0 if none ever were; and how the receipt says what was left. */
export function readPruned(sqlite: Sqlite) {
  // The clock of the pruning might have been ahead. Runs that ended after its receipt do not count, whatever their times are.
  const pruning = `SELECT receipt ->> 'before' AS before, receipt AS text, receipt ->> 'throughRunId' AS throughRunId,
      (SELECT min(run_id) - 1 FROM sync_receipts AS run WHERE run.leaf_index > prune.leaf_index) AS lastRunId
    FROM (SELECT * FROM ${ofKind('prune')} ORDER BY leaf_index DESC LIMIT 1) AS prune`;
  type Pruned = { before: string; text: string; throughRunId: number | null; lastRunId: number | null };
  const newest = firstRow<Pruned>(sqlite, pruning);
  if (newest === undefined) return { before: null, throughRunId: 0, keptBy: null };
  const { before, text, lastRunId } = newest;
  const through = newest.throughRunId ?? new EndedRuns(sqlite).lastOfAllBy(before);
  const receipt = receiptOrNull(text);
  return {
    // It can have deleted rejected records alone.
    before: through === 0 ? null : before,
    throughRunId: Math.min(through, lastRunId ?? through),
    keptBy: receipt?.kind === 'prune' ? keptBy(receipt) : null,
  };
}

/** The last run before the newest rebuild or upgrade; 0 if there is none. The state before a rebuild can't be read any more. */
export function lastRunBefore(sqlite: Sqlite, kind: 'rebuild' | 'upgrade'): number {
  const last = `SELECT max(run_id) FROM sync_receipts WHERE leaf_index < (SELECT max(leaf_index) FROM ${ofKind(kind)})`;
  return firstValue<number>(sqlite, last) ?? 0;
}

/** What the receipt of an upgrade or a rebuild states of the present lists, without the rows that `exceptRunId` wrote; 0 for all. */
export function acceptedNow(sqlite: Sqlite, exceptRunId = 0) {
  const last = firstValue<number>(sqlite, 'SELECT max(run_id) FROM sync_receipts') ?? 0;
  const stated = keptResources.map(each => stateOf(each, sumOfContents(sqlite, each, exceptRunId)));
  return { lists: stated, kept: keptSums(sqlite, last) };
}
