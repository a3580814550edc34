import { isObject } from '../contract/json.ts';
import { lists } from '../contract/lists.ts';
import { printable, printableJson } from '../printable.ts';
import type { KnownService } from '../store/read/service-facts.ts';
import { factKindOf } from '../store/tables/service-facts.ts';
import { told } from './numbers.ts';
import type { OutputOf } from './outputs.ts';
import specification from './service-specification.json' with { type: 'json' };
import { renderTable, wrapLines } from './table.ts';

const json = (value: object, indent?: number) => printableJson(`${JSON.stringify(value, null, indent)}\n`);

/** What is told of a service, by format; `width` is that of a terminal, in characters. */
export const serviceFormats = {
  text(known: KnownService, width: number): string {
    const { title, lead, parts } = serviceParts(known);
    const shown = parts.map(part => `\n${part.title}\n${renderTable(part.columns, part.rows, width)}`);
    return [`${title}\n\n${wrapLines(lead, width)}`, ...shown].join('');
  },
  markdown(known: KnownService): string {
    const { title, lead, parts } = serviceParts(known);
    const escaped = (text: string) => text.replace(/[\\`*_[\]<>|~#&@]|:(?=\/\/)|(?<=www)\./g, '\\$&');
    const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |\n`;
    const shown = parts.map(({ title, columns, rows }) =>
      [`\n## ${title}\n\n${line(columns)}|${' --- |'.repeat(columns.length)}\n`, ...rows.map(line)].join(''),
    );
    return `# ${title}\n\n${escaped(lead)}\n${shown.join('')}`;
  },
  json: (known: OutputOf['service'] & KnownService) => json(known),
  openapi: (known: KnownService) => json(serviceOpenapi(known), 2),
};

const title = 'The service, as runs have seen it';
const unknown =
  'Nothing is known of the service yet, because no run of docmirror 0.6 or newer has ended. Run "docmirror sync". If this is a share, make it again afterwards.';
const titles = { pages: 'Pages', order: 'Order and totals', answers: 'Answers', fields: 'Fields' };
const columns = ['What', 'List', 'Seen', 'Evidence', 'In runs'];
const rateColumns = ['List', 'New', 'Changed', 'Removed', 'Days'];
const ratesTitle = 'Records a day, as medians';

/** What people are told of a service, in tables; the lead says whose it is or, if nothing is known, what to do. */
export function serviceParts({ facts, rates, baseUrl, runId }: KnownService) {
  if (facts.length === 0) return { title, lead: unknown, parts: [] };
  const lead = `${printable(baseUrl)}, as of run ${runId}. docmirror saw all of this in answers that it asked for anyway. A count that is not named is 0.`;
  const parts = [...Map.groupBy(facts, ({ section }) => section)].map(([section, all]) => {
    return { title: titles[section], columns, rows: all.map(rowOf) };
  });
  const rows = rates.map(rate => Object.values(rate).map(told));
  return { title, lead, parts: [...parts, { title: ratesTitle, columns: rateColumns, rows }] };
}

function rowOf({ resource, fact, value, evidence, ...seen }: KnownService['facts'][number]): string[] {
  const [name = '', ...part] = fact.split('.');
  const { says = fact, isMeasured = false } = factKindOf(fact) ?? {};
  // What is measured differs in each run.
  const changedRunId = isMeasured ? null : seen.changedRunId;
  const since = seen.since === null || isMeasured ? '' : `, since ${seen.since.slice(0, 10)}`;
  const before = changedRunId === null ? '' : `; before: ${told(seen.previousValue)}`;
  const runs = `${changedRunId ?? seen.firstSeenRunId} to ${seen.lastSeenRunId}${since}${before}`;
  const what = name === 'field' ? part.join('.') : says;
  return [what, resource, told(value), told(evidence), runs].map(printable);
}

type Table = { readonly [member: string]: unknown };

/** What the specification says of fields, with examples that are made up. An `enum` is filled with what was seen. */
const specified: Readonly<Record<string, Readonly<Record<string, Table>>>> = specification.components.schemas;

/** Runs note so many kinds, or events, at most: then there can be others. */
const wordsMax = 60;

/** An OpenAPI 3.1 document of what the specification says of a service, and of what runs saw of it; JSON leaves out what is undefined. */
function serviceOpenapi({ facts, baseUrl, runId }: KnownService): object {
  const seen = new Map(facts.map(({ resource, fact, value }) => [`${resource} ${fact}`, value]));
  const schemaOf = (resource: string) => {
    const namesOf = (kind: string) => {
      const all = facts.filter(each => each.resource === resource && each.fact.startsWith(kind));
      return all.map(({ fact }) => fact.slice(kind.length));
    };
    const words = [...namesOf('kind.'), ...namesOf('event.')];
    const beside = Object.fromEntries(namesOf('field.').map(name => [name, {}]));
    const bases = Object.entries<Table>({ ...beside, ...specified[resource] });
    const schemas = bases.map(([name, base]) => {
      return [name, asSeen(base, seen.get(`${resource} field.${name}`), words)];
    });
    // No fact is about the names of connections: they are as careful readers take them.
    const canMiss = ([name, { type }]: (typeof bases)[number]) =>
      Array.isArray(type) || textsIn(seen.get(`${resource} field.${name}`), 'types').includes('missing');
    const required = bases.filter(each => !canMiss(each)).map(([name]) => name);
    return { type: 'object', properties: Object.fromEntries(schemas), required };
  };
  const pathOf = (resource: string) => {
    const at = (fact: string) => seen.get(`${resource} ${fact}`);
    const first = at('first_page');
    const maximum = at('page_size');
    const usual = at('default_page_size') ?? Math.min(50, Number(maximum ?? 50));
    const size = { type: 'integer', default: usual, maximum };
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
    const refused = statuses.filter(each => /^\d{3}$/.test(each));
    const refusals = refused.map(each => [each, { description: 'No page.' }]);
    const responses = { ...Object.fromEntries(refusals), 200: page };
    return { get: { operationId: resource, parameters, responses } };
  };
  const description = `As docmirror has seen it, up to run ${runId}. The examples are made up.`;
  const schemas = Object.keys(specified).map(name => [name, schemaOf(name)]);
  return {
    ...specification,
    info: { ...specification.info, description },
    servers: [{ url: baseUrl }],
    paths: Object.fromEntries(lists.map(({ path, resource }) => [path, pathOf(resource)])),
    components: { ...specification.components, schemas: Object.fromEntries(schemas) },
  };
}

function asSeen({ items, format, ...base }: Table, value: unknown, words: readonly string[]): object {
  const types = textsIn(value, 'types').filter(type => type !== 'missing');
  const nothing = types.filter(type => type === 'null');
  if (base.$ref !== undefined) return nothing.length > 0 ? { anyOf: [base, { type: 'null' }] } : base;
  const others = types.filter(type => type !== 'null');
  const all = [others.length === 0 || base.type === 'integer' ? (base.type ?? []) : others, nothing].flat();
  const isChoice = base.enum !== undefined && words.length > 0 && words.length < wordsMax;
  const isTime = textsIn(value, 'times').every(each => /^[0-]{10}T[0:]{8}(\.0+)?(Z|[+-]00:00)$/.test(each));
  return {
    ...base,
    type: all.length > 1 ? all : all[0],
    format: isTime ? format : undefined,
    enum: isChoice ? [...words, ...nothing.map(() => null)] : undefined,
    example: isChoice ? words[0] : base.example,
    items: isObject(items) ? asSeen(items, undefined, words) : undefined,
  };
}

/** The texts of a member of a fact's value. */
function textsIn(value: unknown, member: string): string[] {
  const list = isObject(value) ? value[member] : [];
  return Array.isArray(list) ? list.map(String) : [];
}
