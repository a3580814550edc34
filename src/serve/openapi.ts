import type { Field } from '../contract/lists.ts';
import * as shape from '../contract/shapes.ts';
import { failureOutput, outputs } from '../render/outputs.ts';
import { type Browsable, browsables } from '../store/read/browsable.ts';
import { freshness } from '../store/read/runs/freshness.ts';
import { version } from '../version.ts';
import { changesQuery, listQuery } from './query.ts';

const { exact, list, object, orNull } = shape;
const ageSeconds = orNull(shape.number('null also if it is in the future'));
const health = object({
  status: shape.oneOf(['ok', 'stale', 'unreadable'], 'the worst that applies'),
  message: shape.optional(shape.text('why it is unreadable, if somebody has to upgrade it')),
  lists: shape.optional(list(object({ ...freshness, ageSeconds }))),
});
/** The answer of `/healthz`. */
export type HealthAnswer = shape.ValueOf<typeof health>;

const atLeastNone = shape.whole('', 0);
const [pageCount, pageSize, totalRecordCount] = [atLeastNone, atLeastNone, atLeastNone];
const pagination = object({ pageCount, pageNo: shape.whole(), pageSize, totalRecordCount });

const changesPage = object({
  items: list(outputs.changes),
  cursor: shape.text('where the next ones begin'),
  isComplete: shape.yesOrNo('whether nothing is left until the next run ends'),
});

const content = (description: string, schema: object, type = 'application/json') => {
  return { description, content: { [type]: { schema } } };
};
const refusal = (description: string) => content(description, { $ref: '#/components/schemas/Error' });
const headers = { ETag: { description: 'Changes with each run.', schema: { type: 'string' } } };

const refusals = {
  304: { description: 'Nothing has changed since.', headers },
  400: refusal('A parameter does not fit.'),
  401: refusal('The token is missing or wrong.'),
  503: refusal('The mirror has to be upgraded.'),
};

const operation = (operationId: string, summary: string, given: object, more = {}) => {
  const responses = { ...given, 500: refusal('The server failed; its log says why.') };
  return { get: { operationId, summary, responses, ...more } };
};

/** The OpenAPI document of what a server has for programs. The same schemas check the service's answers. */
export function openApiDocument(): object {
  const healthy = (description: string) => content(description, exact(health));
  const metrics = content('The metrics.', { type: 'string' }, 'text/plain');
  const document = content('The document.', { type: 'object' });
  return {
    openapi: '3.1.0',
    info: {
      title: 'docmirror',
      version,
      description: "A mirror of a Document Export Service, read-only, in the service's own shape.",
    },
    paths: {
      ...Object.fromEntries(browsables.map(each => [`/v2/${each.resource}`, listOperation(each)])),
      '/v2/changes': operation(
        'changes',
        'What ended runs inserted, updated and removed, each change once.',
        {
          200: { headers, ...content('Some changes, and where the next ones begin.', changesPage) },
          410: refusal('The cursor can not be followed; the message says where to go on.'),
          ...refusals,
        },
        withToken(changesQuery('cursor', 'sinceRun', 'limit')),
      ),
      '/healthz': operation('health', 'How fresh the lists are.', {
        200: healthy('No list is older than allowed.'),
        503: healthy('A list is older than allowed, or the mirror can not be read.'),
      }),
      '/livez': operation('live', 'That the server answers at all.', { 200: healthy('It does.') }),
      '/metrics': operation('metrics', 'Metrics in the text form of Prometheus.', { 200: metrics }),
      '/openapi.json': operation('document', 'This document.', { 200: document }),
    },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: exact(failureOutput) },
    },
  };
}

function listOperation(browsable: Browsable): object {
  const { resource, title } = browsable;
  const page = object({ items: list(itemOf(browsable)), pagination: exact(pagination) });
  const schema = { ...page, additionalProperties: false };
  const found = { headers, ...content('The page; past the end, one without items.', schema) };
  const about = `A page of the list: ${title.toLowerCase()}.`;
  const parameters = withToken(listQuery(browsable, 'pageNo', 'pageSize'));
  return operation(`list-${resource}`, about, { 200: found, ...refusals }, parameters);
}

/** Every JSON reader represents it exactly. */
const id = { ...shape.whole(), minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const textOrNull = orNull(shape.text());
const connection = orNull(object(shape.partial({ id: orNull(id), name: textOrNull })));
const values: Record<Field['kind'], shape.Shape> = {
  text: textOrNull,
  integer: orNull(id),
  connection,
  texts: orNull(list(textOrNull)),
  connections: orNull(list(connection)),
};

/** A record: everything except its id can be null or missing. */
function itemOf({ fields, idName }: Browsable): shape.Shape {
  const all = fields.map(({ name, kind }) => [name, values[kind]]);
  return object({ [idName]: id, ...shape.partial(Object.fromEntries(all)) });
}

function withToken({ properties }: ReturnType<typeof listQuery>): object {
  const inQuery = Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
  const [description, schema] = ['The ETag of an earlier answer.', { type: 'string' }];
  const known = { name: 'If-None-Match', in: 'header', description, schema };
  return { security: [{ token: [] }], parameters: [...inQuery, known] };
}
