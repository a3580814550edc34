import { printable, printableJson } from '../printable.ts';
import type { KnownService } from '../store/read/service-facts.ts';
import { factKindOf } from '../store/tables/service-facts.ts';
import { told } from './numbers.ts';
import type { OutputOf } from './outputs.ts';
import { serviceOpenapi } from './service-openapi.ts';
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
