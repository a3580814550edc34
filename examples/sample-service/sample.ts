import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lists } from '../../src/contract/lists.ts';
import { Random } from './random.ts';

// A made-up service: which systems it connects, and what their documents are called.

/** Systems that documents come from: how their references begin, and their titles, each after the kind of document. */
const sources = {
  'SAP S/4HANA': [
    '45',
    'invoice Invoice #, @|invoice Rechnung Nr. # / @|purchase-order Purchase order #: @|delivery-note Lieferschein # – @',
  ],
  'SharePoint – Contracts': [
    'CTR-',
    'contract Framework agreement # – @|nda Mutual non-disclosure agreement: @|lease Lease "Unit #" (@)',
  ],
  Salesforce: ['069', 'offer Offer # to @|offer 見積書 #・@|statement-of-work Statement of work, @'],
  'Postfach Einkauf (Zürich)': ['mail-', 'invoice Rechnung Nr. # / @|delivery-note Lieferschein # – @'],
  Workday: ['WD-', 'payslip Payslip no. #|certificate Attestation de travail : # (@)'],
} as const;

const destinations = {
  'Archive (S3)': 's3://acme-archive/',
  'OpenText Content Server': 'node/',
  'iManage – Legal': 'LEGAL!',
  'Datenraum Société Générale': 'room-7/',
} as const;

/** Which source exports to which destination, the most frequent first, and what their collections are called. */
const flows = [
  ['SAP S/4HANA', 'Archive (S3)', 'Supplier invoices'],
  ['SharePoint – Contracts', 'iManage – Legal', 'Umowy ramowe'],
  ['Salesforce', 'OpenText Content Server', 'Offers'],
  ['Postfach Einkauf (Zürich)', 'OpenText Content Server', 'Einkauf – Belege'],
  ['SharePoint – Contracts', 'Archive (S3)', 'Mietverträge'],
  ['Workday', 'Archive (S3)', 'Payslips'],
  ['SharePoint – Contracts', 'Datenraum Société Générale', 'Salle de données'],
] as const;

const sites = ['', ' (Zürich)', ' (Łódź)'];

const companies = [
  'Müller & Söhne GmbH',
  'Northwind Traders',
  'Société Lumière',
  'Żabka Logistyka',
  '株式会社みどり',
  'Contoso Ltd.',
  'Nørrebro Papir A/S',
  'Ибис Консалт',
];

const hooks = [
  ['teams/finance', 'Finance channel', 'document.exported document.export.failed', ['SAP S/4HANA']],
  [
    'teams/legal',
    'Legal: signed contracts',
    'document.exported',
    ['SharePoint – Contracts', 'iManage – Legal'],
  ],
  ['crm/update', 'Angebote zurück ins CRM', 'document.exported', ['Salesforce']],
  ['pagerduty', 'On call', 'document.export.failed', ['SAP S/4HANA', 'Workday', 'Archive (S3)']],
  ['bi/ingest', null, 'document.exported collection.created', ['Archive (S3)']],
  ['audit', 'Audit trail', 'document.exported connection.renamed', []],
] as const;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const daysBack = 120;
/** How many exports each day brings. */
export const newExportCount = 25;
/** The share of all exports, the latest, that can be exported once more: those of nine days. */
const revisableShare = 9 / daysBack;

/** Makes the lists of a service up to the time `now`; the same times always give the same records. */
export function makeSample(now: Date, exportCount: number) {
  const random = new Random(1);
  const revisableMax = Math.ceil(exportCount * revisableShare);
  const connections = new Map<string, { readonly id: number; name: string }>();
  const connectionOf = (name: string) => {
    const known = connections.get(name) ?? { id: 2 + 3 * connections.size, name };
    connections.set(name, known);
    return known;
  };

  const newExport = () => {
    const [source, destination] = flows[Math.floor(random.fraction() ** 2 * flows.length)] ?? flows[0];
    const [prefix, titles] = sources[source];
    const [kind = '', ...words] = random.pick(titles.split('|')).split(' ');
    const number = String(random.integer(1_000, 99_999));
    return {
      sourceConnection: connectionOf(source),
      sourceDocumentTitle: words.join(' ').replace('#', number).replace('@', random.pick(companies)),
      sourceDocumentReference: `${prefix}${random.integer(1_000_000, 9_999_999)}`,
      sourceDocumentVersion: '1',
      sourceDocumentKind: random.chance(0.02) ? null : kind,
      destinationConnection: connectionOf(destination),
      destinationReference: random.chance(0.01) ? null : `${destinations[destination]}${random.hex(12)}`,
    };
  };
  type DocumentExport = ReturnType<typeof newExport> & { readonly exportedAt: string };

  /** Exports at these times, in their order; some are of a document that was exported before. */
  const exportsAt = (timesMs: readonly number[], further: object = {}) => {
    const log: DocumentExport[] = [];
    for (const ms of timesMs) {
      const again = random.chance(0.2) ? log.at(-random.integer(1, revisableMax)) : undefined;
      const next = again && { ...again, sourceDocumentVersion: `${Number(again.sourceDocumentVersion) + 1}` };
      log.push({ ...(next ?? newExport()), ...further, exportedAt: new Date(ms).toISOString() });
    }
    return log.reverse();
  };

  /** A time before now: many are in office hours, few at night and on weekends. */
  const usualTime = (): number => {
    const at = new Date(now.getTime() - Math.floor(random.fraction() * daysBack * dayMs));
    const isOffice = at.getUTCDay() % 6 > 0 && at.getUTCHours() >= 7 && at.getUTCHours() < 18;
    return isOffice || random.chance(0.1) ? at.getTime() : usualTime();
  };

  const log = exportsAt(Array.from({ length: exportCount }, usualTime).sort((a, b) => a - b));
  const collections = sites.flatMap((site, at) =>
    flows.map(([source, destination, name], row) => ({
      id: 101 + 3 * (at * flows.length + row),
      name: `${name}${site}`,
      sourceConnection: connectionOf(source),
      destinationConnection: connectionOf(destination),
    })),
  );
  const webhooks = hooks.map(([path, description, events, names], at) => ({
    id: 11 + 2 * at,
    endpoint: `https://hooks.example.com/${path}?sig=${random.hex(32)}`,
    description,
    events: events.split(' '),
    connections: names.map(connectionOf),
  }));

  return {
    lists: { 'document-exports': log, collections, webhooks },
    /** The stated total of exports is too high by this number. */
    wrongBy: 0,

    /** Adds exports up to a time, the newest first, which also have the further fields. */
    grow(untilMs: number, further: object): void {
      const startMs = log[0] === undefined ? untilMs - hourMs : Date.parse(log[0].exportedAt);
      const stepMs = Math.max(1_000, Math.floor((untilMs - startMs) / newExportCount));
      const timeOf = (_: unknown, at: number) => startMs + at * stepMs + random.integer(1, stepMs);
      log.unshift(...exportsAt(Array.from({ length: newExportCount }, timeOf), further));
    },

    /** Corrects three exports, removes two and a webhook, and renames a collection and a connection. */
    change(renamed: keyof typeof sources): void {
      for (let at = 0; at < 3; at++) random.pick(log).sourceDocumentTitle += ' (corrected)';
      for (let at = 0; at < 2; at++) log.splice(random.integer(0, log.length - 1), 1);
      webhooks.shift();
      random.pick(collections).name += ' – archive';
      connectionOf(renamed).name += ' (EU)';
    },
  };
}

/** The greatest page size that the service serves; it is the default, too. */
export const pageSizeMax = 1_000;

/** Serves a sample page by page, as the service does. */
export async function serveSample(sample: ReturnType<typeof makeSample>) {
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const list = lists.find(({ path }) => path === pathname);
    if (list === undefined) return void response.writeHead(404).end();
    const pageNo = Number(searchParams.get('pageNo') ?? 1);
    const pageSize = Math.min(Number(searchParams.get('pageSize') ?? pageSizeMax), pageSizeMax);
    const records = sample.lists[list.resource];
    const totalRecordCount = records.length + (list.resource === 'document-exports' ? sample.wrongBy : 0);
    const pageCount = Math.ceil(totalRecordCount / pageSize);
    const items = records.slice((pageNo - 1) * pageSize, pageNo * pageSize);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ items, pagination: { pageCount, pageNo, pageSize, totalRecordCount } }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
