import { lists } from '../contract/lists.ts';
import { attempt } from '../errors.ts';
import { flatChanges } from '../render/changes.ts';
import { csvPieces } from '../render/csv.ts';
import { shownEndpoint } from '../render/endpoint.ts';
import { serviceParts } from '../render/service.ts';
import { html, section, table } from '../render/web/html.ts';
import { changesParts, listParts, periodForm, searchParts } from '../render/web/lists.ts';
import { type PageParts, page } from '../render/web/page.ts';
import { reportPeriod, Zone } from '../render/web/period.ts';
import { recordParts } from '../render/web/records.ts';
import { reportParts } from '../render/web/report.ts';
import { runsMax, runsParts } from '../render/web/runs.ts';
import { type Browsable, browsables, noFilter } from '../store/read/browsable.ts';
import type { CellValue } from '../store/read/cells.ts';
import { changesThatFit, countChanges, placeOf } from '../store/read/history/changes.ts';
import { isKnown, otherVersions, readStory, webhooksOf } from '../store/read/history/story.ts';
import { connectionUses, countRecords, findRecords } from '../store/read/records/find.ts';
import { type Choices, filterChoices, searchRecords } from '../store/read/records/search.ts';
import { foundTable, type Table } from '../store/read/records/table.ts';
import { readReport } from '../store/read/report-data.ts';
import { readAccepted } from '../store/read/runs/rejected.ts';
import { RunReader } from '../store/read/runs/runs.ts';
import { readService } from '../store/read/service-facts.ts';
import type { Sqlite } from '../store/read/sqlite.ts';
import {
  type Address,
  type AskedFor,
  changeParameters,
  changesQuery,
  type FileAddress,
  isFiltered,
  isLongList,
  listQuery,
  type QueryString,
  querySchema,
  readChangeFilter,
  readFilter,
  readOrder,
  revisionNow,
  usualOrder,
} from './api.ts';
import { HttpError } from './http.ts';

/** A later page of changes would be read for too long, because all before it are. */
const changePagesMax = 500;
const itemsOnPage = 50;
/** The most reports and choices that are kept for the next request. */
const keptMax = 20;
const versionsMax = 50;
const belongingMax = 10;

const dayMs = 86_400_000;

/** The pages for a browser, of which a thread keeps the newest report and choices. */
export function pageAddresses(database: string, maxAgeMs: number | null): readonly Address[] {
  const reports = untilChanged((_sqlite, { days, timezone }: Pick<QueryString, 'days' | 'timezone'>) => {
    const zone = zoneOf(timezone);
    const period = reportPeriod(zone, Date.now() - days * dayMs, Date.now(), true);
    const parts = reportParts(readReport(database, period), zone, maxAgeMs, null);
    return { ...parts, main: html`<section>${periodForm(days, timezone)}</section>${parts.main}` };
  });
  const choices = untilChanged(filterChoices);
  const allChoices = (sqlite: Sqlite) => withoutCounts(browsables.map(each => choices(sqlite, each)));
  const own = (path: string, querystring: object, parts: Parts, more?: Partial<Address>): Address => {
    const make: Address['make'] = (sqlite, asked) =>
      page(requestUrl(asked).pathname.slice(1), parts(sqlite, asked));
    return { path, querystring, make, isLong: () => false, ...more };
  };
  return [
    own('/', querySchema(['days', 'timezone']), (sqlite, { query }) => reports(sqlite, query), {
      check: (_sqlite, { query }) => void zoneOf(query.timezone),
      isLong: () => true,
    }),
    own('/runs', querySchema([]), () => {
      using reader = new RunReader(database);
      return runsParts(reader.runs(runsMax), readAccepted(database));
    }),
    own('/service', querySchema([]), serviceBody),
    ...['/records/:resource/:id', '/connections/:id'].map(path =>
      own(path, querySchema([]), recordBody, {
        check: (sqlite, asked) => {
          const { resource, recordId } = placeIn(asked);
          if (!isKnown(sqlite, resource, recordId)) throw noSuchRecord();
        },
      }),
    ),
    own('/search', querySchema(['q', 'page']), searchBody, { isLong: () => true }),
    own('/changes', changesQuery('page'), (sqlite, asked) => changesBody(sqlite, allChoices(sqlite), asked), {
      check: (_sqlite, { query }) => checkChanges(query),
      isLong: () => true,
    }),
    ...browsables.map(browsable => {
      const body: Parts = (sqlite, asked) => listBody(sqlite, browsable, choices(sqlite, browsable), asked);
      const check: Address['check'] = (_sqlite, { query }) => void readFilter(query);
      return own(`/${browsable.resource}`, listQuery(browsable, 'page'), body, { check, isLong: isLongList });
    }),
  ];
}

type Parts = (sqlite: Sqlite, asked: AskedFor) => PageParts;

/** The files for a spreadsheet: changes, and each list as its page shows it. */
export const fileAddresses: readonly FileAddress[] = [
  {
    name: 'changes',
    querystring: changesQuery(),
    check: query => void readChangeFilter(query),
    read(sqlite, query) {
      const { columns, rowOf } = flatChanges();
      const wanted = askedChanges(query);
      const rows = changesThatFit(sqlite, wanted).map(rowOf);
      return { pieces: csvOf({ columns, rows }), count: countChanges(sqlite, wanted) };
    },
  },
  ...browsables.map(
    (browsable): FileAddress => ({
      name: browsable.resource,
      querystring: listQuery(browsable),
      check: query => void readFilter(query),
      read(sqlite, query) {
        const wanted = askedList(browsable, query);
        return { pieces: csvOf(foundTable(sqlite, wanted)), count: countRecords(sqlite, wanted) };
      },
    }),
  ),
];

function zoneOf(timezone: string): Zone {
  const zone = attempt(() => new Zone(timezone));
  if (zone !== null) return zone;
  throw new HttpError(400, `timezone: there is no zone ${timezone}, but for example Europe/Zurich.`);
}

function serviceBody(sqlite: Sqlite): PageParts {
  const { title, lead, parts } = serviceParts(readService(sqlite));
  const tables = parts.map(({ title, columns, rows }, at) =>
    section(`part${at}`, title, table('list', title, columns, rows)),
  );
  return { heading: title, intro: html`<p>${lead}</p>`, main: html`${tables}` };
}

function searchBody(sqlite: Sqlite, asked: AskedFor): PageParts {
  const { q = '', page: pageNo } = asked.query;
  const place = { offset: (pageNo - 1) * itemsOnPage, limit: itemsOnPage + 1 };
  const hits = searchRecords(sqlite, q, place);
  return searchParts(shownFor(asked, {}, hits.length > itemsOnPage), hits.slice(0, itemsOnPage));
}

/** What is made of one state of the mirror for a few arguments, and made again after the next run. */
function untilChanged<Argument extends object, Made>(make: (sqlite: Sqlite, argument: Argument) => Made) {
  let [known, made] = ['', new Map<string, Made>()];
  return (sqlite: Sqlite, argument: Argument): Made => {
    const [revision, key] = [revisionNow(sqlite), JSON.stringify(argument)];
    if (revision !== known || made.size === keptMax) [known, made] = [revision, new Map()];
    const found = made.get(key) ?? make(sqlite, argument);
    made.set(key, found);
    return found;
  };
}

/** The address of a request; only its path and its query are the client's. */
export function requestUrl({ url }: Pick<AskedFor, 'url'>): URL {
  return new URL(url, 'http://localhost');
}

function placeIn({ params }: AskedFor) {
  const { resource = 'connections', id } = params;
  const recordId = Number(id);
  if (placeOf(resource) < 0 || !Number.isSafeInteger(recordId)) throw noSuchRecord();
  return { resource, recordId };
}

function noSuchRecord(): HttpError {
  return new HttpError(404, 'The mirror never had such a record. Its title or reference may find it.');
}

function recordBody(sqlite: Sqlite, asked: AskedFor): PageParts {
  const { resource, recordId } = placeIn(asked);
  const story = readStory(sqlite, resource, recordId, versionsMax);
  if (story === null) throw noSuchRecord();
  if (resource === 'document-exports') {
    const items = otherVersions(sqlite, recordId, belongingMax);
    const title = 'Other versions of this document';
    const others = { title, resource, items, count: items.length, href: null };
    return recordParts(story, items.length === 0 ? [] : [others]);
  }
  if (resource !== 'connections') return recordParts(story, []);
  const sides = browsables.flatMap(browsable => {
    const { resource, filters } = browsable;
    const place = { order: usualOrder(browsable), offset: 0, limit: belongingMax };
    const there = (['source', 'destination'] as const).filter(side => filters[side] !== undefined);
    return there.map(side => {
      const filter = { ...noFilter, [side]: String(recordId) };
      const title = `${browsable.title} ${side === 'source' ? 'from' : 'to'} here`;
      const href = `/${resource}?${side}=${recordId}`;
      return { title, resource, href, ...findRecords(sqlite, { resource, filter, ...place }) };
    });
  });
  const webhooks = webhooksOf(sqlite, recordId, belongingMax);
  return recordParts(story, [...sides, { title: 'Webhooks', resource: 'webhooks', href: null, ...webhooks }]);
}

function shownFor(request: AskedFor, choices: Choices, hasNext: boolean) {
  return { query: Object.fromEntries(requestUrl(request).searchParams), choices, hasNext };
}

function askedList(browsable: Browsable, query: QueryString) {
  const order = readOrder(query, usualOrder(browsable));
  return { resource: browsable.resource, filter: { ...readFilter(query), isByPart: true }, order };
}

function listBody(sqlite: Sqlite, browsable: Browsable, choices: Choices, request: AskedFor): PageParts {
  const wanted = askedList(browsable, request.query);
  const offset = (request.query.page - 1) * itemsOnPage;
  const found = findRecords(sqlite, { ...wanted, offset, limit: itemsOnPage });
  const hasNext = offset + itemsOnPage < found.count;
  const used = browsable.uses.length > 0 ? connectionUses(sqlite) : new Map();
  return listParts(shownFor(request, choices, hasNext), browsable, wanted.order, found, used);
}

function askedChanges(query: QueryString) {
  const filter = isFiltered(query) ? { ...readChangeFilter(query), isByPart: true } : undefined;
  return { filter, sinceRunId: 0, isDescending: query.order !== 'asc' };
}

function withoutCounts(all: readonly Choices[]): Choices {
  const named = ['source', 'destination', 'kind'].map(name => {
    const choices = all.flatMap(each => each[name] ?? []);
    return [name, [...new Map(choices.map(each => [each.value, { ...each, count: null }])).values()]];
  });
  return Object.fromEntries(named);
}

function checkChanges(query: QueryString): void {
  readChangeFilter(query);
  if (query.page > changePagesMax)
    throw new HttpError(400, `page must be <= ${changePagesMax}. Name a run, or download the CSV.`);
}

function changesBody(sqlite: Sqlite, choices: Choices, request: AskedFor): PageParts {
  const { query } = request;
  const later = changesThatFit(sqlite, askedChanges(query)).drop((query.page - 1) * itemsOnPage);
  const found = later.take(itemsOnPage + 1).toArray();
  const hasNext = found.length > itemsOnPage && query.page < changePagesMax;
  return changesParts(shownFor(request, choices, hasNext), changeParameters, found.slice(0, itemsOnPage));
}

const fieldsOfLists = lists.flatMap(({ fields }) => fields);
const secretColumns = fieldsOfLists.filter(({ isSecret }) => isSecret).map(({ column }) => column);

/** The CSV of a table for a spreadsheet: of secret addresses it has what pages show, and of further fields nothing. */
function csvOf({ columns, rows }: Table): Iterable<string> {
  const fields = columns.map(({ name }) => name.replace(/^(before|after)_/, ''));
  const kept = <T>(values: readonly T[]) => values.filter((_, at) => fields[at] !== 'extra');
  const shown = (value: CellValue, at: number) =>
    secretColumns.includes(fields[at] ?? '') && value !== null ? shownEndpoint(String(value)) : value;
  const keptRows = Iterator.from(rows).map(row => kept(row.map(shown)));
  return csvPieces(kept(columns), keptRows, true);
}
