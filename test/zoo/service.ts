import { createServer, type IncomingMessage } from 'node:http';
import type { ListName } from './database.ts';

// What all services of the zoo share: HTTP, and the members of a record. How a page and its total are found is the framework's.

/** Where the service finds its rows, as the test says. */
export interface ServiceSettings {
  readonly socketFolder: string;
  readonly database: string;
  /** Whether exports are ordered by their time alone, though many have the same. */
  readonly isOrderedByTimeAlone: boolean;
  /** What the service does otherwise than the documentation teaches, by a name that its file knows; null if nothing. */
  readonly variant: string | null;
}

/** A page that was asked for, with a page size that the service serves. */
export interface Asked {
  /** As it was asked for: frameworks count from 1 or from 0. */
  readonly pageNo: number | undefined;
  readonly pageSize: number;
}

/** What a framework found. */
export interface Found<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  /** The number of the page, as the framework counts. */
  readonly pageNo: number;
}

/** How a list's pages are found. */
export type Find<Row> = (asked: Asked) => Promise<Found<Row>>;

/** A text as frameworks give it. */
type Text = string | null | undefined;

export interface ConnectionRow {
  id: number;
  name: Text;
}

export interface ExportRow {
  sourceConnection: ConnectionRow | null | undefined;
  sourceDocumentTitle: Text;
  sourceDocumentReference: Text;
  sourceDocumentVersion: Text;
  sourceDocumentKind: Text;
  destinationConnection: ConnectionRow | null | undefined;
  destinationReference: Text;
  exportedAt: Date;
}

export interface CollectionRow {
  id: number;
  name: Text;
  sourceConnection: ConnectionRow | null | undefined;
  destinationConnection: ConnectionRow | null | undefined;
}

export interface WebhookRow {
  id: number;
  endpoint: Text;
  description: Text;
  events: readonly { name: Text }[];
  connections: readonly ConnectionRow[];
}

/** How the pages of all lists are found. */
export interface Lists {
  readonly exports: Find<ExportRow>;
  readonly collections: Find<CollectionRow>;
  readonly webhooks: Find<WebhookRow>;
}

const defaultPageSize = 50;
const largestPageSize = 100;

/** What the test said when it started this process. */
export function settings(): ServiceSettings {
  return JSON.parse(process.argv[2] ?? '');
}

/** Serves the lists on a free port of this machine, and tells it to the test; ends with the test. */
export function serve({ exports, collections, webhooks }: Lists): void {
  const pages: Readonly<Record<ListName, (asked: Asked) => Promise<object>>> = {
    'document-exports': asked => exports(asked).then(found => pageOf(found, asked, exportItem)),
    collections: asked => collections(asked).then(found => pageOf(found, asked, collectionItem)),
    webhooks: asked => webhooks(asked).then(found => pageOf(found, asked, webhookItem)),
  };
  const isList = (name: string): name is ListName => name in pages;
  const answer = async ({ url = '/' }: IncomingMessage): Promise<{ status: number; body: object }> => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const list = pathname.replace('/v2/', '');
    if (!isList(list)) return { status: 404, body: { message: 'Not found' } };
    const numberOf = (name: string) => (searchParams.has(name) ? Number(searchParams.get(name)) : undefined);
    const pageSize = Math.min(largestPageSize, Math.max(1, numberOf('pageSize') ?? defaultPageSize));
    try {
      return { status: 200, body: await pages[list]({ pageNo: numberOf('pageNo'), pageSize }) };
    } catch (error) {
      // The test's output says why a service fails.
      console.error(error);
      return { status: 500, body: { message: 'failed' } };
    }
  };
  const server = createServer((request, response) => {
    void answer(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.(typeof address === 'object' ? address?.port : undefined);
  });
  process.on('disconnect', () => process.exit());
}

function pageOf<Row>(
  { rows, total, pageNo }: Found<Row>,
  { pageSize }: Asked,
  item: (row: Row) => object,
): object {
  const pagination = { pageCount: Math.ceil(total / pageSize), pageNo, pageSize, totalRecordCount: total };
  return { items: rows.map(item), pagination };
}

// Entities have more members than a record, for example the id of an export.

function exportItem(row: ExportRow): object {
  return {
    sourceConnection: reference(row.sourceConnection),
    sourceDocumentTitle: row.sourceDocumentTitle,
    sourceDocumentReference: row.sourceDocumentReference,
    sourceDocumentVersion: row.sourceDocumentVersion,
    sourceDocumentKind: row.sourceDocumentKind,
    destinationConnection: reference(row.destinationConnection),
    destinationReference: row.destinationReference,
    exportedAt: row.exportedAt,
  };
}

function collectionItem({ id, name, sourceConnection, destinationConnection }: CollectionRow): object {
  return {
    id,
    name,
    sourceConnection: reference(sourceConnection),
    destinationConnection: reference(destinationConnection),
  };
}

function webhookItem({ id, endpoint, description, events, connections }: WebhookRow): object {
  return {
    id,
    endpoint,
    description,
    events: events.map(({ name }) => name),
    connections: connections.map(reference),
  };
}

function reference(row: ConnectionRow | null | undefined): object | null {
  return row == null ? null : { id: row.id, name: row.name };
}
