import { destinations, flows, sources } from './connections.ts';
import { exportsAt, moments } from './document-exports.ts';
import { Random } from './random.ts';
import type { Collection, ConnectionRef, DocumentExport, Sample, Webhook } from './shapes.ts';

/** The size of a sample; equal options make equal samples. */
interface SampleOptions {
  /** The end of the sample's time. */
  readonly now: Date;
  readonly documentExports?: number;
  readonly seed?: number;
}

const daysBack = 120;
const collectionCount = 24;
/** The place of the second duplicate; both are on one page of any usual size. */
const duplicateAt = 11;

/** Generates the lists of a service; the same options always give the same sample. */
export function generateSample({ now, documentExports = 4_000, seed = 1 }: SampleOptions): Sample {
  const random = new Random(seed);
  return {
    'document-exports': exportLog(random, now.getTime(), documentExports),
    collections: Array.from({ length: collectionCount }, (_, at) => collection(at)),
    webhooks: hooks.map((hook, at) => webhook(random, hook, at)),
  };
}

/** Newest first, with one pair of duplicates: the same export, logged twice. */
function exportLog(random: Random, nowMs: number, count: number): DocumentExport[] {
  const log = exportsAt(random, moments(random, nowMs, daysBack, count)).reverse();
  const original = log[duplicateAt - 1];
  return original === undefined || count <= duplicateAt ? log : log.with(duplicateAt, { ...original });
}

/** A name for each flow, in the order of the flows. */
const collectionNames = [
  'Supplier invoices',
  'Umowy ramowe',
  'Signed NDAs',
  'Offers',
  'Einkauf – Belege',
  'Mietverträge',
  'Personnel files',
  'Payslips',
  'Invoice index',
  'Salle de données',
];
const sites = ['', ' (Zürich)', ' (Łódź)'];

function collection(at: number): Collection {
  const { source, destination } = flows[at % flows.length] ?? flows[0];
  // A collection that is being set up has no destination yet.
  const isUnfinished = at === collectionCount - 1;
  return {
    id: 101 + at * 3,
    name: `${collectionNames[at % flows.length]}${sites[Math.floor(at / flows.length)]}`,
    sourceConnection: source.connection,
    destinationConnection: isUnfinished ? null : destination.connection,
  };
}

const { contracts, people, sap, docusign, salesforce, mailroom, workday } = sources;
const { archive, opentext, imanage, snowflake, dataRoom } = destinations;
const exported = 'document.exported';
const failed = 'document.export.failed';
const renamed = 'connection.renamed';
const created = 'collection.created';

const hook = (
  path: string,
  description: string | null,
  events: readonly string[],
  ...systems: readonly { readonly connection: ConnectionRef }[]
) => ({ path, description, events, connections: systems.map(({ connection }) => connection) });

const hooks = [
  hook('teams/finance', 'Finance channel', [exported, failed], sap, archive),
  hook('teams/legal', 'Legal: signed contracts', [exported], docusign, imanage),
  hook('pagerduty', 'On call', [failed], sap, contracts, docusign, archive),
  hook('bi/ingest', null, [exported, created], snowflake),
  hook('crm/update', 'Angebote zurück ins CRM', [exported], salesforce, opentext),
  hook('audit', 'Audit trail', [exported, failed, renamed, created]),
  hook('hr/files', 'Personnel files', [exported, failed], people, workday, archive),
  hook('dataroom', 'Salle de données', [exported], contracts, mailroom, dataRoom),
];

function webhook(random: Random, { path, ...rest }: ReturnType<typeof hook>, at: number): Webhook {
  return { id: 11 + at * 2, endpoint: `https://hooks.example.com/${path}?sig=${random.hex(32)}`, ...rest };
}
