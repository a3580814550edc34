import { describe, expect, test } from 'vitest';
import { BusyTable } from '../support/busy-table.ts';
import { paginators } from '../support/paginators.ts';
import { runCli, temporaryFolder } from '../support/run-cli.ts';
import { make, setScene } from '../support/scene.ts';
import { documentExport, type Lists, type StandInOptions, webhook } from '../support/stand-in.ts';

// What `docmirror service` tells of services with different habits, after runs that asked for nothing more because of it.

interface Habit {
  readonly options?: Partial<StandInOptions>;
  readonly lists?: Partial<Lists>;
  /** A list, what is told of it, and how. */
  readonly told: readonly (readonly [list: string, what: string, seen: string])[];
}

const exportsOf = (count: number, more: (n: number) => object) =>
  make(count, n => documentExport(n, { ...more(n) }));
const hourOf = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 3_600_000).toISOString();
/** No order is seen in them, so that runs look beyond their end. */
const mixed = (count: number) => exportsOf(count, n => ({ exportedAt: hourOf((n * 37) % 151) }));
const [list, beyond, beyondFull] = [
  'document-exports',
  'what comes beyond the last page',
  'the same if the last page is full',
];
let pauses = 0;

const habits: Readonly<Record<string, Habit>> = {
  'counts pages from 0 and refuses more than 100': {
    options: { firstPage: 0, maxPageSize: 100, clamp: 'refuse' },
    told: [
      [list, 'number of the first page', '0'],
      [list, 'greatest page size that was served', '100'],
      [list, 'what a larger page size got', 'asked: 1,000, how: refused, status: 400, code: refused'],
    ],
  },
  'cuts pages to 50 in silence': {
    options: { maxPageSize: 50 },
    told: [
      [list, 'greatest page size that was served', '50'],
      [list, 'what a larger page size got', 'asked: 1,000, how: cut, served: 50'],
      ['collections', 'order of the list', 'by: id, direction: up'],
    ],
  },
  'answers 404 beyond the end': {
    options: { maxPageSize: 50, beyond: '404' },
    lists: { 'document-exports': mixed(150) },
    told: [
      [list, beyond, '404'],
      [list, beyondFull, '404'],
      [list, 'order of the list', 'by: –'],
    ],
  },
  'answers with an empty page beyond the end': {
    options: { maxPageSize: 50 },
    lists: { 'document-exports': mixed(150) },
    told: [
      [list, beyond, 'empty'],
      [list, beyondFull, 'empty'],
    ],
  },
  'repeats the last page beyond the end': {
    options: { maxPageSize: 50, beyond: 'last' },
    lists: { 'document-exports': mixed(150) },
    told: [[list, beyond, 'last page again']],
  },
  'packs its answers, marks them, and has a cache': {
    options: { gzip: true, headers: () => ({ etag: '"a"', age: '7' }) },
    told: [
      [list, 'compression', 'gzip'],
      [list, 'whether answers have an ETag', 'yes'],
      [list, 'greatest Age, in milliseconds', '7,000'],
    ],
  },
  'asks for a pause': {
    options: {
      maxPageSize: 100,
      faults: ({ resource, pageNo }) =>
        resource === list && pageNo === 2 && pauses++ === 0
          ? { kind: 'status', status: 503, headers: { 'retry-after': '1' } }
          : undefined,
    },
    told: [
      [list, 'answers that were no page', '503: 1'],
      [list, 'what Retry-After says', 'form: seconds, most ms: 1,000'],
    ],
  },
  'lists from old to new, ten at a time': {
    lists: { 'document-exports': exportsOf(60, n => ({ exportedAt: hourOf(Math.floor((n - 1) / 10)) })) },
    told: [
      [list, 'order of the list', 'by: exportedAt, direction: up'],
      [list, 'most records with one time', '10'],
      [list, 'what totalRecordCount is', 'fits'],
      [list, 'exportedAt', 'types: string, times: 0000-00-00T00:00:00.000Z'],
    ],
  },
  'writes numbers as texts': {
    options: {
      rawBody: (_resource, pageNo, size) =>
        JSON.stringify({
          items: [],
          pagination: { pageCount: 0, pageNo, pageSize: `${size}`, totalRecordCount: '0' },
        }),
    },
    told: [['webhooks', 'members of pagination that are texts', 'pageSize, totalRecordCount']],
  },
  'leaves out, empties and adds fields': {
    lists: {
      'document-exports': exportsOf(12, n => ({
        destinationReference: n % 2 === 0 ? null : undefined,
        sourceDocumentTitle: n === 1 ? '' : 'x'.repeat(n),
        sourceDocumentKind: ['invoice', 'offer'][n % 2],
        ...(n > 9 && { owner: n }),
      })),
      webhooks: make(2, n => webhook(n, { events: ['made'], connections: [] })),
    },
    told: [
      [list, 'destinationReference', 'types: missing, null'],
      [list, 'owner', 'types: missing, number, is in contract: no'],
      [list, 'a kind that documents have', 'offer'],
      ['webhooks', 'an event that webhooks have', 'made'],
      ['webhooks', 'connections', 'types: array'],
    ],
  },
};

describe('docmirror service tells of a service that', () => {
  test.each(Object.entries(habits))('%s', async (_, { options, lists, told }) => {
    await using scene = await setScene(options);
    Object.assign(scene.service.lists, lists);
    await scene.sync();
    const asked = scene.service.requests.length;
    const { stdout } = await scene.run('service');
    expect(rowsIn(stdout)).toEqual(expect.arrayContaining([...told]));
    expect(scene.service.requests).toHaveLength(asked);
  });

  test.each([
    ['orphans', 103, 'records that the last page has beyond its size', '3'],
    ['deduced', 2_000, 'order of the list', 'by: exportedAt, direction: up'],
  ] as const)('cuts pages as frameworks do: %s', async (name, count, what, seen) => {
    await using folder = temporaryFolder();
    const table = new BusyTable({ count, largest: 100, paginator: paginators[name] });
    await using service = await table.listen();
    const { token } = service.options;
    const env = { DOCMIRROR_BASE_URL: service.url, DOCMIRROR_TOKEN: token };
    const options = { env, cwd: folder.path };
    expect((await runCli(['sync', '--resource', list], options)).code).toBe(0);
    const { stdout } = await runCli(['service'], options);
    expect(rowsIn(stdout)).toContainEqual([list, what, seen]);
  });
});

/** The list, what is told, and how it was seen, of each line of a table. */
const rowsIn = (text: string) =>
  text.split('\n').map(line => {
    const [what = '', list = '', seen = ''] = line.split(/ {2,}/);
    return [list, what, seen];
  });
