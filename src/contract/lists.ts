/** A list of the service, by the service's own word. */
export type ResourceName = 'document-exports' | 'collections' | 'webhooks';

interface Uses {
  /** True if searches for words look into it. The first of a list is the title of its records. */
  readonly isSearched?: true;
  /** True if its text is a reference: an exact match comes first in a search. */
  readonly isReference?: true;
  readonly isSorted?: true;
  readonly filter?: 'source' | 'destination' | 'kind' | 'time';
  /** True if it is an address, of which people see the host alone: the rest can be secret. */
  readonly isSecret?: true;
}

interface Named extends Uses {
  /** Its name on the wire. */
  readonly name: string;
  readonly column: string;
  readonly label: string;
}

/** A field in one column of the list's own table. */
export type ScalarField = Named & { readonly kind: 'text' | 'integer' | 'connection' };

/** A field in a table of its own, one row for each element. */
export type ArrayField = Named & { readonly kind: 'texts' | 'connections'; readonly table: string };

/** A field of an item, its place in the mirror, and what it is used for. */
export type Field = ScalarField | ArrayField;

/** What versions are kept of: a list, or the connections. */
export interface Kept {
  readonly resource: ResourceName | 'connections';
  readonly title: string;
  readonly table: string;
  /** The identity of a record: the service's `id`, or its content if the service gives no id. */
  readonly identity: { readonly by: 'id' } | { readonly by: 'content'; readonly fields: readonly string[] };
  readonly fields: readonly Field[];
}

/** One list of the service: its path, the shape and identity of its items, and its tables. */
export interface ListDefinition extends Kept {
  readonly resource: ResourceName;
  readonly path: string;
  /** The column by which the child tables point back here. */
  readonly ownerColumn: string;
  /** If lists give a connection different names, docmirror keeps the name from the list with the greatest rank. */
  readonly connectionNameRank: number;
  /** True if fields that the service adds can be secret, so that people see their names alone. */
  readonly hasSecrets?: true;
}

const columnOf = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
function text(name: string, label: string, uses: Uses = {}): Field {
  return { kind: 'text', name, column: columnOf(name), label, ...uses };
}
function connection(name: string, label: string, uses: Uses = {}): Field {
  return { kind: 'connection', name, column: `${columnOf(name)}_id`, label, ...uses };
}
const sourceConnection = connection('sourceConnection', 'Source', { filter: 'source' });
const destinationConnection = connection('destinationConnection', 'Destination', { filter: 'destination' });
const nameField = text('name', 'Name', { isSearched: true, isSorted: true });

const ofSource = ['sourceConnection', 'sourceDocumentReference', 'sourceDocumentVersion'];
const ofDestination = ['destinationConnection', 'destinationReference'];
const documentExports: ListDefinition = {
  resource: 'document-exports',
  path: '/v2/document-exports',
  title: 'Document exports',
  table: 'document_exports',
  ownerColumn: 'document_export_id',
  identity: { by: 'content', fields: [...ofSource, ...ofDestination, 'exportedAt'] },
  connectionNameRank: 1,
  fields: [
    sourceConnection,
    text('sourceDocumentTitle', 'Title', { isSearched: true, isSorted: true }),
    text('sourceDocumentReference', 'Reference', { isSearched: true, isReference: true, isSorted: true }),
    text('sourceDocumentVersion', 'Version'),
    text('sourceDocumentKind', 'Kind', { isSorted: true, filter: 'kind' }),
    destinationConnection,
    text('destinationReference', 'Destination reference', { isSearched: true, isReference: true }),
    text('exportedAt', 'Exported', { isSorted: true, filter: 'time' }),
  ],
};

const collections: ListDefinition = {
  resource: 'collections',
  path: '/v2/collections',
  title: 'Collections',
  table: 'collections',
  ownerColumn: 'collection_id',
  identity: { by: 'id' },
  connectionNameRank: 3,
  fields: [nameField, sourceConnection, destinationConnection],
};

const ofConnections = { name: 'connections', table: 'webhook_connections', column: 'connection_id' };
const webhookConnections: Field = { kind: 'connections', ...ofConnections, label: 'Connections' };
const webhooks: ListDefinition = {
  resource: 'webhooks',
  path: '/v2/webhooks',
  title: 'Webhooks',
  table: 'webhooks',
  ownerColumn: 'webhook_id',
  identity: { by: 'id' },
  connectionNameRank: 2,
  fields: [
    text('endpoint', 'Endpoint', { isSecret: true }),
    text('description', 'Description', { isSearched: true, isSorted: true }),
    { kind: 'texts', name: 'events', table: 'webhook_events', column: 'event', label: 'Events' },
    webhookConnections,
  ],
  hasSecrets: true,
};

/** The lists that docmirror mirrors, in the order in which they are reported. CONTRIBUTING.md tells how to add one. */
export const lists: readonly ListDefinition[] = [documentExports, collections, webhooks];

const connections: Kept = {
  resource: 'connections',
  title: 'Connections',
  table: 'connections',
  identity: { by: 'id' },
  fields: [nameField],
};

/** Everything of which versions are kept: the lists in that order, then the connections. */
export const kept: readonly Kept[] = [...lists, connections];

/** The list of that name; the connections for any other name. */
export const keptOf = (resource: string) => kept.find(each => each.resource === resource) ?? connections;

/** The fields of a list or, for any other name, of the connections. */
export const fieldsOf = (resource: string) => keptOf(resource).fields;

/** The table of a list's rows; that of the connections for any other name. */
export const tableOf = (resource: string) => keptOf(resource).table;

/** The service's own words for the lists, in the order in which they are reported. */
export const resourceNames: readonly ResourceName[] = lists.map(list => list.resource);

/** The same, and `connections`. */
export const keptResources = kept.map(({ resource }) => resource);

/** The list of that name; the caller checks names first. */
export function listOf(resource: string): ListDefinition {
  return lists.find(list => list.resource === resource) as ListDefinition;
}

/** The value of a column. */
export type Scalar = string | number | null;

/** The fields of a list in its own table, in the order of their definition. */
export function scalarFields(list: Kept): ScalarField[] {
  return list.fields.filter((field): field is ScalarField => !('table' in field));
}

/** The fields of a list in tables of their own, in the order of their definition. */
export function arrayFields(list: Kept): ArrayField[] {
  return list.fields.filter((field): field is ArrayField => 'table' in field);
}

/** The field that says when a record was written, by which records sort; undefined in a list with ids. */
export function timeFieldOf(list: ListDefinition): ScalarField | undefined {
  return scalarFields(list).find(({ filter }) => filter === 'time');
}

/** The column with that time in milliseconds since 1970; null in a list with ids. */
export function timeColumnOf(list: ListDefinition): string | null {
  const field = timeFieldOf(list);
  return field === undefined ? null : `${field.column}_ms`;
}
