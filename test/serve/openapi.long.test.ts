import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lists } from '../../src/contract/lists.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type Served, servedToken, serveScene } from '../support/served.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: {
    readonly enum?: readonly string[];
    readonly minimum?: number;
    readonly maximum?: number;
  };
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: object }>>;

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
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
});

test('every answer to any request, allowed by the document or not, is one that it describes', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document as object, 'document');
  const checks = new Map<string, ValidateFunction>();
  const checkOf = (schema: object): ValidateFunction => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
    const check = checks.get(text) ?? ajv.compile(JSON.parse(text));
    checks.set(text, check);
    return check;
  };
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(requests(), async ({ path, query, authorization, etag }) => {
      const url = new URL(path, served.url);
      // A null character is refused as a malformed address; that is another test's matter.
      for (const [name, value] of query) url.searchParams.append(name, value.replaceAll('\0', '0'));
      const headers = { ...(authorization !== null && { authorization }), 'if-none-match': etag };
      const answer = await fetch(url, { headers });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const content = contentOf(path, String(answer.status));
      const body = await answer.text();
      if (content === undefined) {
        expect(body).toBe('');
        return;
      }
      const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
      const check = checkOf(content[type]?.schema ?? { not: {} });
      check(type === 'application/json' ? JSON.parse(body) : body);
      expect(check.errors ?? []).toEqual([]);
    }),
    { numRuns: requestCount },
  );
  for (const status of [200, 304, 400, 401]) expect(statuses.get(status), String(status)).toBeGreaterThan(5);
});

/** Requests made of the document: right, wrong, or absurd in any of their parts. */
function requests() {
  const bearer = `Bearer ${servedToken}`;
  const junk = fc.string({ unit: 'grapheme', maxLength: 20 });
  const valuesOf = ({ schema }: Parameter) => {
    const { minimum = 0, maximum = 0 } = schema;
    const right = fc.constantFrom(...(schema.enum ?? [String(minimum), String(maximum), '2', '2026-11-20']));
    return fc.oneof(right, right, junk);
  };
  return fc.constantFrom(...Object.keys(document.paths)).chain(path => {
    const parameters = queryOf(path).map(each => fc.tuple(fc.constant(each.name), valuesOf(each)));
    const unknown = fc.tuple(fc.constantFrom('page', '__proto__', 'constructor'), junk);
    return fc.record({
      path: fc.constant(path),
      query: fc.array(fc.oneof(...parameters, ...parameters, unknown), { maxLength: 3 }),
      authorization: fc.constantFrom(bearer, bearer, bearer, 'Bearer wrong', null),
      etag: fc.constantFrom('"other"', '"other"', '*'),
    });
  });
}

function operationOf(path: string): Operation {
  const found = document.paths[path]?.get;
  if (found === undefined) throw new Error(`The document has no ${path}.`);
  return found;
}

function queryOf(path: string): Parameter[] {
  return (operationOf(path).parameters ?? []).filter(parameter => parameter.in === 'query');
}

/** The content that the document allows for that status; undefined for an answer without a body. */
function contentOf(path: string, status: string): Content | undefined {
  const response = operationOf(path).responses[status];
  if (response === undefined) throw new Error(`The document has no ${status} for ${path}.`);
  return response.content;
}
