import { isObject } from '../contract/json.ts';
import { lists } from '../contract/lists.ts';
import type { KnownService } from '../store/read/service-facts.ts';
import specification from './service-specification.json' with { type: 'json' };

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
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
      const types = stringsIn(tableIn(seen.get(`${resource} field.${name}`)).types);
      // No fact is about the names of connections: they are as careful readers take them.
      const canMiss = types.includes('missing') || Array.isArray(base.type);
      return { name, canMiss, schema: asSeen(base, types, words) };
    });
    return {
      type: 'object',
      properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
      required: fields.flatMap(({ name, canMiss }) => (canMiss ? [] : [name])),
    };
  };
  const pathOf = (resource: string) => {
    const at = (fact: string) => seen.get(`${resource} ${fact}`);
    const no = { type: 'integer', default: at('first_page'), minimum: at('first_page') };
    const size = { type: 'integer', default: at('default_page_size') ?? 50, maximum: at('page_size') };
    const parameters = Object.entries({ pageNo: no, pageSize: size }).map(([name, schema]) => {
      return { name, in: 'query', schema };
    });
    const numbers = ['pageCount', 'pageNo', 'pageSize', 'totalRecordCount'].map(name => {
      return [name, { type: stringsIn(at('numbers_as_text')).includes(name) ? 'string' : 'integer' }];
    });
    const items = { type: 'array', items: { $ref: `#/components/schemas/${resource}` } };
    const pagination = { type: 'object', properties: Object.fromEntries(numbers) };
    const schema = { type: 'object', properties: { items, pagination }, required: ['items'] };
    const failures = [resource, 'service'].flatMap(each =>
      Object.keys(tableIn(seen.get(`${each} failures`))),
    );
    const statuses = ['401', String(at('beyond_end')), ...failures].filter(each => /^\d{3}$/.test(each));
    const refusals = statuses.map(status => [status, { description: 'No page.' }]);
    const page = { description: 'A page.', content: { 'application/json': { schema } } };
    return {
      get: { operationId: resource, parameters, responses: { ...Object.fromEntries(refusals), 200: page } },
    };
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

function asSeen({ items, ...base }: Schema, types: readonly string[], words: readonly string[]): object {
  const nothing = types.includes('null') ? ['null'] : [];
  if (base.$ref !== undefined) return nothing.length > 0 ? { anyOf: [base, { type: 'null' }] } : base;
  const others = types.filter(type => type !== 'missing' && type !== 'null');
  const own = others.length === 0 || base.type === 'integer' ? [base.type ?? []].flat() : others;
  const all = [...own, ...nothing];
  const isChoice = base.enum !== undefined && words.length > 0 && words.length < wordsMax;
  const choice = isChoice
    ? { enum: [...words, ...nothing.map(() => null)], example: words[0] }
    : { enum: undefined };
  const type = all.length > 1 ? all : all[0];
  return { ...base, ...choice, type, items: items && asSeen(items, [], words) };
}

const tableIn = (value: unknown): { readonly [member: string]: unknown } => (isObject(value) ? value : {});

const stringsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
