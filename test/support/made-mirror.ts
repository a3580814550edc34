import Database from 'better-sqlite3';
import { tableOf } from '../../src/contract/lists.ts';
import { hash16 } from '../../src/contract/sum.ts';
import { openInMemory } from '../../src/store/file/open-to-write.ts';
import { type ChangeKey, operations, placeOf } from '../../src/store/read/history/changes.ts';
import { newestGap } from '../../src/store/read/history/feed.ts';
import { registerFold } from '../../src/store/read/records/filter.ts';
import { ReceiptLog } from '../../src/store/receipts/receipt-log.ts';
import { acceptedNow, writeRunReceipt } from '../../src/store/receipts/statements.ts';

// A mirror in memory whose runs are written by SQL, some hundred a second, and a model of it in plain JavaScript.

/** What a run does to a record; `replace` removes it and gives its id to another one. */
export interface MadeEvent {
  readonly resource: MadeResource;
  readonly id: number;
  readonly kind: 'put' | 'remove' | 'replace';
  readonly name: string;
}

export const madeResources = ['collections', 'webhooks', 'connections'] as const;
export type MadeResource = (typeof madeResources)[number];
const nameColumns = { collections: 'name', webhooks: 'description', connections: 'name' } as const;

/** A change as the model expects it. */
export interface MadeChange extends ChangeKey {
  readonly resource: MadeResource;
  readonly name: string;
}

interface MadeRecord {
  readonly name: string;
  readonly first: number;
  readonly changed: number;
}

/** A copy of a mirror and of its model. */
export interface MadeBackup {
  readonly bytes: Buffer;
  readonly records: ReadonlyMap<string, MadeRecord>;
  readonly log: readonly MadeChange[];
}

/** Goes on over all copies of all mirrors, so that no two runs have the same times. */
let runsMade = 0;
const nextTime = () => new Date(Date.parse('2026-01-01T00:00:00Z') + 60_000 * runsMade++).toISOString();

let template: Buffer | undefined;
function emptyMirror(): Buffer {
  if (template === undefined) {
    const { sqlite, close } = openInMemory();
    template = sqlite.serialize();
    close();
  }
  return template;
}

export class MadeMirror implements Disposable {
  readonly sqlite: Database.Database;
  readonly #records: Map<string, MadeRecord>;
  readonly #log: MadeChange[];
  #running: number | null = null;

  constructor(from?: MadeBackup) {
    this.sqlite = new Database(from?.bytes ?? emptyMirror());
    registerFold(this.sqlite);
    keepStatements(this.sqlite);
    if (from === undefined)
      this.sqlite.exec('UPDATE _mirror SET mirror_id = lower(hex(randomblob(4))) || substr(mirror_id, 9)');
    this.#records = new Map(from?.records);
    this.#log = [...(from?.log ?? [])];
  }

  [Symbol.dispose](): void {
    this.sqlite.close();
  }

  /** The changes of ended runs in their order. */
  get log(): readonly MadeChange[] {
    return this.#log.filter(({ runId }) => runId !== this.#running);
  }

  /** The names of the records as the ended runs left them, by list and id. */
  get names(): ReadonlyMap<string, string> {
    const names = new Map<string, string>();
    for (const change of this.log) apply(names, change);
    return names;
  }

  /** True if nothing of its history was ever taken away. */
  get isWhole(): boolean {
    return newestGap(this.sqlite) === null;
  }

  /** Begins a run and writes what it does. It goes on until `end`. */
  begin(events: readonly MadeEvent[], rebuilds = false): void {
    this.end('interrupted');
    const { sqlite } = this;
    sqlite.transaction(() => {
      const at = nextTime();
      const run = sqlite.prepare(
        "INSERT INTO sync_runs (status, trigger, started_at, docmirror_version, base_url) VALUES ('running', 'manual', ?, 'test', 'https://made.example')",
      );
      const runId = Number(run.run(at).lastInsertRowid);
      this.#running = runId;
      const dropped = rebuilds ? this.#drop(runId, at) : [];
      const changes = [...dropped, ...events].flatMap(event => this.#play(runId, event));
      changes.sort(
        (a, b) =>
          placeOf(a.resource) - placeOf(b.resource) ||
          a.recordId - b.recordId ||
          operations.indexOf(a.operation) - operations.indexOf(b.operation),
      );
      this.#log.push(...changes);
      for (const resource of ['document-exports', 'collections', 'webhooks']) {
        const of = (operation: string) =>
          changes.filter(each => each.resource === resource && each.operation === operation).length;
        sqlite
          .prepare(
            `INSERT INTO sync_run_resources (run_id, resource, status, mode, completeness, inserted, updated, removed, started_at, completed_at, read_since)
             VALUES (?, ?, 'completed', 'full', 'proven', ?, ?, ?, ?, ?, ?)`,
          )
          .run(runId, resource, of('insert'), of('update'), of('removal'), at, nextTime(), at);
      }
    })();
  }

  /** Ends the run that goes on, if there is one, and writes its receipt. */
  end(status: 'completed' | 'interrupted' = 'completed'): void {
    if (this.#running === null) return;
    const completedAt = status === 'completed' ? nextTime() : null;
    this.sqlite
      .prepare('UPDATE sync_runs SET status = ?, completed_at = ? WHERE id = ?')
      .run(status, completedAt, this.#running);
    writeRunReceipt(this.sqlite, this.#running);
    this.#running = null;
  }

  run(events: readonly MadeEvent[]): void {
    this.begin(events);
    this.end();
  }

  /** Deletes the versions that ended with some runs or before, as DOCMIRROR_KEEP_HISTORY does. The model keeps all of them. */
  prune(throughRunId: number): void {
    const ended = 'SELECT completed_at FROM sync_runs WHERE id = ?';
    const before = this.sqlite.prepare<[number], string | null>(ended).pluck().get(throughRunId);
    if (before == null) return;
    const log = new ReceiptLog(this.sqlite);
    log.append({ kind: 'prune', mirrorId: log.mirrorId(), at: nextTime(), before });
    this.sqlite.prepare('DELETE FROM record_history WHERE valid_to_run_id <= ?').run(throughRunId);
  }

  /** A copy; a run that goes on is recorded in it as interrupted, as `backup` does. */
  backup(): MadeBackup {
    const all = { bytes: this.sqlite.serialize(), records: this.#records, log: this.#log };
    using copy = new MadeMirror(all);
    copy.#running = this.#running;
    copy.end('interrupted');
    return { bytes: copy.sqlite.serialize(), records: new Map(this.#records), log: [...this.#log] };
  }

  #play(runId: number, { resource, id, kind, name }: MadeEvent): MadeChange[] {
    const known = this.#records.get(keyOf(resource, id));
    const change = (operation: ChangeKey['operation'], text = name) =>
      ({ runId, resource, recordId: id, operation, name: text }) as const;
    // A run does one thing to a record.
    if (known?.changed === runId) return [];
    if (kind === 'put' && known?.name === name) return [];
    if (kind !== 'put' && known === undefined) return [];
    if (known !== undefined) this.#end(runId, resource, id, known, kind === 'put' ? 'update' : 'removal');
    if (kind === 'remove') this.#records.delete(keyOf(resource, id));
    else this.#write(runId, resource, id, name, kind === 'put' ? (known?.first ?? runId) : runId);
    if (kind === 'put') return [change(known === undefined ? 'insert' : 'update')];
    const removal = change('removal', known?.name);
    return kind === 'remove' ? [removal] : [removal, change('insert')];
  }

  #end(runId: number, resource: MadeResource, id: number, known: MadeRecord, endedBy: string): void {
    const record = JSON.stringify({ id, [nameColumns[resource]]: known.name });
    this.sqlite
      .prepare(
        'INSERT INTO record_history (id, resource, record_id, first_seen_run_id, valid_from_run_id, valid_to_run_id, ended_by, record, content) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)',
      )
      .run(resource, id, known.first, known.changed, runId, endedBy, record, hash16(known.name));
    this.sqlite.prepare(`DELETE FROM ${tableOf(resource)} WHERE id = ?`).run(id);
  }

  #write(runId: number, resource: MadeResource, id: number, name: string, first: number): void {
    this.#records.set(keyOf(resource, id), { name, first, changed: runId });
    this.sqlite
      .prepare(
        `INSERT INTO ${tableOf(resource)} (id, ${nameColumns[resource]}, _first_seen_run_id, _changed_run_id, _content) VALUES (?, ?, ?, ?, ?)`,
      )
      .run(id, name, first, runId, hash16(name));
  }

  /** Drops a record without a trace, as a rebuild does. The same run gets it again. */
  #drop(runId: number, at: string): MadeEvent[] {
    const found = [...this.#records].find(([key]) => !key.startsWith('connections'));
    const log = new ReceiptLog(this.sqlite);
    const dropped: MadeEvent[] = [];
    if (found !== undefined) {
      const [key, { name }] = found;
      const [text, number] = key.split(' ');
      const resource = madeResources.find(each => each === text) ?? 'collections';
      this.#records.delete(key);
      this.sqlite.prepare(`DELETE FROM ${tableOf(resource)} WHERE id = ?`).run(Number(number));
      dropped.push({ resource, id: Number(number), kind: 'put', name: `${name} again` });
    }
    log.append({
      kind: 'rebuild',
      mirrorId: log.mirrorId(),
      at,
      actor: 'test',
      ...acceptedNow(this.sqlite, runId),
    });
    return dropped;
  }
}

/** Prepares each statement once: those of the views take some milliseconds, and a simulation asks the same ones all the time. */
function keepStatements(sqlite: Database.Database): void {
  const statements = new Map<string, Database.Statement>();
  const prepare = sqlite.prepare.bind(sqlite);
  Object.assign(sqlite, {
    prepare(text: string) {
      const statement = statements.get(text) ?? prepare(text);
      statements.set(text, statement);
      return statement;
    },
  });
}

export function keyOf(resource: string, id: number): string {
  return `${resource} ${id}`;
}

/** Does to a copy of the names what a change says. */
export function apply(names: Map<string, string>, { resource, recordId, operation, name }: MadeChange): void {
  if (operation === 'removal') names.delete(keyOf(resource, recordId));
  else names.set(keyOf(resource, recordId), name);
}
