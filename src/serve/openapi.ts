import type { Field } from '../contract/lists.ts';
import * as shape from '../contract/shapes.ts';
import { failureOutput, outputs } from '../render/outputs.ts';
import { type Browsable, browsables } from '../store/read/browsable.ts';
import { freshness } from '../store/read/runs/freshness.ts';
import { version } from '../version.ts';
import { changesQuery, listQuery } from './api.ts';
import fixed from './openapi.json' with { type: 'json' };

const { exact, list, object, orNull } = shape;
const ageSeconds = orNull(shape.number('null also if it is in the future'));
const health = object({
  status: shape.oneOf(['ok', 'stale', 'unreadable'], 'the worst that applies'),
  message: shape.optional(shape.text('why it is unreadable, if somebody has to upgrade it')),
  lists: shape.optional(list(object({ ...freshness, ageSeconds }))),
});
/** The answer of `/healthz`. */
export type HealthAnswer = shape.ValueOf<typeof health>;

const [count, pageNo] = [shape.whole('', 0), shape.whole()];
const pagination = object({ pageCount: count, pageNo, pageSize: count, totalRecordCount: count });

const changesPage = object({
  items: list(outputs.changes),
  cursor: shape.text('where the next ones begin'),
  isComplete: shape.yesOrNo('whether nothing is left until the next run ends'),
});

/** The OpenAPI document of what a server has for programs: `openapi.json` with schemas that also check the service's answers. */
export function openApiDocument(): object {
  const { openapi, info, paths, components } = fixed.document;
  const changesPath = withParameters(paths['/v2/changes'].get, changesQuery('cursor', 'sinceRun', 'limit'));
  const lists = browsables.map(each => [`/v2/${each.resource}`, { get: listOperation(each) }] as const);
  return {
    openapi,
    info: { ...info, version },
    paths: { ...Object.fromEntries(lists), ...paths, '/v2/changes': { get: changesPath } },
    components: {
      ...components,
      schemas: { Error: exact(failureOutput), Health: exact(health), Changes: changesPage },
    },
  };
}

function listOperation(browsable: Browsable): object {
  const { resource, title } = browsable;
  const { responses, security } = fixed.ofList;
  const page = object({ items: list(itemOf(browsable)), pagination: exact(pagination) });
  const schema = { ...page, additionalProperties: false };
  const found = { ...responses[200], content: { 'application/json': { schema } } };
  const summary = `A page of the list: ${title.toLowerCase()}.`;
  const all = { ...responses, 200: found };
  const operation = { operationId: `list-${resource}`, summary, security, responses: all };
  return withParameters(operation, listQuery(browsable, 'pageNo', 'pageSize'));
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

function withParameters(operation: object, { properties }: ReturnType<typeof listQuery>): object {
  const inQuery = Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
  return { ...operation, parameters: [...inQuery, fixed.header] };
}
