import { sql } from 'drizzle-orm';
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

// drizzle-kit reads this file by itself: it must stay one file without relative imports.

/** What every mirrored record knows of its own past, and the fields that no column names. */
const provenance = () => ({
  firstSeenRunId: integer('_first_seen_run_id').notNull(),
  changedRunId: integer('_changed_run_id').notNull(),
  extra: text('_extra'),
});

export const connections = sqliteTable(
  'connections',
  {
    id: integer('id').primaryKey(),
    name: text('name'),
    ...provenance(),
    /** How much the list counts that gave the name; 0 when none claims it any more. */
    nameRank: integer('_name_rank').notNull().default(0),
    /** The newest `exportedAt` that gave the name; null when another list gave it. */
    nameTime: text('_name_time'),
    /** Says what the row says, so that an audit finds what others changed. */
    fingerprint: blob('_fingerprint', { mode: 'buffer' }),
  },
  table => [index('connections_changed_run_id').on(table.changedRunId)],
);

const connectionId = (name: string) => integer(name).references(() => connections.id);

export const documentExports = sqliteTable(
  'document_exports',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    sourceConnectionId: connectionId('source_connection_id'),
    sourceDocumentTitle: text('source_document_title'),
    sourceDocumentReference: text('source_document_reference'),
    sourceDocumentVersion: text('source_document_version'),
    sourceDocumentKind: text('source_document_kind'),
    destinationConnectionId: connectionId('destination_connection_id'),
    destinationReference: text('destination_reference'),
    exportedAt: text('exported_at'),
    ...provenance(),
    key: blob('_key', { mode: 'buffer' }).notNull(),
    occurrence: integer('_occurrence').notNull(),
    fingerprint: blob('_fingerprint', { mode: 'buffer' }).notNull(),
  },
  table => [
    uniqueIndex('document_exports_key').on(table.key, table.occurrence),
    index('document_exports_source_connection_id').on(table.sourceConnectionId),
    index('document_exports_destination_connection_id').on(table.destinationConnectionId),
    index('document_exports_exported_at').on(table.exportedAt),
    index('document_exports_changed_run_id').on(table.changedRunId),
  ],
);

export const collections = sqliteTable(
  'collections',
  {
    id: integer('id').primaryKey(),
    name: text('name'),
    sourceConnectionId: connectionId('source_connection_id'),
    destinationConnectionId: connectionId('destination_connection_id'),
    ...provenance(),
    fingerprint: blob('_fingerprint', { mode: 'buffer' }).notNull(),
  },
  table => [
    index('collections_source_connection_id').on(table.sourceConnectionId),
    index('collections_destination_connection_id').on(table.destinationConnectionId),
    index('collections_changed_run_id').on(table.changedRunId),
  ],
);

export const webhooks = sqliteTable(
  'webhooks',
  {
    id: integer('id').primaryKey(),
    endpoint: text('endpoint'),
    description: text('description'),
    ...provenance(),
    fingerprint: blob('_fingerprint', { mode: 'buffer' }).notNull(),
  },
  table => [index('webhooks_changed_run_id').on(table.changedRunId)],
);

const webhookId = () =>
  integer('webhook_id')
    .notNull()
    .references(() => webhooks.id, { onDelete: 'cascade' });

export const webhookEvents = sqliteTable(
  'webhook_events',
  { webhookId: webhookId(), position: integer('position').notNull(), event: text('event').notNull() },
  table => [
    primaryKey({ columns: [table.webhookId, table.position] }),
    index('webhook_events_event').on(table.event),
  ],
);

export const webhookConnections = sqliteTable(
  'webhook_connections',
  {
    webhookId: webhookId(),
    position: integer('position').notNull(),
    connectionId: connectionId('connection_id'),
  },
  table => [
    primaryKey({ columns: [table.webhookId, table.position] }),
    index('webhook_connections_connection_id').on(table.connectionId),
  ],
);

export const syncRuns = sqliteTable('sync_runs', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  status: text('status').notNull(),
  trigger: text('trigger').notNull(),
  startedAt: text('started_at').notNull(),
  completedAt: text('completed_at'),
  errorCode: text('error_code'),
  errorMessage: text('error_message'),
  docmirrorVersion: text('docmirror_version').notNull(),
  baseUrl: text('base_url').notNull(),
});

const runId = () =>
  integer('run_id')
    .notNull()
    .references(() => syncRuns.id);

const count = (name: string) => integer(name).notNull().default(0);

export const syncRunResources = sqliteTable(
  'sync_run_resources',
  {
    runId: runId(),
    resource: text('resource').notNull(),
    status: text('status').notNull(),
    mode: text('mode'),
    completeness: text('completeness'),
    firstPageNo: integer('first_page_no'),
    pageSize: integer('page_size'),
    pageCount: integer('page_count'),
    totalRecordCount: integer('total_record_count'),
    recordsSeen: count('records_seen'),
    inserted: count('inserted'),
    updated: count('updated'),
    removed: count('removed'),
    unchanged: count('unchanged'),
    rejected: count('rejected'),
    removalsWithheld: count('removals_withheld'),
    walks: count('walks'),
    requests: count('requests'),
    retries: count('retries'),
    bytes: count('bytes'),
    waitedMs: count('waited_ms'),
    startedAt: text('started_at').notNull(),
    completedAt: text('completed_at'),
    error: text('error').generatedAlwaysAs(
      sql`case when error_code is not null then json_object('code', error_code, 'message', error_message) end`,
    ),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    /** What contradicted what, where completeness is not proven. */
    reason: text('reason'),
    /** Records in the mirror after the run; null where the run did not apply the list. */
    recordCount: integer('record_count'),
    /** 32 hexadecimal digits over the list's rows after the run; null where the run did not apply the list. */
    digest: text('digest'),
  },
  table => [
    primaryKey({ columns: [table.runId, table.resource] }),
    index('sync_run_resources_resource').on(table.resource, table.status, table.runId),
  ],
);

export const rejectedRecords = sqliteTable(
  'rejected_records',
  {
    id: integer('id').primaryKey(),
    runId: runId(),
    resource: text('resource').notNull(),
    pageNo: integer('page_no').notNull(),
    position: integer('position').notNull(),
    reason: text('reason').notNull(),
    record: text('record').notNull(),
  },
  table => [index('rejected_records_run_id').on(table.runId)],
);

export const recordHistory = sqliteTable(
  'record_history',
  {
    id: integer('id').primaryKey(),
    resource: text('resource').notNull(),
    recordId: integer('record_id').notNull(),
    /** The run that first saw the record in this life of it: where it equals `valid_from_run_id`, the version was an insert. */
    firstSeenRunId: integer('first_seen_run_id').notNull(),
    validFromRunId: integer('valid_from_run_id').notNull(),
    validToRunId: integer('valid_to_run_id')
      .notNull()
      .references(() => syncRuns.id),
    endedBy: text('ended_by').notNull(),
    record: text('record').notNull(),
    /** Says what the row says, so that an audit finds what others changed. */
    fingerprint: blob('_fingerprint', { mode: 'buffer' }),
  },
  table => [
    index('record_history_record').on(table.resource, table.recordId, table.validFromRunId),
    index('record_history_valid_from_run_id').on(table.validFromRunId),
    index('record_history_valid_to_run_id').on(table.validToRunId),
  ],
);

/**
 * Pages of the last sweep: a page with the same items' bytes holds the same rows, so it needs no parsing. What stands here can
 * be forgotten at any time; the next sweep then reads every record.
 */
export const knownPages = sqliteTable(
  '_known_pages',
  {
    resource: text('resource').notNull(),
    pageNo: integer('page_no').notNull(),
    /** 16 bytes over the items' bytes. */
    digest: blob('digest', { mode: 'buffer' }).notNull(),
    itemCount: integer('item_count').notNull(),
    /** 16 bytes: the sum of the items' fingerprints. */
    sum: blob('sum', { mode: 'buffer' }).notNull(),
    /** The ids of its rows, packed as runs of neighbours. */
    rowIds: blob('row_ids', { mode: 'buffer' }).notNull(),
  },
  table => [primaryKey({ columns: [table.resource, table.pageNo] })],
);

/** How the two ends of a list looked after the last run that was sure of them: where an incremental run starts from. */
export const listEdges = sqliteTable('_list_edges', {
  resource: text('resource').primaryKey(),
  runId: integer('run_id').notNull(),
  /** JSON of what the run saw of the list's first and last page. */
  edges: text('edges').notNull(),
});

/** How many rows the connections and each list's part of the history have, and the sum over their fingerprints. */
export const contentSums = sqliteTable(
  '_content_sums',
  {
    tableName: text('table_name').notNull(),
    resource: text('resource').notNull(),
    recordCount: integer('record_count').notNull(),
    /** 32 hexadecimal digits. */
    digest: text('digest').notNull(),
  },
  table => [primaryKey({ columns: [table.tableName, table.resource] })],
);
