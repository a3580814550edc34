/** A list of the service, by the service's own word. */
export type ResourceName = 'document-exports' | 'collections' | 'webhooks';

/** What a field is, whatever its kind. */
interface FieldFacts {
  /** Its name on the wire. */
  readonly name: string;
  readonly column: string;
  /** Its heading in a table for people. */
  readonly label: string;
  /** True if searches for words look into it. The first of a list is the title of its records. */
  readonly isSearched?: true;
  /** True if its text is a reference: an exact match comes first in a search. */
  readonly isReference?: true;
  /** True if a list can be sorted by it. */
  readonly isSorted?: true;
  /** The filter that goes by it. */
  readonly filter?: 'source' | 'destination' | 'kind' | 'time';
  /** True if it is an address, of which people see the host alone: the rest can be secret. */
  readonly isSecret?: true;
}

/** How a field of an item is kept: its kind, its name on the wire, its place in the mirror, and what it is used for. */
export type Field = FieldFacts &
  (
    | { readonly kind: 'text' }
    | { readonly kind: 'integer' }
    | { readonly kind: 'connection' }
    | { readonly kind: 'texts'; readonly table: string }
    | { readonly kind: 'connections'; readonly table: string }
  );

/** One list of the service: its path, the shape and identity of its items, and its tables. */
export interface ListDefinition {
  readonly resource: ResourceName;
  readonly path: string;
  readonly title: string;
  readonly table: string;
  /** The column by which the child tables point back here. */
  readonly ownerColumn: string;
  /** The identity of a record: the service's `id`, or its content if the service gives no id. */
  readonly identity:
    | { readonly by: 'id' }
    | { readonly by: 'content'; readonly fields: readonly string[]; readonly timeField: string };
  /** If lists give a connection different names, docmirror keeps the name from the list with the greatest rank. */
  readonly connectionNameRank: number;
  readonly fields: readonly Field[];
  /** True if fields that the service adds can be secret, so that people see their names alone. */
  readonly hasSecrets?: true;
}

/** What a field is used for. */
type Uses = Omit<FieldFacts, 'name' | 'column' | 'label'>;

const textField = (name: string, column: string, label: string, uses: Uses = {}): Field => ({
  kind: 'text',
  name,
  column,
  label,
  ...uses,
});
const connectionField = (name: string, column: string, label: string, uses: Uses = {}): Field => ({
  kind: 'connection',
  name,
  column,
  label,
  ...uses,
});
const sourceConnection = connectionField('sourceConnection', 'source_connection_id', 'Source', {
  filter: 'source',
});
const destinationConnection = connectionField(
  'destinationConnection',
  'destination_connection_id',
  'Destination',
  { filter: 'destination' },
);
const nameField = textField('name', 'name', 'Name', { isSearched: true, isSorted: true });

const documentExports: ListDefinition = {
  resource: 'document-exports',
  path: '/v2/document-exports',
  title: 'Document exports',
  table: 'document_exports',
  ownerColumn: 'document_export_id',
  identity: {
    by: 'content',
    fields: [
      'sourceConnection',
      'sourceDocumentReference',
      'sourceDocumentVersion',
      'destinationConnection',
      'destinationReference',
      'exportedAt',
    ],
    timeField: 'exportedAt',
  },
  connectionNameRank: 1,
  fields: [
    sourceConnection,
    textField('sourceDocumentTitle', 'source_document_title', 'Title', { isSearched: true, isSorted: true }),
    textField('sourceDocumentReference', 'source_document_reference', 'Reference', {
      isSearched: true,
      isReference: true,
      isSorted: true,
    }),
    textField('sourceDocumentVersion', 'source_document_version', 'Version'),
    textField('sourceDocumentKind', 'source_document_kind', 'Kind', { isSorted: true, filter: 'kind' }),
    destinationConnection,
    textField('destinationReference', 'destination_reference', 'Destination reference', {
      isSearched: true,
      isReference: true,
    }),
    textField('exportedAt', 'exported_at', 'Exported', { isSorted: true, filter: 'time' }),
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

const webhooks: ListDefinition = {
  resource: 'webhooks',
  path: '/v2/webhooks',
  title: 'Webhooks',
  table: 'webhooks',
  ownerColumn: 'webhook_id',
  identity: { by: 'id' },
  connectionNameRank: 2,
  fields: [
    textField('endpoint', 'endpoint', 'Endpoint', { isSecret: true }),
    textField('description', 'description', 'Description', { isSearched: true, isSorted: true }),
    { kind: 'texts', name: 'events', table: 'webhook_events', column: 'event', label: 'Events' },
    {
      kind: 'connections',
      name: 'connections',
      table: 'webhook_connections',
      column: 'connection_id',
      label: 'Connections',
    },
  ],
  hasSecrets: true,
};

/** The lists that docmirror mirrors, in the order in which they are reported. CONTRIBUTING.md tells how to add one. */
export const lists: readonly ListDefinition[] = [documentExports, collections, webhooks];

/** The fields of a list or, for any other name, of the connections. */
export function fieldsOf(resource: string): readonly Field[] {
  return lists.find(list => list.resource === resource)?.fields ?? [nameField];
}

/** The path of the connections in `serve`; the service has no list of them. */
export const connectionsPath = '/v2/connections';

/** The service's own words for the lists, in the order in which they are reported. */
export const resourceNames: readonly ResourceName[] = lists.map(list => list.resource);

/** Everything of which versions are kept: the lists in that order, then the connections. */
export const keptResources: readonly (ResourceName | 'connections')[] = [...resourceNames, 'connections'];

/** The list of that name. Throws if there is none: the caller checks names first. */
export function listOf(resource: string): ListDefinition {
  const list = lists.find(candidate => candidate.resource === resource);
  if (list === undefined) throw new TypeError(`There is no list named ${resource}.`);
  return list;
}

/** The table of a list's rows; that of the connections for any other name. */
export function tableOf(resource: string): string {
  return lists.find(list => list.resource === resource)?.table ?? 'connections';
}

/** The value of a column. */
export type Scalar = string | number | null;

/** A field in one column of the list's own table. */
export type ScalarField = Field & { readonly kind: 'text' | 'integer' | 'connection' };

/** A field in a table of its own, one row for each element. */
export type ArrayField = Field & { readonly kind: 'texts' | 'connections' };

/** The fields of a list in its own table, in the order of their definition. */
export function scalarFields(list: ListDefinition): ScalarField[] {
  return list.fields.filter((field): field is ScalarField => !('table' in field));
}

/** The place of the scalar field that says when a record was written; -1 in a list with ids. */
export function timeIndexOf(list: ListDefinition): number {
  const { identity } = list;
  return identity.by === 'id' ? -1 : scalarFields(list).findIndex(({ name }) => name === identity.timeField);
}

/** The column with that time in milliseconds since 1970, by which records sort; null in a list with ids. */
export function timeColumnOf(list: ListDefinition): string | null {
  const field = scalarFields(list)[timeIndexOf(list)];
  return field === undefined ? null : `${field.column}_ms`;
}

/** The fields of a list in tables of their own, in the order of their definition. */
export function arrayFields(list: ListDefinition): ArrayField[] {
  return list.fields.filter((field): field is ArrayField => 'table' in field);
}

/** A JSON schema, as far as this contract needs them. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Whole numbers that JavaScript and every JSON reader represent exactly. A greater id is rejected, never rounded. */
const exactInteger: JsonSchema = {
  type: 'integer',
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
};

const text: JsonSchema = { type: 'string' };
const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type, 'null'] });

/** The JSON schema of a reference to a connection, and of a connection that `serve` has. */
export const connectionSchema: JsonSchema = {
  type: 'object',
  properties: { id: orNull(exactInteger), name: orNull(text) },
};

const fieldSchemas: Record<Field['kind'], JsonSchema> = {
  text: orNull(text),
  integer: orNull(exactInteger),
  connection: orNull(connectionSchema),
  texts: orNull({ type: 'array', items: orNull(text) }),
  connections: orNull({ type: 'array', items: orNull(connectionSchema) }),
};

/** The JSON schema of a list's item as the service sends it: everything except an `id` can be null or missing. */
export function itemSchema(list: ListDefinition): JsonSchema {
  const fields = list.fields.map(({ name, kind }) => [name, fieldSchemas[kind]]);
  if (list.identity.by === 'content') return { type: 'object', properties: Object.fromEntries(fields) };
  return {
    type: 'object',
    required: ['id'],
    properties: { id: exactInteger, ...Object.fromEntries(fields) },
  };
}

const countSchema: JsonSchema = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/** The JSON schema of the `pagination` object in every answer. */
export const paginationSchema: JsonSchema = {
  type: 'object',
  required: ['pageCount', 'pageNo', 'pageSize', 'totalRecordCount'],
  properties: {
    pageCount: countSchema,
    pageNo: exactInteger,
    pageSize: countSchema,
    totalRecordCount: countSchema,
  },
};
