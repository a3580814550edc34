import { integer, sqliteView, text } from 'drizzle-orm/sqlite-core';
import { collectionFields, documentExportFields, provenance, webhookFields } from './schema.ts';

// The views for TypeScript; `views.ts` has their queries. A test compares the two.

const id = () => integer('id').notNull();

/** The times when the run that first saw a record, and the one that changed it last, finished its list; UTC in ISO 8601. */
const times = () => ({ firstSeenAt: text('first_seen_at'), changedAt: text('changed_at') });

const connectionNames = () => ({
  sourceConnectionName: text('source_connection_name'),
  destinationConnectionName: text('destination_connection_name'),
});

const namedExport = () => ({
  id: id(),
  ...documentExportFields(),
  /** The time in milliseconds since 1970; null if the text is no time. */
  exportedAtMs: integer('exported_at_ms'),
  /** The same as `YYYY-MM-DD HH:MM:SS`, in UTC. */
  exportedAtUtc: text('exported_at_utc'),
  ...connectionNames(),
  ...times(),
  ...provenance(),
});

/** Document exports with the names of their connections. */
export const documentExportsNamed = sqliteView('document_exports_named', namedExport()).existing();

/** When a record was removed; null while it is listed. */
const removal = () => ({ removedRunId: integer('removed_run_id'), removedAt: text('removed_at') });

/** Every export that ever stood in the mirror, in its last text, as far as the history is kept; null if it was erased. */
export const documentExportsEver = sqliteView('document_exports_ever', {
  ...namedExport(),
  ...removal(),
}).existing();

/** The newest export of each document; a document is a source connection and a reference. */
export const latestVersions = sqliteView('latest_versions', namedExport()).existing();

const namedCollection = () => ({
  id: id(),
  ...collectionFields(),
  ...connectionNames(),
  ...times(),
  ...provenance(),
});

/** Collections with the names of their connections. */
export const collectionsNamed = sqliteView('collections_named', namedCollection()).existing();

/** Every collection that ever stood in the mirror. */
export const collectionsEver = sqliteView('collections_ever', {
  ...namedCollection(),
  ...removal(),
}).existing();

/** Webhooks, with their events and connections as JSON arrays. */
export const webhooksNamed = sqliteView('webhooks_named', {
  id: id(),
  ...webhookFields(),
  events: text('events').notNull(),
  connectionIds: text('connection_ids').notNull(),
  connectionNames: text('connection_names').notNull(),
  ...times(),
  ...provenance(),
}).existing();

/** Every webhook that ever stood in the mirror; the arrays are null if it was erased. */
export const webhooksEver = sqliteView('webhooks_ever', {
  id: id(),
  ...webhookFields(),
  events: text('events'),
  connectionIds: text('connection_ids'),
  connectionNames: text('connection_names'),
  ...times(),
  ...provenance(),
  ...removal(),
}).existing();

/** The changes of each ended run: records inserted, updated and removed; `record`, `before` and `changedFields` are JSON. */
export const changes = sqliteView('changes', {
  runId: integer('run_id').notNull(),
  changedAt: text('changed_at'),
  resource: text('resource').notNull(),
  recordId: integer('record_id').notNull(),
  operation: text('operation', { enum: ['insert', 'update', 'removal'] }).notNull(),
  /** Null if the text of the version was erased. */
  record: text('record'),
  before: text('before'),
  changedFields: text('changed_fields'),
}).existing();

/** The state of each list, one row a list. */
export const syncStatus = sqliteView('sync_status', {
  resource: text('resource').notNull(),
  recordCount: integer('record_count').notNull(),
  lastCompletedRunId: integer('last_completed_run_id'),
  lastCompletedAt: text('last_completed_at'),
  readSince: text('read_since'),
  ageSeconds: integer('age_seconds'),
  lastFullAt: text('last_full_at'),
  lastRunId: integer('last_run_id'),
  lastRunStatus: text('last_run_status'),
  completeness: text('completeness'),
  verdict: text('verdict'),
  /** The codes of the findings of its last run, separated by a space; null if there are none. */
  reasonCodes: text('reason_codes'),
  /** 1 while a run is under way, else 0. */
  isRunning: integer('is_running').notNull(),
}).existing();
