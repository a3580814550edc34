import Database from 'better-sqlite3';
import type { Contents } from './records.ts';
import { type ListName, listNames } from './scenario.ts';

// Reads the mirror's public tables as an analyst would: by plain SQL without the program.

/** The content of the public tables. */
export interface MirrorState {
  readonly lists: Readonly<Record<ListName, Contents>>;
  /** By content, the forms of its rows: the order of their sets and the text of their instants. */
  readonly forms: Readonly<Record<ListName, ReadonlyMap<string, string>>>;
  /** How many versions of rows that stay the newest run ended. */
  readonly versions: Readonly<Record<ListName, number>>;
  /** Names of the connections, by id. */
  readonly connections: ReadonlyMap<number, string | null>;
  /** The newest run's id; 0 if there was none. */
  readonly runId: number;
  /** How many rows of the last settled run the newest run removed, and how many there were. */
  readonly removals: Readonly<Record<ListName, Removals>>;
  /** The outcome of each list in the record of the newest run. */
  readonly words: readonly RunWords[];
}

/** Removals as the guard counts them. */
export interface Removals {
  readonly gone: number;
  readonly settledCount: number;
}

/** A row of `sync_run_resources`. */
export interface RunWords {
  readonly resource: string;
  readonly status: string;
  readonly completeness: string | null;
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
}

/** An instant in one zone, as `contentOf` says it. */
const instantOf = (text: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${text})`;

/** The contents of a row, as `contentOf` says them. */
const contents: Readonly<Record<ListName, string>> = {
  'document-exports': `json_array(source_connection_id, source_document_title, source_document_reference,
    source_document_version, source_document_kind, destination_connection_id, destination_reference, ${instantOf('exported_at')})`,
  collections: 'json_array(id, name, source_connection_id, destination_connection_id)',
  webhooks: `json_array(id, endpoint, description,
    json((SELECT json_group_array(event ORDER BY event) FROM webhook_events WHERE webhook_id = id)),
    json((SELECT json_group_array(connection_id ORDER BY connection_id) FROM webhook_connections WHERE webhook_id = id)))`,
};

/** The form of a row, in which what means the same can be written otherwise. */
const forms: Readonly<Record<ListName, string>> = {
  'document-exports': 'exported_at',
  collections: 'NULL',
  webhooks: `json_array((SELECT json_group_array(event ORDER BY position) FROM webhook_events WHERE webhook_id = id),
    (SELECT json_group_array(connection_id ORDER BY position) FROM webhook_connections WHERE webhook_id = id))`,
};

/** The same of a record in the history, which is JSON in the service's own shape. */
const bygoneContents: Readonly<Record<ListName, string>> = {
  'document-exports': `json_array(record->>'$.sourceConnection.id', record->>'$.sourceDocumentTitle',
    record->>'$.sourceDocumentReference', record->>'$.sourceDocumentVersion', record->>'$.sourceDocumentKind',
    record->>'$.destinationConnection.id', record->>'$.destinationReference', ${instantOf("record->>'$.exportedAt'")})`,
  collections: `json_array(record->>'$.id', record->>'$.name', record->>'$.sourceConnection.id',
    record->>'$.destinationConnection.id')`,
  webhooks: `json_array(record->>'$.id', record->>'$.endpoint', record->>'$.description',
    json((SELECT json_group_array(value ORDER BY value) FROM json_each(record, '$.events'))),
    json((SELECT json_group_array(value->>'$.id' ORDER BY value->>'$.id') FROM json_each(record, '$.connections'))))`,
};

const tables: Readonly<Record<ListName, string>> = {
  'document-exports': 'document_exports',
  collections: 'collections',
  webhooks: 'webhooks',
};

/** Reads a mirror while no run writes to it. */
export function readMirror(path: string): MirrorState {
  return reading(path, database => {
    const runId = database.prepare<[], number>('SELECT ifnull(max(id), 0) FROM sync_runs').pluck().get() ?? 0;
    const words = database.prepare<[number], RunWords>(
      `SELECT resource, status, completeness, inserted, updated, removed FROM sync_run_resources WHERE run_id = ?`,
    );
    const names = database
      .prepare<[], [number, string | null]>('SELECT id, name FROM connections')
      .raw()
      .all();
    const rowsOf = (name: ListName) =>
      database
        .prepare<[], Row>(
          `SELECT ${contents[name]} AS content, ${forms[name]} AS form FROM ${tables[name]} ORDER BY form`,
        )
        .all();
    const rows = eachList(rowsOf);
    const versionsOf = database
      .prepare<[string, number], number>(
        "SELECT count(*) FROM record_history WHERE resource = ? AND valid_to_run_id = ? AND ended_by <> 'removal'",
      )
      .pluck();
    const removals = eachList(name => removalsOf(database, name, runId));
    return {
      lists: eachList(name => counted(rows[name].map(({ content }) => content))),
      forms: eachList(name => formsOf(rows[name])),
      versions: eachList(name => versionsOf.get(name, runId) ?? 0),
      connections: new Map(names),
      runId,
      removals,
      words: words.all(runId),
    };
  });
}

interface Row {
  readonly content: string;
  readonly form: string | null;
}

function formsOf(rows: readonly Row[]): ReadonlyMap<string, string> {
  const formsBy = new Map<string, string>();
  for (const { content, form } of rows) formsBy.set(content, `${formsBy.get(content) ?? ''} ${form ?? ''}`);
  return formsBy;
}

function removalsOf(database: Database.Database, name: ListName, runId: number): Removals {
  const settled = database
    .prepare<[string, number], { id: number; count: number }>(
      `SELECT run_id AS id, record_count AS count FROM sync_run_resources
       WHERE resource = ? AND run_id < ? AND completeness <> 'unproven' AND removals_withheld = 0 ORDER BY run_id DESC LIMIT 1`,
    )
    .get(name, runId);
  const gone = database
    .prepare<[string, number, number], number>(
      `SELECT count(*) FROM record_history
       WHERE resource = ? AND valid_to_run_id = ? AND first_seen_run_id <= ? AND ended_by = 'removal'`,
    )
    .pluck()
    .get(name, runId, settled?.id ?? 0);
  return { gone: gone ?? 0, settledCount: settled?.count ?? 0 };
}

interface Version {
  readonly content: string;
  readonly from: number;
  /** The first run after which it was no longer current; null if it is current. */
  readonly to: number | null;
}

/** The lists after an earlier run, by rows and history now. */
export function readAsOf(path: string): (runId: number) => MirrorState['lists'] {
  const versions = reading(path, database => eachList(name => versionsOf(database, name)));
  const stood = (runId: number) => (version: Version) =>
    version.from <= runId && (version.to === null || runId < version.to);
  return runId =>
    eachList(name => counted(versions[name].filter(stood(runId)).map(({ content }) => content)));
}

/**
 * The first run whose lists rows and history still have: the last one whose ended versions were deleted. A run whose process died ended
 * when the next one began.
 */
export function readKeptFrom(path: string): number {
  return reading(
    path,
    database =>
      database
        .prepare<[], number>(
          `WITH pruned AS (SELECT max(receipt ->> 'before') AS before FROM sync_receipts WHERE receipt ->> 'kind' = 'prune'),
           ends AS (SELECT id, coalesce(completed_at, lead(started_at) OVER (ORDER BY id)) AS ended_at FROM sync_runs)
         SELECT ifnull(max(id), 0) FROM ends run, pruned WHERE NOT EXISTS
           (SELECT 1 FROM ends earlier WHERE earlier.id <= run.id AND ifnull(earlier.ended_at > before, true))`,
        )
        .pluck()
        .get() ?? 0,
  );
}

function versionsOf(database: Database.Database, name: ListName): Version[] {
  return database
    .prepare<[string], Version>(
      `SELECT ${contents[name]} AS content, _changed_run_id AS "from", NULL AS "to" FROM ${tables[name]}
       UNION ALL
       SELECT ${bygoneContents[name]}, valid_from_run_id, valid_to_run_id FROM record_history WHERE resource = ?`,
    )
    .all(name);
}

/** How many there are of each. */
export function counted(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** One value for each list. */
export function eachList<T>(make: (name: ListName) => T): Record<ListName, T> {
  const [exports, collections, webhooks] = listNames;
  return {
    'document-exports': make(exports),
    collections: make(collections),
    webhooks: make(webhooks),
  };
}

function reading<T>(path: string, read: (database: Database.Database) => T): T {
  const database = new Database(path, { fileMustExist: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}
