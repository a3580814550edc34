// The tables and views of a mirror for Drizzle, as `docmirror/schema`. Names that begin with an underscore are docmirror's own.

export {
  acceptedFindings,
  collections,
  connections,
  documentExports,
  recordHistory,
  rejectedRecords,
  serviceFacts,
  syncReceipts,
  syncRunResources,
  syncRuns,
  unknownFields,
  webhookConnections,
  webhookEvents,
  webhooks,
} from './store/tables/schema.ts';
export {
  changes,
  collectionsEver,
  collectionsNamed,
  documentExportsEver,
  documentExportsNamed,
  latestVersions,
  syncStatus,
  webhooksEver,
  webhooksNamed,
} from './store/tables/view-columns.ts';
