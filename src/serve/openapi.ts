import { type Browsable, browsables, parametersOf, sortsOf } from '../contract/browsable.ts';
import {
  connectionSchema,
  itemSchema,
  type JsonSchema,
  keptResources,
  lists,
  resourceNames,
} from '../contract/lists.ts';
import * as shape from '../contract/shapes.ts';
import { exact } from '../contract/validate.ts';
import { changesOutput } from '../render/outputs/outputs.ts';
import { failureOutput } from '../render/outputs/runs.ts';
import { version } from '../version.ts';
import { apiPath, changesLimit, paging } from './api.ts';
import { changeParameters, changeSort, filterTextMax, operations } from './query.ts';

const { list, object, orNull } = shape;
const health = object({
  status: shape.oneOf(['ok', 'stale', 'unreadable'], 'the worst that applies'),
  message: shape.optional(shape.text('why it is unreadable, if somebody has to upgrade it')),
  lists: shape.optional(
    list(
      object({
        resource: shape.oneOf<string>(resourceNames, 'the list'),
        lastCompletedAt: orNull(shape.time('when its last completed run ended; null if none has')),
        ageSeconds: orNull(shape.number('time since then; null if none has, or it is in the future')),
      }),
      'the lists; left out if the mirror can not be read',
    ),
  ),
});
/** The answer of `/healthz`. */
export type HealthAnswer = shape.ValueOf<typeof health>;

const pagination = object({
  pageCount: shape.whole('the number of pages', 0),
  pageNo: shape.whole('the page'),
  pageSize: shape.whole('records on a full page', 0),
  totalRecordCount: shape.whole('records of the list', 0),
});

const changesPage = object({
  items: list(changesOutput, 'the changes'),
  cursor: shape.text('where the next ones begin'),
  isComplete: shape.yesOrNo('whether nothing is left until the next run ends'),
});

/**
 * The OpenAPI document of what a server has for programs. It uses the same schemas that check the service's own answers, and those of
 * the outputs of commands.
 */
export function openApiDocument(): object {
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
      ...Object.fromEntries(browsables.map(each => [apiPath(each), { get: listOperation(each) }])),
      '/v2/changes': { get: changesOperation },
      '/healthz': {
        get: open('health', 'How fresh the lists are.', {
          200: answer('No list is older than allowed.', ref('schemas', 'Health')),
          503: answer(
            'A list is older than allowed, or the mirror can not be read.',
            ref('schemas', 'Health'),
          ),
        }),
      },
      '/livez': {
        get: open('live', 'That the server answers at all.', {
          200: answer('It does.', ref('schemas', 'Health')),
        }),
      },
      '/metrics': {
        get: open('metrics', 'Metrics in the text form of Prometheus.', {
          200: { description: 'The metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
          500: ref('responses', 'Fault'),
        }),
      },
      '/openapi.json': {
        get: open('document', 'This document.', { 200: answer('The document.', { type: 'object' }) }),
      },
    },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      parameters: Object.fromEntries(parameters.map(each => [each.name, each])),
      schemas: { Pagination: pagination, Error: exact(failureOutput), Health: exact(health) },
      responses: {
        BadRequest: refusal('The request can not be served; the message says what is wrong with it.'),
        Unauthorized: refusal('The token is missing or wrong.'),
        Unavailable: refusal('The mirror is of another shape; the message says what to do about it.'),
        Fault: refusal('The server failed to answer; its log says why.'),
      },
    },
  };
}

function listOperation(browsable: Browsable): object {
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
    parameters: parametersNamed(['pageNo', 'pageSize', ...parametersOf(browsable)], sortsOf(browsable)),
    responses: {
      200: { headers: etag, ...answer('The page; past the end, one without items.', page) },
      ...refusals,
    },
  };
}

function itemOf({ resource, idName }: Browsable): JsonSchema {
  const definition = lists.find(each => each.resource === resource);
  if (definition === undefined) return connectionSchema;
  const schema = itemSchema(definition);
  if (idName === 'id') return schema;
  const _id = { type: 'integer', description: 'The id of the record in this mirror.' };
  return { ...schema, properties: { _id, ...(schema.properties as object) } };
}

const parameter = (name: string, description: string, schema: object) => ({
  name,
  in: 'query',
  description: `${description} Given at most once.`,
  schema,
});
const text = (minLength = 0) => ({ type: 'string', minLength, maxLength: filterTextMax });
const whole = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum });
const momentText =
  'A date, or a time in ISO 8601; it counts to the second, and is in UTC if it names no zone.';
const words =
  'Words of titles, names and references, and of the names of connections, in any case; all are wanted.';
const cursorText =
  'The cursor of the answer before; not beside sinceRun. Without both, it begins at the first run.';

const parameters = [
  parameter('pageNo', 'The page; 1 if it is left out.', whole(1, paging.pageNoMax)),
  parameter(
    'pageSize',
    `Records of a page, usually ${paging.pageSizeDefault}.`,
    whole(1, paging.pageSizeMax),
  ),
  parameter('cursor', cursorText, { type: 'string' }),
  parameter('sinceRun', 'Changes of later runs.', whole(0, Number.MAX_SAFE_INTEGER)),
  parameter('limit', `Changes of a page, usually ${changesLimit.default}.`, whole(1, changesLimit.max)),
  parameter('source', 'The source connection: its id, or its name in any case.', text(1)),
  parameter('destination', 'The destination connection, in the same way.', text(1)),
  parameter('kind', 'The kind of the document, to the letter.', text()),
  parameter('from', `Not before this. ${momentText}`, text(10)),
  parameter('to', `Not after this date or second. ${momentText}`, text(10)),
  parameter('q', words, text()),
  parameter('order', 'Descending or not.', { enum: ['asc', 'desc'] }),
  parameter('resource', 'The list.', { enum: keptResources }),
  parameter('operation', 'What happened.', { enum: operations }),
  parameter('run', 'The run.', whole(1, Number.MAX_SAFE_INTEGER)),
  { ...parameter('If-None-Match', 'The ETag of an earlier answer.', { type: 'string' }), in: 'header' },
];

/** Each list has its own values for `sort`. */
function parametersNamed(names: readonly string[], sorts: readonly string[]): object[] {
  return [...names, 'If-None-Match'].map(name =>
    name === 'sort' ? parameter('sort', 'By what it is sorted.', { enum: sorts }) : ref('parameters', name),
  );
}

function ref(kind: 'parameters' | 'responses' | 'schemas', name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` };
}

function answer(description: string, schema: object): object {
  return { description, content: { 'application/json': { schema } } };
}

function refusal(description: string): object {
  return answer(description, ref('schemas', 'Error'));
}

/** An operation that needs no token. */
function open(operationId: string, summary: string, responses: object): object {
  return { operationId, summary, responses };
}

const etag = { ETag: { description: 'Changes with each run.', schema: { type: 'string' } } };

const refusals = {
  304: { description: 'Nothing has changed since the answer with that ETag.', headers: etag },
  400: ref('responses', 'BadRequest'),
  401: ref('responses', 'Unauthorized'),
  500: ref('responses', 'Fault'),
  503: ref('responses', 'Unavailable'),
};

const changesOperation = {
  operationId: 'changes',
  summary: 'What ended runs inserted, updated and removed, each change once.',
  security: [{ token: [] }],
  parameters: parametersNamed(['cursor', 'sinceRun', 'limit', ...changeParameters], [changeSort]),
  responses: {
    200: { headers: etag, ...answer('Some changes, and where the next ones begin.', exact(changesPage)) },
    410: refusal('The mirror can not tell what came after the cursor; the message says where to go on.'),
    ...refusals,
  },
};
