import {
  itemSchema,
  type JsonSchema,
  keptResources,
  type ListDefinition,
  lists,
  paginationSchema,
} from '../contract/lists.ts';
import { version } from '../version.ts';
import { changesLimit, paging } from './limits.ts';
import type { Metrics } from './metrics.ts';

/** What a server has besides its lists. */
export interface Served {
  readonly metrics?: Metrics;
  readonly changes?: unknown;
  readonly pages?: { readonly searchTextMax: number };
}

/** The OpenAPI document of a server, made of the same schemas by which the service's own answers are checked. */
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
      ...Object.fromEntries(lists.map(list => [list.path, { get: listOperation(list) }])),
      ...(served.changes !== undefined && { '/v2/changes': { get: changesOperation } }),
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
        ...(served.changes !== undefined && changeParameters),
        ...(served.pages !== undefined && pageParameters(served.pages.searchTextMax)),
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

function listOperation(list: ListDefinition): object {
  const page: JsonSchema = {
    type: 'object',
    required: ['items', 'pagination'],
    additionalProperties: false,
    properties: {
      items: { type: 'array', maxItems: paging.pageSizeMax, items: itemSchema(list) },
      pagination: ref('schemas', 'Pagination'),
    },
  };
  return {
    operationId: `list-${list.resource}`,
    summary: `A page of the list: ${list.title.toLowerCase()}.`,
    security: [{ token: [] }],
    parameters: parameters('pageNo', 'pageSize', 'ifNoneMatch'),
    responses: {
      200: { description: 'The page; past the end, one without items.', headers: etag, ...json(page) },
      304: notModified,
      400: ref('responses', 'BadRequest'),
      ...tokenRefusals,
    },
  };
}

function ref(kind: 'parameters' | 'responses' | 'schemas', name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` };
}

function parameters(...names: string[]): JsonSchema[] {
  return names.map(name => ref('parameters', name));
}

function queryParameter(name: string, minimum: number, maximum: number, fallback: number): object {
  return {
    name,
    in: 'query',
    description: 'Given at most once, in decimal digits.',
    schema: { type: 'integer', minimum, maximum, default: fallback },
  };
}

const pageParameters = (searchTextMax: number) => ({
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

const changeParameters = {
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

const changesOperation = {
  operationId: 'changes',
  summary: 'What ended runs inserted, updated and removed, each change once.',
  security: [{ token: [] }],
  parameters: parameters('cursor', 'sinceRun', 'limit', 'ifNoneMatch'),
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
    410: refusal('The mirror can not say what came after the cursor; the message says where to go on.'),
    ...tokenRefusals,
  },
};

const pagePaths = {
  '/': pageAt('report', 'The report, for people.', ['ifNoneMatch'], {
    200: { ...page, headers: etag },
    304: notModified,
  }),
  '/records/{resource}/{id}': pageAt(
    'record',
    'One record with all its versions, for people.',
    ['resource', 'id', 'ifNoneMatch'],
    {
      200: { ...page, headers: etag },
      304: notModified,
      404: { ...page, description: 'The mirror never had this record.' },
    },
  ),
  '/search': pageAt('search', 'Records by words of their titles and references, for people.', ['q'], {
    200: page,
    400: ref('responses', 'BadRequest'),
    429: refusal('Too many searches go on at once.'),
  }),
};

function pageAt(operationId: string, summary: string, names: readonly string[], responses: object): object {
  return {
    get: {
      operationId,
      summary,
      security: [{ token: [] }, { password: [] }],
      parameters: parameters(...names),
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
