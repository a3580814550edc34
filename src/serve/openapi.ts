import { type Browsable, browsables, parametersOf, sortsOf } from '../contract/browsable.ts';
import {
  connectionSchema,
  connectionsPath,
  itemSchema,
  type JsonSchema,
  keptResources,
  lists,
  paginationSchema,
  resourceNames,
} from '../contract/lists.ts';
import {
  list,
  number,
  object,
  oneOf,
  optional,
  orNull,
  text,
  time,
  type ValueOf,
  yesOrNo,
} from '../contract/shapes.ts';
import { exact } from '../contract/validate.ts';
import { failureOutput } from '../render/outputs/parts.ts';
import { changesOutput } from '../render/outputs/records.ts';
import { version } from '../version.ts';
import { changesLimit, paging } from './limits.ts';
import { changeParameters, changeSort, filterTextMax, operations } from './list-query.ts';

const health = object({
  status: oneOf(['ok', 'stale', 'unreadable'], 'the worst that applies'),
  message: optional(text('why it is unreadable, if somebody has to upgrade it')),
  lists: optional(
    list(
      object({
        resource: oneOf<string>(resourceNames, 'the list'),
        lastCompletedAt: orNull(time('when its last completed run ended; null if none has')),
        ageSeconds: orNull(number('time since then; null if none has, or it is in the future')),
      }),
      'the lists; left out if no mirror is served, or it can not be read',
    ),
  ),
});
/** The answer of `/healthz`. */
export type HealthAnswer = ValueOf<typeof health>;

/** The parts of a server that decide what its document describes. */
interface Served {
  readonly metrics?: unknown;
  readonly changes?: { readonly filtered?: unknown };
  readonly filtered?: unknown;
}

/**
 * The OpenAPI document of what a server has for programs. It uses the same schemas that check the service's own answers, and those of
 * the outputs of commands.
 */
export function openApiDocument({ metrics, changes, filtered }: Served): object {
  const isFiltered = filtered !== undefined;
  const served = browsables.filter(({ resource }) => resource !== 'connections' || isFiltered);
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
      ...Object.fromEntries(served.map(each => [pathOf(each), { get: listOperation(each, isFiltered) }])),
      ...(changes !== undefined && {
        '/v2/changes': { get: changesOperation(changes.filtered !== undefined) },
      }),
      '/healthz': { get: healthOperation },
      '/livez': { get: liveOperation },
      ...(metrics !== undefined && { '/metrics': { get: metricsOperation } }),
      '/openapi.json': { get: documentOperation },
    },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      parameters: {
        pageNo: wholeParameter('pageNo', paging.pageNoFirst, paging.pageNoMax, paging.pageNoFirst),
        pageSize: wholeParameter('pageSize', 1, paging.pageSizeMax, paging.pageSizeDefault),
        ...(changes !== undefined && feedParameters),
        ...(isFiltered && filterParameters),
        ifNoneMatch: {
          name: 'If-None-Match',
          in: 'header',
          description: 'The ETag of an earlier answer.',
          schema: { type: 'string' },
        },
      },
      schemas: { Pagination: paginationSchema, Error: exact(failureOutput), Health: exact(health) },
      responses: refusals,
    },
  };
}

function pathOf({ resource }: Browsable): string {
  return lists.find(each => each.resource === resource)?.path ?? connectionsPath;
}

function itemOf({ resource, idName }: Browsable): JsonSchema {
  const definition = lists.find(each => each.resource === resource);
  if (definition === undefined) return connectionSchema;
  const schema = itemSchema(definition);
  if (idName === 'id') return schema;
  const _id = { type: 'integer', description: 'The id of the record in this mirror.' };
  return { ...schema, properties: { _id, ...(schema.properties as object) } };
}

function listOperation(browsable: Browsable, isFiltered: boolean): object {
  const page = {
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
      ...refusalsOf(isFiltered),
    },
  };
}

const changesPage = object({
  items: list(changesOutput, 'the changes'),
  cursor: text('where the next ones begin'),
  isComplete: yesOrNo('whether nothing is left until the next run ends'),
});

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
      ...json(exact(changesPage)),
    },
    410: refusal('The mirror can not tell what came after the cursor; the message says where to go on.'),
    ...refusalsOf(isFiltered),
  },
});

/** The parameters of filters by their names. Each list has its own values for `sort`. */
function filtersOf(names: readonly string[], sorts: readonly string[]): JsonSchema[] {
  return names.map(name =>
    name === 'sort'
      ? { name, in: 'query', description: 'By what it is sorted.', schema: { enum: sorts } }
      : ref('parameters', name),
  );
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

function wholeParameter(name: string, minimum: number, maximum: number, fallback?: number): object {
  return {
    name,
    in: 'query',
    description: 'Given at most once, in decimal digits.',
    schema: { type: 'integer', minimum, maximum, ...(fallback !== undefined && { default: fallback }) },
  };
}

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
  q: textParameter('q', 'Words of titles, names and references, in any case; all are wanted.'),
  order: choiceParameter('order', 'Descending or not.', ['asc', 'desc']),
  resource: choiceParameter('resource', 'The list.', keptResources),
  operation: choiceParameter('operation', 'What happened.', operations),
  run: { ...wholeParameter('run', 1, Number.MAX_SAFE_INTEGER), description: 'The run.' },
};

const feedParameters = {
  cursor: {
    name: 'cursor',
    in: 'query',
    description:
      'The cursor of the answer before; not beside sinceRun. Without both, it begins at the first run.',
    schema: { type: 'string' },
  },
  sinceRun: wholeParameter('sinceRun', 0, Number.MAX_SAFE_INTEGER, 0),
  limit: wholeParameter('limit', 1, changesLimit.max, changesLimit.default),
};

function ref(kind: 'parameters' | 'responses' | 'schemas', name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` };
}

function parameters(...names: string[]): JsonSchema[] {
  return names.map(name => ref('parameters', name));
}

function json(schema: JsonSchema): object {
  return { content: { 'application/json': { schema } } };
}

function refusal(description: string): object {
  return { description, ...json(ref('schemas', 'Error')) };
}

const etag = { ETag: { description: 'Changes with each run.', schema: { type: 'string' } } };

const refusals = {
  BadRequest: refusal('The request can not be served; the message says what is wrong with it.'),
  Unauthorized: refusal('The token is missing or wrong.'),
  Unavailable: refusal('The mirror is of another shape; the message says what to do about it.'),
  TooMany: refusal('Too many requests wait for their turn.'),
  Fault: refusal('The server failed to answer; its log says why.'),
};

const refusalsOf = (isFiltered: boolean) => ({
  304: { description: 'Nothing has changed since the answer with that ETag.', headers: etag },
  400: ref('responses', 'BadRequest'),
  401: ref('responses', 'Unauthorized'),
  ...(isFiltered && { 429: ref('responses', 'TooMany') }),
  500: ref('responses', 'Fault'),
  503: ref('responses', 'Unavailable'),
});

const healthJson = json(ref('schemas', 'Health'));

const healthOperation = {
  operationId: 'health',
  summary: 'How fresh the lists are.',
  responses: {
    200: { description: 'No list is older than allowed.', ...healthJson },
    503: { description: 'A list is older than allowed, or the mirror can not be read.', ...healthJson },
  },
};

const liveOperation = {
  operationId: 'live',
  summary: 'That the server answers at all.',
  responses: { 200: { description: 'It does.', ...healthJson } },
};

const metricsOperation = {
  operationId: 'metrics',
  summary: 'Metrics in the text form of Prometheus.',
  responses: {
    200: { description: 'The metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
    500: ref('responses', 'Fault'),
  },
};

const documentOperation = {
  operationId: 'document',
  summary: 'This document.',
  responses: { 200: { description: 'The document.', ...json({ type: 'object' }) } },
};
