import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { itemSchema, lists, paginationSchema } from '../../src/contract/lists.ts';
import { changeParameters } from '../../src/serve/query.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type Served, servedToken, serveScene } from '../support/served.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: {
    readonly type?: string;
    readonly enum?: readonly string[];
    readonly minLength?: number;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly maxLength?: number;
  };
}

interface Operation {
  readonly security?: readonly Record<string, unknown>[];
  readonly parameters?: readonly ({ readonly $ref: string } | Parameter)[];
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: object }>>;

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, { readonly content: Content }>>;
    readonly schemas: Readonly<Record<string, unknown>>;
  };
}

const requestCount = 400;

let scene: Scene;
let served: Served;
let document: Document;
beforeAll(async () => {
  scene = await setScene();
  await scene.sync();
  served = await serveScene(scene);
  document = (await (await fetch(`${served.url}/openapi.json`)).json()) as Document;
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.0');
    const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  test('names everything that is served to programs, and nothing else', async () => {
    const others = ['/healthz', '/livez', '/metrics', '/openapi.json', '/v2/changes', '/v2/connections'];
    const paths = [...lists.map(({ path }) => path), ...others];
    expect(Object.keys(document.paths).sort()).toEqual(paths.sort());
    for (const path of paths) expect((await served.get(path)).status).toBe(200);
  });

  test('contains the very schemas by which the answers of the service are checked', () => {
    for (const list of lists) {
      const schema = schemaOf(list.path, '200') as { properties: { items: { items: unknown } } };
      const { properties, ...item } = schema.properties.items.items as {
        properties: Record<string, unknown>;
      };
      const { _id, ...fields } = properties;
      expect({ ...item, properties: fields }).toEqual(JSON.parse(JSON.stringify(itemSchema(list))));
      expect(_id === undefined).toBe(list.identity.by === 'id');
    }
    expect(document.components.schemas.Pagination).toEqual(paginationSchema);
  });
});

/** A request made of the document: right, wrong, or absurd in any of its parts. */
interface Asked {
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly authorization: 'bearer' | 'wrong' | 'none';
  readonly ifNoneMatch: 'known' | 'other' | 'none';
}

test('every answer to any request, allowed by the document or not, is one that it describes', async () => {
  const validators = new Map<string, ValidateFunction>();
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document as object, 'document');
  const validator = (schema: object): ValidateFunction => {
    const key = JSON.stringify(schema);
    const known = validators.get(key) ?? ajv.compile(withAbsoluteRefs(schema));
    validators.set(key, known);
    return known;
  };
  const etags = new Map<string, string>();
  for (const path of Object.keys(document.paths)) {
    etags.set(path, (await served.get(path)).headers.get('etag') ?? '');
  }
  await fc.assert(
    fc.asyncProperty(requestFrom(document), async asked => {
      const answer = await send(asked, etags.get(asked.path) ?? '');
      const content = contentOf(asked.path, String(answer.status));
      const body = await answer.text();
      expect(answer.status).toBe(expectedStatus(asked));
      const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
      if (content === undefined) {
        expect(body).toBe('');
        return;
      }
      const schema = content[type]?.schema;
      if (schema === undefined) throw new Error(`The document foretells no ${type} for ${answer.status}.`);
      const check = validator(schema);
      check(type === 'application/json' ? JSON.parse(body) : body);
      expect(check.errors ?? []).toEqual([]);
    }),
    { numRuns: requestCount },
  );
});

function requestFrom({ paths }: Document): fc.Arbitrary<Asked> {
  return fc.constantFrom(...Object.keys(paths)).chain(path =>
    fc.record({
      path: fc.constant(path),
      query: fc.array(fc.oneof(...queryOf(path).map(valuesOf), junk), { maxLength: 3 }),
      authorization: fc.constantFrom('bearer' as const, 'bearer' as const, 'wrong' as const, 'none' as const),
      ifNoneMatch: fc.constantFrom('none' as const, 'none' as const, 'known' as const, 'other' as const),
    }),
  );
}

const junk = fc.tuple(
  fc.constantFrom('pageno', 'page', 'x', '__proto__', 'constructor'),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

function valuesOf({ name, schema }: Parameter): fc.Arbitrary<[string, string]> {
  const { minimum = 0, maximum = 0, maxLength } = schema;
  if (schema.enum !== undefined)
    return fc.tuple(
      fc.constant(name),
      fc.oneof(fc.constantFrom(...schema.enum), fc.string({ maxLength: 8 })),
    );
  if (name === 'from' || name === 'to')
    return fc.tuple(
      fc.constant(name),
      fc.constantFrom('2026-11-20', '2026-11-20T18:00:00+01:00', 'yesterday', ''),
    );
  if (maxLength !== undefined) {
    const text = fc.string({ unit: 'grapheme', maxLength: maxLength + 20 });
    return fc.tuple(fc.constant(name), text);
  }
  const right = fc.oneof(
    fc.integer({ min: minimum, max: maximum }),
    fc.constantFrom(minimum, maximum, minimum + 1),
  );
  const wrong = fc.oneof(
    fc.constantFrom(minimum - 1, maximum + 1, -1, 1.5, 1e9 + maximum, Number.NaN),
    fc.string({ maxLength: 8 }),
  );
  return fc.tuple(
    fc.constant(name),
    fc.oneof({ arbitrary: right, weight: 3 }, { arbitrary: wrong, weight: 1 }).map(String),
  );
}

function send({ path, query, authorization, ifNoneMatch }: Asked, etag: string): Promise<Response> {
  const url = new URL(path, served.url);
  // A null character is refused as a malformed address; that is another test's matter.
  for (const [name, value] of query) url.searchParams.append(name, value.replaceAll('\0', '0'));
  const authorizations = {
    bearer: `Bearer ${servedToken}`,
    wrong: 'Bearer wrong',
    none: undefined,
  };
  const value = authorizations[authorization];
  const headers = {
    ...(value !== undefined && { authorization: value }),
    ...(ifNoneMatch !== 'none' && {
      'if-none-match': ifNoneMatch === 'known' && etag !== '' ? etag : '"other"',
    }),
  };
  return fetch(url, { headers, redirect: 'manual' });
}

/** The status that the document gives for a request. */
function expectedStatus({ path, query, authorization, ifNoneMatch }: Asked): number {
  const { security } = operationOf(path);
  if (security !== undefined && authorization !== 'bearer') return 401;
  if (security !== undefined && query.some(([name]) => queryOf(path).every(each => each.name !== name)))
    return 400;
  if (queryOf(path).some(parameter => !isServed(parameter, query))) return 400;
  return ifNoneMatch === 'known' && '304' in operationOf(path).responses ? 304 : 200;
}

function isServed({ name, schema }: Parameter, query: Asked['query']): boolean {
  const given = query.filter(([other]) => other === name).map(([, value]) => value.replaceAll('\0', '0'));
  const [value] = given;
  if (value === undefined) return true;
  // No text that is made up is a cursor, and there is one run.
  if (name === 'cursor') return false;
  if (schema.enum !== undefined) return given.length === 1 && schema.enum.includes(value);
  if (name === 'from' || name === 'to') return given.length === 1 && value.startsWith('2026');
  if ((schema.minLength ?? 0) > value.trim().length) return false;
  if ((name === 'source' || name === 'destination') && /^\s*-?\d{16,}\s*$/.test(value)) return false;
  // A filtered feed begins after any number, and there is nothing after one that no run has.
  const isFiltered = query.some(([other]) => changeParameters.includes(other));
  if (name === 'sinceRun' && !isFiltered && Number(value) > 1) return false;
  if (schema.maxLength !== undefined) return given.length === 1 && value.length <= schema.maxLength;
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  return given.length === 1 && number >= (schema.minimum ?? 0) && number <= (schema.maximum ?? 0);
}

function operationOf(path: string): Operation {
  const found = document.paths[path]?.get;
  if (found === undefined) throw new Error(`The document has no ${path}.`);
  return found;
}

function queryOf(path: string): Parameter[] {
  return (operationOf(path).parameters ?? [])
    .map(each => ('$ref' in each ? document.components.parameters[each.$ref.split('/').at(-1) ?? ''] : each))
    .filter((parameter): parameter is Parameter => parameter?.in === 'query');
}

/** The content that the document allows for that status; undefined for an answer without a body. */
function contentOf(path: string, status: string): Content | undefined {
  const response = operationOf(path).responses[status];
  if (response === undefined) throw new Error(`The document foretells no ${status} for ${path}.`);
  if (response.$ref === undefined) return response.content;
  return document.components.responses[response.$ref.split('/').at(-1) ?? '']?.content;
}

function schemaOf(path: string, status: string): object | undefined {
  return contentOf(path, status)?.['application/json']?.schema;
}

function withAbsoluteRefs(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/'));
}
