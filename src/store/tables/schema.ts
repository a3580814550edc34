import { sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { blob, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

// drizzle-kit reads this file by itself: it must stay one file without relative imports.

/** The runs that first saw and last changed a record, and JSON of the fields that no column names; also a view's columns. */
export const provenance = () => ({
  firstSeenRunId: integer('_first_seen_run_id').notNull(),
  changedRunId: integer('_changed_run_id').notNull(),
  extra: text('_extra'),
});

/** A 16-byte hash of a text; null in a share if a reader could check a guess by it, so its type in TypeScript says both. */
const contentHash = (name: string) => blob(name, { mode: 'buffer' }).$type<Buffer | null>().notNull();

/** What a row has beside its fields. */
const stored = () => ({ ...provenance(), content: contentHash('_content') });

/** An index for each of some columns of a table, with its name. */
const indexed = (table: string, ...columns: SQLiteColumn[]) =>
  columns.map(column => index(`${table}_${column.name.replace(/^_/, '')}`).on(column));

/** The systems that documents come from and go to, one row each, under the newest name. */
export const connections = sqliteTable(
  'connections',
  {
    id: integer('id').primaryKey(),
    name: text('name'),
    ...stored(),
  },
  table => indexed('connections', table.changedRunId),
);

/** The name and further fields that each list gives to each connection; `connections` has those that count. */
export const connectionNames = sqliteTable(
  '_connection_names',
  {
    resource: text('resource').notNull(),
    connectionId: integer('connection_id').notNull(),
    name: text('name'),
    extra: text('_extra'),
    /** The time of the record that gave the name; null in lists without a time. */
    namedAt: text('named_at'),
  },
  table => [primaryKey({ columns: [table.resource, table.connectionId] })],
);

const connectionId = (name: string) => integer(name).references(() => connections.id);

/** The fields of a document export, also as a view's columns. */
export const documentExportFields = () => ({
  sourceConnectionId: connectionId('source_connection_id'),
  sourceDocumentTitle: text('source_document_title'),
  sourceDocumentReference: text('source_document_reference'),
  sourceDocumentVersion: text('source_document_version'),
  sourceDocumentKind: text('source_document_kind'),
  destinationConnectionId: connectionId('destination_connection_id'),
  destinationReference: text('destination_reference'),
  exportedAt: text('exported_at'),
});

/** The document exports that the service lists now. */
export const documentExports = sqliteTable(
  'document_exports',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    ...documentExportFields(),
    ...stored(),
    exportedAtMs: integer('exported_at_ms'),
  },
  table => [
    ...indexed('document_exports', table.sourceConnectionId, table.destinationConnectionId),
    ...indexed('document_exports', table.changedRunId),
    // Records arrive in time order, so neighbours share pages of the index that finds them. With its further columns, exports are
    // filtered and counted in the order of time without reading their rows.
    index('document_exports_exported_at_ms').on(
      table.exportedAtMs,
      table.content,
      table.sourceConnectionId,
      table.destinationConnectionId,
      table.sourceDocumentKind,
    ),
  ],
);

/** The fields of a collection, also as a view's columns. */
export const collectionFields = () => ({
  name: text('name'),
  sourceConnectionId: connectionId('source_connection_id'),
  destinationConnectionId: connectionId('destination_connection_id'),
});

/** The collections that the service lists now. */
export const collections = sqliteTable(
  'collections',
  {
    id: integer('id').primaryKey(),
    ...collectionFields(),
    ...stored(),
  },
  table =>
    indexed('collections', table.sourceConnectionId, table.destinationConnectionId, table.changedRunId),
);

/** The fields of a webhook that are in its own table, also as a view's columns. */
export const webhookFields = () => ({
  endpoint: text('endpoint'),
  description: text('description'),
});

/** The webhooks that the service lists now; their events and connections have tables of their own. */
export const webhooks = sqliteTable(
  'webhooks',
  {
    id: integer('id').primaryKey(),
    ...webhookFields(),
    ...stored(),
  },
  table => indexed('webhooks', table.changedRunId),
);

/** The place of an item in an array of a webhook. */
const ofWebhook = () => ({
  webhookId: integer('webhook_id')
    .notNull()
    .references(() => webhooks.id, { onDelete: 'cascade' }),
  position: integer('position').notNull(),
});

/** The events of each webhook, in the order in which the service sends them. */
export const webhookEvents = sqliteTable(
  'webhook_events',
  { ...ofWebhook(), event: text('event').notNull() },
  table => [
    primaryKey({ columns: [table.webhookId, table.position] }),
    ...indexed('webhook_events', table.event),
  ],
);

/** The connections of each webhook, in the order in which the service sends them. */
export const webhookConnections = sqliteTable(
  'webhook_connections',
  { ...ofWebhook(), connectionId: connectionId('connection_id') },
  table => [
    primaryKey({ columns: [table.webhookId, table.position] }),
    ...indexed('webhook_connections', table.connectionId),
  ],
);

/** One row a run. A run that is under way has no `completed_at` yet. */
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
  actor: text('_actor'),
  /** JSON: the labels that the settings gave it; null if they gave none. */
  labels: text('labels'),
  /** What was added to the address of each request (`DOCMIRROR_QUERY`); null if nothing was. */
  query: text('query'),
});

const runId = (name = 'run_id') =>
  integer(name)
    .notNull()
    .references(() => syncRuns.id);

const count = (name: string) => integer(name).notNull().default(0);

/** How each list of a run ended: what was counted, and how sure the run is. */
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
    undecided: count('undecided'),
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
    reason: text('reason'),
    /** Records in the mirror after the run; null if the run did not apply the list. */
    recordCount: integer('record_count'),
    /** 32 hexadecimal digits: the sum of the contents of the list's rows after the run; null if it did not write the list. */
    checksum: text('checksum'),
    /** JSON: the names of the fields that the contents of the records it wrote leave out, in order; null if there are none. */
    ignoredFields: text('ignored_fields'),
    /** The moment of the oldest answer in use: of a list that is complete, it is so as of then. Null if no answer came. */
    readSince: text('read_since'),
    /** JSON: what the run found out about the list, each with its code and facts; null in runs before 0.6, and until the list has ended. */
    reasons: text('reasons'),
    /** The time until which the service wanted no requests, if that ended the list; null if it did not. */
    retryAfterUntil: text('retry_after_until'),
  },
  table => [
    primaryKey({ columns: [table.runId, table.resource] }),
    index('sync_run_resources_resource').on(table.resource, table.status, table.runId),
  ],
);

/** Records that were set aside because they could not be read, as JSON. */
export const rejectedRecords = sqliteTable(
  'rejected_records',
  {
    /** A number is never given again, because acceptances and receipts go by it. */
    id: integer('id').primaryKey({ autoIncrement: true }),
    runId: runId(),
    /** The last run that rejected it with the same text. */
    lastRunId: integer('last_run_id').notNull(),
    resource: text('resource').notNull(),
    pageNo: integer('page_no').notNull(),
    position: integer('position').notNull(),
    reason: text('reason').notNull(),
    /** Null if it was erased, and in a public copy. */
    record: text('record'),
    /** The first of the text's SHA-256, from 0.6 on without ignored fields. */
    content: contentHash('content'),
    /** 16 bytes: the hash of its identity or, if that can't be read, of its place; null if an older docmirror wrote it and it was erased. */
    identity: blob('identity', { mode: 'buffer' }),
  },
  table => indexed('rejected_records', table.runId, table.lastRunId, table.identity, table.content),
);

/** Findings that a person has accepted: they end no run as partial. A row stays, and receipts say the same. */
export const acceptedFindings = sqliteTable('accepted_findings', {
  id: integer('id').primaryKey(),
  resource: text('resource').notNull(),
  code: text('code').notNull(),
  /** The one rejected record that it is about; null if it is about all that the code says. */
  rejectedRecordId: integer('rejected_record_id'),
  /** The greatest count that it covers; null for a code without a count, and for one record. */
  atMost: integer('at_most'),
  until: text('until'),
  /** Null in a share. */
  why: text('why'),
  actor: text('actor').notNull(),
  acceptedAt: text('accepted_at').notNull(),
  withdrawnAt: text('withdrawn_at'),
  withdrawnBy: text('withdrawn_by'),
  withdrawnWhy: text('withdrawn_why'),
});

/** Fields that the service sends and that have no column; their values are in `_extra`. */
export const unknownFields = sqliteTable(
  'unknown_fields',
  {
    resource: text('resource').notNull(),
    field: text('field').notNull(),
    /** `string`, `number`, `boolean`, `object`, `array` or `null`. */
    jsonType: text('json_type').notNull(),
    firstSeenRunId: integer('first_seen_run_id').notNull(),
    lastSeenRunId: integer('last_seen_run_id').notNull(),
    /** Records that had it after the last full sync; null if no full sync has seen it yet. */
    recordCount: integer('record_count'),
  },
  table => [primaryKey({ columns: [table.resource, table.field, table.jsonType] })],
);

/** What runs have seen of the service, one row a fact; `src/store/tables/service-facts.ts` has their names. */
export const serviceFacts = sqliteTable(
  'service_facts',
  {
    /** A list, `connections`, or `service` for what is of no list. */
    resource: text('resource').notNull(),
    fact: text('fact').notNull(),
    /** JSON, also of a number or a text. */
    value: text('value').notNull(),
    previousValue: text('previous_value'),
    /** The run that saw the value change; null if none did. */
    changedRunId: integer('changed_run_id'),
    firstSeenRunId: integer('first_seen_run_id').notNull(),
    lastSeenRunId: integer('last_seen_run_id').notNull(),
    /** JSON: what it rests on, in numbers. */
    evidence: text('evidence').notNull(),
  },
  table => [primaryKey({ columns: [table.resource, table.fact] })],
);

/** The statement of each run at its end. It is permanent: triggers refuse to change or delete a receipt. */
export const syncReceipts = sqliteTable(
  'sync_receipts',
  {
    leafIndex: integer('leaf_index').primaryKey(),
    /** Null if the receipt is not of a run. */
    runId: integer('run_id')
      .references(() => syncRuns.id)
      .unique('sync_receipts_run_id'),
    receipt: text('receipt').notNull(),
    /** 64 hexadecimal digits: the SHA-256 over a zero byte and the receipt's bytes; in a share, its hash with the mirror's key. */
    leafHash: text('leaf_hash').notNull(),
  },
  // Few runs change connections, and each run asks for the last one that did.
  table => [
    index('sync_receipts_connections')
      .on(table.leafIndex)
      .where(sql`instr(receipt, '"resource":"connections"') > 0`),
  ],
);

/** Which mirror this is: one row, made with the file. A copy keeps it. */
export const mirror = sqliteTable('_mirror', {
  mirrorId: text('mirror_id').primaryKey(),
  /** 32 random bytes, which no share has: the key of the hashes by which shares and cursors know receipts. */
  shareKey: blob('share_key', { mode: 'buffer' }),
});

/** Removed records that did not come back: the views of all that ever was find these. */
const isGone = sql`ended_by = 'removal' AND returned_run_id IS NULL`;

/** Each version that ended, in the shape of the service. The current version is the row of its list. */
export const recordHistory = sqliteTable(
  'record_history',
  {
    id: integer('id').primaryKey(),
    resource: text('resource').notNull(),
    recordId: integer('record_id').notNull(),
    /** The run that first saw the record in this life of it: if it equals `valid_from_run_id`, the version was an insert. */
    firstSeenRunId: integer('first_seen_run_id').notNull(),
    validFromRunId: integer('valid_from_run_id').notNull(),
    validToRunId: runId('valid_to_run_id'),
    endedBy: text('ended_by').notNull(),
    /** Null if the version was erased. */
    record: text('record'),
    content: contentHash('content'),
    /** The time and reference of a version that ended by removal, as its row had them. */
    exportedAtMs: integer('exported_at_ms'),
    sourceDocumentReference: text('source_document_reference'),
    /** The run in which a record that was removed came back; null if it did not. */
    returnedRunId: integer('returned_run_id'),
  },
  table => [
    index('record_history_gone').on(table.resource, table.exportedAtMs).where(isGone),
    index('record_history_gone_reference').on(table.sourceDocumentReference).where(isGone),
    index('record_history_record').on(table.resource, table.recordId, table.validFromRunId),
    ...indexed('record_history', table.validFromRunId, table.validToRunId),
  ],
);

/** Facts about a list that save the next run work; they can be deleted at any time. */
export const listStates = sqliteTable('_list_states', {
  resource: text('resource').primaryKey(),
  runId: integer('run_id').notNull(),
  /** JSON: its order, its growing end, and the names that the pages of the last proven full sync gave to connections. */
  state: text('state').notNull(),
  /** 16-byte hash of the row. A row whose hash does not match is ignored. */
  check: blob('check', { mode: 'buffer' }).notNull(),
});

/** The pages of the last proven full sync of each list, and of one that ended early; they can be deleted at any time. */
export const knownPages = sqliteTable(
  '_known_pages',
  {
    resource: text('resource').notNull(),
    /** 16-byte hash of its items. */
    digest: blob('digest', { mode: 'buffer' }).notNull(),
    /** The run that saw it. */
    runId: integer('run_id').notNull(),
    /** JSON: the ids of its rows, as ranges. */
    rows: text('rows').notNull(),
    /** For each item the number of what it says of connections, in two bytes. */
    said: blob('said', { mode: 'buffer' }).notNull(),
    /** A hash of some neighbouring items in 16 bytes, and how many they are in two. */
    pieces: blob('pieces', { mode: 'buffer' }),
    /** 16-byte hash of the row. A row whose hash does not match is ignored. */
    check: blob('check', { mode: 'buffer' }).notNull(),
  },
  table => [primaryKey({ columns: [table.resource, table.digest] })],
);
