import type Database from 'better-sqlite3';
import type { Rejection } from '../../contract/record.ts';
import { identityHash, rejectedContent, rejectedIdentity } from '../tables/rejected-identity.ts';
import type { ListContext } from './mirror.ts';
import type { ReadList } from './sync-state.ts';

const recordsPerStep = 1_000;

/** Staged records. One whose identity can't be read has its place instead, and is also known by its content. */
const create = `CREATE TEMP TABLE rejected (n INTEGER PRIMARY KEY, identity BLOB NOT NULL, kind TEXT NOT NULL, content BLOB NOT NULL,
    place INTEGER NOT NULL, reason TEXT NOT NULL, record TEXT NOT NULL);
  CREATE INDEX temp.rejected_identity ON rejected (identity);
  CREATE INDEX temp.rejected_content ON rejected (content)`;

/** The records of a list that this run could not read, in a temporary table: one row for each identity, or else place, and reason. */
export class RejectedRecords {
  readonly #context: ListContext;
  #count = 0;
  #staging: ReturnType<typeof stagingIn> | null = null;

  constructor(context: ListContext) {
    this.#context = context;
  }

  get count(): number {
    return this.#count;
  }

  /** Notes the rejections of a page, before which `begin` records of the list come, and returns what can still be read of each. */
  add(rejections: readonly Rejection[], begin: number) {
    if (rejections.length === 0) return [];
    const { list, sqlite, ignored } = this.#context;
    this.#staging ??= stagingIn(sqlite);
    const { insert, known } = this.#staging;
    const onPage = new Map<string, number>();
    const addOne = ({ record, position, reason }: Rejection) => {
      const place = begin + position;
      const { key, identity, kind } = rejectedIdentity(list, record, place);
      const content = rejectedContent(record, ignored);
      const nth = (onPage.get(content.toString('hex')) ?? 0) + 1;
      onPage.set(content.toString('hex'), nth);
      // Of a list that moves, a record without an identity comes again at another place.
      const all = { identity, kind, content, place, reason, record };
      if (known.get({ ...all, nth }) === 0) {
        insert.run(all);
        this.#count++;
      }
      return { position, key, content: kind === 'place' ? content : identity };
    };
    return sqlite.transaction(() => rejections.map(addOne))();
  }

  /** Whether one of them has an identity, as `identityOf` returns it. */
  hasIdentity(identity: string): boolean {
    return this.#staging?.ofIdentity.get(identityHash(identity)) !== undefined;
  }

  /** Whether one of them is of no readable identity, and was not there in the last run that was sure. */
  hasUnreadableNew(sureRunId: number): boolean {
    if (this.#count === 0) return false;
    const { list, sqlite } = this.#context;
    const before = `rejected_records r WHERE resource = @resource AND @sureRunId BETWEEN run_id AND last_run_id`;
    const isNew = `SELECT 1 FROM temp.rejected t WHERE kind <> 'whole'
      AND (kind = 'place' OR NOT EXISTS (SELECT 1 FROM ${before} AND r.identity = t.identity AND r.reason = t.reason))
      AND (SELECT count(*) FROM temp.rejected WHERE content = t.content) > (SELECT count(*) FROM ${before} AND r.content = t.content)
      LIMIT 1`;
    return sqlite.prepare(isNew).get({ resource: list.resource, sureRunId }) !== undefined; // guard: unreadable records
  }

  /** Writes them. A record that an earlier run rejected for the same reason keeps its row and its text; 0.5 knew no identities. */
  write({ runId, sqlite, list }: ListContext, { firstPageNo, pageSize }: ReadList): void {
    if (this.#count === 0) return;
    const bound = { runId, resource: list.resource, firstPageNo, pageSize };
    type Staged = { n: number; identity: Buffer; kind: string; content: Buffer; reason: string };
    const next = `SELECT n, identity, kind, content, reason FROM temp.rejected WHERE n > ? ORDER BY n LIMIT ${recordsPerStep}`;
    const staged = sqlite.prepare<[number], Staged>(next);
    // To sort what one question finds would take longer than two questions.
    const knownBy = (isSame: string) =>
      sqlite.prepare<object, { id: number | null }>(
        `SELECT id, max(last_run_id) FROM rejected_records WHERE ${isSame} AND resource = @resource AND last_run_id < @runId`,
      );
    const isSameReason = 'identity = @identity AND reason = @reason';
    const byIdentity = knownBy(isSameReason);
    const byContent = knownBy(
      `content = @content AND (+${isSameReason} OR identity IS NULL OR @kind = 'place')`,
    );
    const goOn = 'UPDATE rejected_records SET last_run_id = @runId, identity = @identity WHERE id = @id';
    const moveOn = sqlite.prepare(goOn);
    const write = `INSERT INTO rejected_records (run_id, last_run_id, resource, page_no, position, reason, record, content, identity)
      SELECT @runId, @runId, @resource, CAST(@firstPageNo AS INTEGER) + place / CAST(@pageSize AS INTEGER), place % CAST(@pageSize AS INTEGER), reason, record, content, identity
      FROM temp.rejected WHERE n = @n`;
    const insert = sqlite.prepare(write);
    for (let after: number | undefined = 0; after !== undefined; ) {
      const step: Staged[] = staged.all(after);
      for (const row of step) {
        const all = { ...bound, ...row };
        const id = byContent.get(all)?.id ?? byIdentity.get(all)?.id ?? null;
        if (id === null) insert.run(all);
        else moveOn.run({ ...all, id });
      }
      after = step.at(-1)?.n;
    }
  }
}

function stagingIn(sqlite: Database.Database) {
  sqlite.exec(create);
  // 0 if it is new: another one, or the nth with this content on one page.
  const isKnown = `SELECT EXISTS (SELECT 1 FROM temp.rejected WHERE identity = @identity AND reason = @reason)
    OR @kind = 'place' AND (SELECT count(*) FROM temp.rejected WHERE content = @content) >= @nth`;
  const insert = `INSERT INTO temp.rejected (identity, kind, content, place, reason, record)
    VALUES (@identity, @kind, @content, @place, @reason, @record)`;
  return {
    known: sqlite.prepare<object, number>(isKnown).pluck(),
    insert: sqlite.prepare(insert),
    ofIdentity: sqlite.prepare<[Buffer]>('SELECT 1 FROM temp.rejected WHERE identity = ?'),
  };
}

/** Leaves what a run does not read as the run before left it, and returns how many rejected records that are. */
export function carryRejectedOn({ runId, runs, sqlite, list: { resource } }: ListContext): number {
  const before = runs.last('written', resource)?.runId ?? 0;
  const carryOn = 'UPDATE rejected_records SET last_run_id = ? WHERE resource = ? AND last_run_id = ?';
  return sqlite.prepare(carryOn).run(runId, resource, before).changes;
}
