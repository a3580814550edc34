import { isObject } from '../contract/json.ts';
import { printable, printableJson } from '../printable.ts';
import type { KnownService } from '../store/read/service-facts.ts';
import { factKindOf } from '../store/tables/service-facts.ts';
import { count } from './numbers.ts';
import type { OutputOf } from './outputs.ts';
import { serviceOpenapi } from './service-openapi.ts';
import { renderTable, wrapLines } from './table.ts';

const json = (value: object, indent?: number) => printableJson(`${JSON.stringify(value, null, indent)}\n`);

/** What is told of a service, by format; `width` is that of a terminal, in characters. */
export const serviceFormats = {
  text(known: KnownService, width: number): string {
    const { title, lead, parts } = serviceParts(known);
    const shown = parts.map(part => `\n${part.title}\n${renderTable(part.columns, part.rows, width)}`);
    return [`${title}\n\n${wrapLines(printable(lead), width)}`, ...shown].join('');
  },
  markdown(known: KnownService): string {
    const { title, lead, parts } = serviceParts(known);
    const escaped = (text: string) =>
      printable(text).replace(/[\\`*_[\]<>|~#&@]|:(?=\/\/)|(?<=www)\./g, '\\$&');
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
const ofRates = {
  title: 'Records a day, as medians',
  columns: ['List', 'New', 'Changed', 'Removed', 'Days'],
};

/** What people are told of a service, in tables; the lead says whose it is or, if nothing is known, what to do. */
export function serviceParts({ facts, rates, baseUrl, runId }: KnownService) {
  if (facts.length === 0) return { title, lead: unknown, parts: [] };
  const lead = `${baseUrl}, as of run ${runId}. docmirror saw all of this in answers that it asked for anyway.`;
  const parts = [...Map.groupBy(facts, ({ section }) => section)].map(([section, all]) => {
    return { title: titles[section], columns, rows: all.map(rowOf) };
  });
  const rows = rates.map(({ resource, ...rate }) => {
    return [resource, ...[rate.new, rate.changed, rate.removed, rate.days].map(each => told(each))];
  });
  return { title, lead, parts: [...parts, { ...ofRates, rows }] };
}

function rowOf({ resource, fact, value, evidence, ...seen }: KnownService['facts'][number]): string[] {
  const [name = '', ...part] = fact.split('.');
  const says = factKindOf(fact)?.says ?? fact;
  const from = seen.changedRunId ?? seen.firstSeenRunId;
  const since = seen.since === null ? '' : `, since ${seen.since.slice(0, 10)}`;
  const before = seen.changedRunId === null ? '' : `; before: ${told(seen.previousValue, name)}`;
  const runs = `${from} to ${seen.lastSeenRunId}${since}${before}`;
  return [part.join('.') || says, resource, told(value, name), told(evidence), runs];
}

type Table = { readonly [member: string]: unknown };

/** The values whose members do not say what they are. */
const wordsOf: Readonly<Record<string, (value: Table) => string>> = {
  larger_page_size: ({ asked, how, served, status, code }) =>
    `${told(asked)} was ${how === 'cut' ? `cut to ${told(served)}` : `refused (${status ?? code})`}`,
  order: ({ by, direction, isExact }) =>
    by === null
      ? 'none was seen'
      : `by ${by}, ${direction === 'up' ? 'ascending' : 'descending'}${isExact === false ? ', almost' : ''}`,
  field: ({ types, isInContract, times = [] }) =>
    [types, isInContract === false ? 'beside the contract' : [], times].flat().join(', '),
};

function told(value: unknown, name = ''): string {
  if (Array.isArray(value)) return value.map(each => told(each)).join(', ') || 'none';
  if (isObject(value)) {
    const members = Object.entries(value).map(([member, each]) => `${member}: ${told(each)}`);
    return wordsOf[name]?.(value) ?? (members.join(', ') || 'none');
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'number' ? count(value) : String(value ?? '–');
}
