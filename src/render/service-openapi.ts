import { isObject } from '../contract/json.ts';
import { lists } from '../contract/lists.ts';
import type { KnownService } from '../store/read/service-facts.ts';
import specification from './service-specification.json' with { type: 'json' };

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly items?: Schema;
  readonly $ref?: string;
}

/** What the specification says of fields, with examples that are made up. An `enum` is filled with what was seen. */
const specified: Readonly<Record<string, Readonly<Record<string, Schema>>>> =
  specification.components.schemas;

/** Runs note so many kinds, or events, at most: then there can be others. */
const wordsMax = 60;

/** An OpenAPI 3.1 document of what the specification says of a service, and of what runs saw of it; JSON leaves out what is undefined. */
export function serviceOpenapi({ facts, baseUrl, runId }: KnownService): object {
  const seen = new Map(facts.map(({ resource, fact, value }) => [`${resource} ${fact}`, value]));
  const schemaOf = (resource: string, own: (typeof specified)[string]) => {
    const namesOf = (kind: string) =>
      facts.flatMap(({ fact, ...each }) =>
        each.resource === resource && fact.startsWith(kind) ? [fact.slice(kind.length)] : [],
      );
    const words = [...namesOf('kind.'), ...namesOf('event.')];
    const beside = Object.fromEntries(namesOf('field.').map(name => [name, {}]));
    const fields = Object.entries<Schema>({ ...beside, ...own }).map(([name, base]) => {
      const value = seen.get(`${resource} field.${name}`);
      // No fact is about the names of connections: they are as careful readers take them.
      const canMiss = textsIn(value, 'types').includes('missing') || Array.isArray(base.type);
      return { name, canMiss, schema: asSeen(base, value, words) };
    });
    return {
      type: 'object',
      properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
      required: fields.flatMap(({ name, canMiss }) => (canMiss ? [] : [name])),
    };
  };
  const pathOf = (resource: string) => {
    const at = (fact: string) => seen.get(`${resource} ${fact}`);
    const first = at('first_page');
    const maximum = at('page_size');
    const size = {
      type: 'integer',
      default: at('default_page_size') ?? Math.min(50, Number(maximum ?? 50)),
      maximum,
    };
    const parameters = [
      { name: 'pageNo', in: 'query', schema: { type: 'integer', default: first, minimum: first } },
      { name: 'pageSize', in: 'query', schema: size },
    ];
    const texts = [at('numbers_as_text')].flat();
    const numbers = ['pageCount', 'pageNo', 'pageSize', 'totalRecordCount'].map(name => {
      return [name, { type: texts.includes(name) ? 'string' : 'integer' }];
    });
    const items = { type: 'array', items: { $ref: `#/components/schemas/${resource}` } };
    const pagination = { type: 'object', properties: Object.fromEntries(numbers) };
    const schema = { type: 'object', properties: { items, pagination }, required: ['items', 'pagination'] };
    const page = { description: 'A page.', content: { 'application/json': { schema } } };
    const statuses = ['401', String(at('beyond_end')), ...Object.keys(Object(at('failures')))];
    const refusals = statuses
      .filter(each => /^\d{3}$/.test(each))
      .map(each => [each, { description: 'No page.' }]);
    const responses = { ...Object.fromEntries(refusals), 200: page };
    return { get: { operationId: resource, parameters, responses } };
  };
  const description = `As docmirror has seen it, up to run ${runId}. The examples are made up.`;
  const schemas = Object.entries(specified).map(([name, own]) => [name, schemaOf(name, own)]);
  return {
    ...specification,
    info: { ...specification.info, description },
    servers: [{ url: baseUrl }],
    paths: Object.fromEntries(lists.map(({ path, resource }) => [path, pathOf(resource)])),
    components: { ...specification.components, schemas: Object.fromEntries(schemas) },
  };
}

function asSeen({ items, format, ...base }: Schema, value: unknown, words: readonly string[]): object {
  const types = textsIn(value, 'types').filter(type => type !== 'missing');
  const nothing = types.filter(type => type === 'null');
  if (base.$ref !== undefined) return nothing.length > 0 ? { anyOf: [base, { type: 'null' }] } : base;
  const others = types.filter(type => type !== 'null');
  const all = [others.length === 0 || base.type === 'integer' ? (base.type ?? []) : others, nothing].flat();
  const isChoice = base.enum !== undefined && words.length > 0 && words.length < wordsMax;
  const choice = isChoice
    ? { enum: [...words, ...nothing.map(() => null)], example: words[0] }
    : { enum: undefined };
  const areTimes = textsIn(value, 'times').every(form =>
    /^0000-00-00T00:00:00(\.0+)?(Z|[+-]00:00)$/.test(form),
  );
  return {
    ...base,
    ...choice,
    type: all.length > 1 ? all : all[0],
    format: areTimes ? format : undefined,
    items: items && asSeen(items, undefined, words),
  };
}

/** The texts of a member of a fact's value. */
function textsIn(value: unknown, member: string): string[] {
  const list = isObject(value) ? value[member] : [];
  return Array.isArray(list) ? list.map(String) : [];
}
