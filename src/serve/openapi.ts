import { type Browsable, browsables, parametersOf, sortsOf } from '../contract/browsable.ts';
import {
  connectionSchema,
  connectionsPath,
  itemSchema,
  type JsonSchema,
  keptResources,
  lists,
  paginationSchema,
} from '../contract/lists.ts';
import { version } from '../version.ts';
import { changesLimit, paging } from './limits.ts';
import { changeParameters, changeSort, filterTextMax, operations } from './list-query.ts';
import type { Metrics } from './metrics.ts';

/** The optional parts of a server, in addition to its lists. */
export interface Served {
  readonly metrics?: Metrics;
  readonly changes?: { readonly filtered?: unknown };
  readonly filtered?: unknown;
  readonly pages?: { readonly searchTextMax: number; readonly searchPagesMax: number };
}

/** The OpenAPI document of a server. It uses the same schemas that check the service's own answers. */
export function openApiDocument(served: Served): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'docmirror',
      version,
      description: "A mirror of a Document Export Service, read-only, in the service's own shape.",
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths: {
      ...Object.fromEntries(
        browsables
          .filter(({ resource }) => resource !== 'connections' || served.filtered !== undefined)
          .map(each => [pathOf(each), { get: listOperation(each, served.filtered !== undefined) }]),
      ),
      ...(served.changes !== undefined && {
        '/v2/changes': { get: changesOperation(served.changes.filtered !== undefined) },
      }),
      ...(served.pages !== undefined && pagePaths),
      '/healthz': { get: healthOperation },
      '/livez': { get: liveOperation },
      ...(served.metrics !== undefined && { '/metrics': { get: metricsOperation } }),
      '/openapi.json': { get: documentOperation },
    },
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        password: { type: 'http', scheme: 'basic', description: 'Any user name, the token as password.' },
      },
      parameters: {
        pageNo: queryParameter('pageNo', paging.pageNoFirst, paging.pageNoMax, paging.pageNoFirst),
        pageSize: queryParameter('pageSize', 1, paging.pageSizeMax, paging.pageSizeDefault),
        ...(served.changes !== undefined && feedParameters),
        ...((served.filtered !== undefined || served.pages !== undefined) && filterParameters),
        ...(served.pages !== undefined && pageParameters(served.pages)),
        ifNoneMatch: {
          name: 'If-None-Match',
          in: 'header',
          description: 'The ETag of an earlier answer.',
          schema: { type: 'string' },
        },
      },
      schemas: { Pagination: paginationSchema, Error: errorSchema, Health: healthSchema },
      responses: refusals,
    },
  };
}

function pathOf({ resource }: Browsable): string {
  return lists.find(list => list.resource === resource)?.path ?? connectionsPath;
}

function itemOf({ resource, idName }: Browsable): JsonSchema {
  const list = lists.find(each => each.resource === resource);
  if (list === undefined) return connectionSchema;
  const schema = itemSchema(list);
  if (idName === 'id') return schema;
  const _id = { type: 'integer', description: 'The id of the record in this mirror.' };
  return { ...schema, properties: { _id, ...(schema.properties as object) } };
}

function listOperation(browsable: Browsable, isFiltered: boolean): object {
  const page: JsonSchema = {
    type: 'object',
    required: ['items', 'pagination'],
    additionalProperties: false,
    properties: {
      items: { type: 'array', maxItems: paging.pageSizeMax, items: itemOf(browsable) },
      pagination: ref('schemas', 'Pagination'),
    },
  };
  return {
    operationId: `list-${browsable.resource}`,
    summary: `A page of the list: ${browsable.title.toLowerCase()}.`,
    security: [{ token: [] }],
    parameters: [
      ...parameters('pageNo', 'pageSize', 'ifNoneMatch'),
      ...(isFiltered ? filtersOf(parametersOf(browsable), sortsOf(browsable)) : []),
    ],
    responses: {
      200: { description: 'The page; past the end, one without items.', headers: etag, ...json(page) },
      304: notModified,
      400: ref('responses', 'BadRequest'),
      ...(isFiltered && { 429: ref('responses', 'TooMany') }),
      ...tokenRefusals,
    },
  };
}

/** The parameters of filters by their names. Each list has its own values for `sort`. */
function filtersOf(names: readonly string[], sorts: readonly string[]): JsonSchema[] {
  return names.map(name =>
    name === 'sort'
      ? { name, in: 'query', description: 'By what it is sorted.', schema: { enum: sorts } }
      : ref('parameters', parameterKey(name)),
  );
}

/** The key of a filter's parameter. `q` and `resource` alone are the keys of other parameters. */
function parameterKey(name: string): string {
  return name === 'q' || name === 'resource' ? `filter-${name}` : name;
}

const textParameter = (name: string, description: string, schema: JsonSchema = {}) => ({
  name,
  in: 'query',
  description: `${description} Given at most once.`,
  schema: { type: 'string', maxLength: filterTextMax, ...schema },
});

const choiceParameter = (name: string, description: string, values: readonly string[]) => ({
  name,
  in: 'query',
  description: `${description} Given at most once.`,
  schema: { enum: values },
});

const momentText =
  'A date, or a time in ISO 8601; it counts to the second, and is in UTC if it names no zone.';

const filterParameters = {
  source: textParameter('source', 'The source connection: its id, or its name in any case.', {
    minLength: 1,
  }),
  destination: textParameter('destination', 'The destination connection, in the same way.', { minLength: 1 }),
  kind: textParameter('kind', 'The kind of the document, to the letter.'),
  from: textParameter('from', `Not before this. ${momentText}`, { minLength: 10 }),
  to: textParameter('to', `Not after this date or second. ${momentText}`, { minLength: 10 }),
  'filter-q': textParameter('q', 'Words of titles, names and references, in any case; all are wanted.'),
  order: choiceParameter('order', 'Descending or not.', ['asc', 'desc']),
  'filter-resource': choiceParameter('resource', 'The list.', keptResources),
  operation: choiceParameter('operation', 'What happened.', operations),
  run: { ...queryParameter('run', 1, Number.MAX_SAFE_INTEGER), description: 'The run.' },
};

function ref(kind: 'parameters' | 'responses' | 'schemas', name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` };
}

function parameters(...names: string[]): JsonSchema[] {
  return names.map(name => ref('parameters', name));
}

function queryParameter(name: string, minimum: number, maximum: number, fallback?: number): object {
  return {
    name,
    in: 'query',
    description: 'Given at most once, in decimal digits.',
    schema: { type: 'integer', minimum, maximum, ...(fallback !== undefined && { default: fallback }) },
  };
}

const pageParameters = ({ searchTextMax, searchPagesMax }: NonNullable<Served['pages']>) => ({
  page: queryParameter('page', 1, searchPagesMax, 1),
  after: placeParameter('after'),
  before: placeParameter('before'),
  resource: {
    name: 'resource',
    in: 'path',
    required: true,
    schema: { enum: keptResources },
  },
  id: { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
  q: {
    name: 'q',
    in: 'query',
    description: 'Given at most once.',
    schema: { type: 'string', maxLength: searchTextMax },
  },
});

function placeParameter(name: string): object {
  return {
    name,
    in: 'query',
    description: 'Where the page begins, as a link of another page has it.',
    schema: { type: 'string' },
  };
}

function json(schema: JsonSchema): object {
  return { content: { 'application/json': { schema } } };
}

function refusal(description: string): object {
  return { description, ...json(ref('schemas', 'Error')) };
}

const etag = { ETag: { description: 'Changes with each run.', schema: { type: 'string' } } };
const notModified = { description: 'Nothing has changed since the answer with that ETag.', headers: etag };

const refusals = {
  BadRequest: refusal('The request can not be served; the message says what is wrong with it.'),
  Unauthorized: refusal('The token is missing or wrong.'),
  Unavailable: refusal('The mirror is of another shape; the message says what to do about it.'),
  TooMany: refusal('Too many requests wait for their turn.'),
  Fault: refusal('The server failed to answer; its log says why.'),
};

const errorSchema: JsonSchema = {
  type: 'object',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      additionalProperties: false,
      properties: { code: { type: 'string' }, message: { type: 'string' } },
    },
  },
};

const healthSchema: JsonSchema = {
  type: 'object',
  required: ['status'],
  additionalProperties: false,
  properties: {
    status: { enum: ['ok', 'stale', 'unreadable'] },
    message: { type: 'string', description: 'Why it is unreadable, if somebody has to upgrade it.' },
    lists: {
      type: 'array',
      items: {
        type: 'object',
        required: ['resource', 'lastCompletedAt', 'ageSeconds'],
        additionalProperties: false,
        properties: {
          resource: { enum: lists.map(list => list.resource) },
          lastCompletedAt: { type: ['string', 'null'], format: 'date-time' },
          ageSeconds: { type: ['number', 'null'], minimum: 0 },
        },
      },
    },
  },
};

const text = (type: string) => ({ content: { [type]: { schema: { type: 'string' } } } });
const health = json(ref('schemas', 'Health'));

const page = { description: 'One HTML page, complete in itself.', ...text('text/html') };
const tokenRefusals = {
  401: ref('responses', 'Unauthorized'),
  500: ref('responses', 'Fault'),
  503: ref('responses', 'Unavailable'),
};

const feedParameters = {
  cursor: {
    name: 'cursor',
    in: 'query',
    description:
      'The cursor of the answer before; not beside sinceRun. Without both, it begins at the first run.',
    schema: { type: 'string' },
  },
  sinceRun: queryParameter('sinceRun', 0, Number.MAX_SAFE_INTEGER, 0),
  limit: queryParameter('limit', 1, changesLimit.max, changesLimit.default),
};

const changeSchema: JsonSchema = {
  type: 'object',
  required: ['runId', 'changedAt', 'resource', 'recordId', 'operation', 'record', 'before'],
  additionalProperties: false,
  properties: {
    runId: { type: 'integer' },
    changedAt: { type: ['string', 'null'] },
    resource: { enum: keptResources },
    recordId: { type: 'integer' },
    operation: { enum: ['insert', 'update', 'removal'] },
    record: { type: ['object', 'null'], description: 'After the change or, if it was removed, before it.' },
    before: { type: ['object', 'null'], description: 'Before an update.' },
    isErased: { const: true, description: 'The text of the record was erased.' },
  },
};

const changesOperation = (isFiltered: boolean) => ({
  operationId: 'changes',
  summary: 'What ended runs inserted, updated and removed, each change once.',
  security: [{ token: [] }],
  parameters: [
    ...parameters('cursor', 'sinceRun', 'limit', 'ifNoneMatch'),
    ...(isFiltered ? filtersOf(changeParameters, [changeSort]) : []),
  ],
  responses: {
    200: {
      description: 'Some changes, and where the next ones begin.',
      headers: etag,
      ...json({
        type: 'object',
        required: ['items', 'cursor', 'isComplete'],
        additionalProperties: false,
        properties: {
          items: { type: 'array', maxItems: changesLimit.max, items: changeSchema },
          cursor: { type: 'string' },
          isComplete: { type: 'boolean', description: 'Nothing is left until the next run ends.' },
        },
      }),
    },
    304: notModified,
    400: ref('responses', 'BadRequest'),
    410: refusal('The mirror can not tell what came after the cursor; the message says where to go on.'),
    ...(isFiltered && { 429: ref('responses', 'TooMany') }),
    ...tokenRefusals,
  },
});

const refusedPage = { ...page, description: 'The page can not be shown; it says why.' };
const refusedPages = { 400: refusedPage, 429: refusedPage };
const shownPage = { 200: { ...page, headers: etag }, 304: notModified };

const pagePaths = {
  '/': pageAt('report', 'The report, for people.', ['ifNoneMatch'], { ...shownPage, 400: refusedPage }),
  ...Object.fromEntries(browsables.flatMap(listPaths)),
  ...pathsOf('changes', 'Changes', changeParameters, [changeSort]),
  '/connections/{id}': pageAt('connection', 'One connection, for people.', ['id', 'ifNoneMatch'], {
    ...shownPage,
    ...refusedPages,
    404: { ...page, description: 'The mirror never had such a connection.' },
  }),
  '/records/{resource}/{id}': pageAt(
    'record',
    'One record with all its versions, for people.',
    ['resource', 'id', 'ifNoneMatch'],
    {
      ...shownPage,
      302: { description: 'A connection has a page of its own.' },
      400: refusedPage,
      404: { ...page, description: 'The mirror never had this record.' },
    },
  ),
  '/search': pageAt('search', 'Records by words of their titles and references, for people.', ['q', 'page'], {
    200: page,
    ...refusedPages,
  }),
};

function listPaths(browsable: Browsable): [string, object][] {
  const { resource, title } = browsable;
  return Object.entries(pathsOf(resource, title, parametersOf(browsable), sortsOf(browsable)));
}

/** A list for people, as pages and as a file. */
function pathsOf(name: string, title: string, names: readonly string[], sorts: readonly string[]): object {
  const filters = filtersOf(names, sorts);
  const file = { 200: { description: 'All that fits, as comma-separated values.', ...text('text/csv') } };
  const empty = { 302: { description: 'The same address without its empty parameters.' } };
  return {
    [`/${name}`]: pageAt(
      `browse-${name}`,
      `${title}, for people.`,
      ['after', 'before', 'ifNoneMatch'],
      { ...shownPage, ...empty, ...refusedPages },
      filters,
    ),
    [`/${name}.csv`]: pageAt(
      `download-${name}`,
      `${title}, as a file.`,
      [],
      { ...file, ...refusedPages },
      filters,
    ),
  };
}

function pageAt(
  operationId: string,
  summary: string,
  names: readonly string[],
  responses: object,
  filters: readonly JsonSchema[] = [],
): object {
  return {
    get: {
      operationId,
      summary,
      security: [{ token: [] }, { password: [] }],
      parameters: [...parameters(...names), ...filters],
      responses: { ...responses, ...tokenRefusals },
    },
  };
}

const healthOperation = {
  operationId: 'health',
  summary: 'How fresh the lists are.',
  responses: {
    200: { description: 'No list is older than allowed.', ...health },
    503: { description: 'A list is older than allowed, or the mirror can not be read.', ...health },
  },
};

const liveOperation = {
  operationId: 'live',
  summary: 'That the server answers at all.',
  responses: { 200: { description: 'It does.', ...health } },
};

const metricsOperation = {
  operationId: 'metrics',
  summary: 'Metrics in the text form of Prometheus.',
  responses: {
    200: { description: 'The metrics.', ...text('text/plain') },
    500: ref('responses', 'Fault'),
  },
};

const documentOperation = {
  operationId: 'document',
  summary: 'This document.',
  responses: { 200: { description: 'The document.', ...json({ type: 'object' }) } },
};
