import type { Random } from './random.ts';

// The made-up systems of a sample, and what their documents are called.

type Topic = 'contract' | 'purchase' | 'people' | 'sales';

const number = (random: Random, digits: number) => random.integer(10 ** (digits - 1), 10 ** digits - 1);
const majorMinor = (revision: number) => `${revision}.0`;
const month = (at: Date) => at.toISOString().slice(0, 7).replace('-', '/');

/** A system that documents come from; `version` is null if it has no version numbers. */
const source = (
  id: number,
  name: string,
  topic: Topic,
  version: ((revision: number) => string) | null,
  reference: (random: Random) => string,
) => ({ connection: { id, name }, topic, version, reference });

/** A system that documents go to, and where it puts them. */
const destination = (
  id: number,
  name: string,
  reference: (random: Random, at: Date, sourceReference: string) => string,
) => ({ connection: { id, name }, reference });

const contracts = source(3, 'SharePoint – Contracts', 'contract', majorMinor, r => `CTR-${number(r, 6)}`);
const people = source(4, 'SharePoint – Human Resources', 'people', majorMinor, r => `HR-${number(r, 5)}`);
const sap = source(7, 'SAP S/4HANA', 'purchase', String, r => `45${number(r, 8)}`);
const docusign = source(11, 'DocuSign', 'contract', null, r => r.uuid());
const salesforce = source(12, 'Salesforce', 'sales', String, r => `069${r.hex(12).toUpperCase()}`);
const mailId = (r: Random) => `<${r.hex(16)}@mail.example.com>`;
const mailroom = source(16, 'Postfach Einkauf (Zürich)', 'purchase', null, mailId);
const workday = source(21, 'Workday', 'people', String, r => `WD-${number(r, 7)}`);

const archive = destination(2, 'Archive (S3)', (r, at) => `s3://acme-archive/${month(at)}/${r.hex(12)}.pdf`);
const opentext = destination(9, 'OpenText Content Server', r => `node/${number(r, 8)}`);
const imanage = destination(14, 'iManage – Legal', r => `LEGAL!${number(r, 7)}.1`);
const snowflake = destination(18, 'Snowflake (document index)', (_r, _at, of) => `DOCS.RAW/${of}`);
const dataRoom = destination(25, 'Datenraum Société Générale', r => `room-7/${number(r, 4)}`);

type Source = ReturnType<typeof source>;
type Destination = ReturnType<typeof destination>;

const flow = (from: Source, to: Destination, weight: number, name: string) => ({ from, to, weight, name });

/** Which source exports to which destination, and how often. `name` is that of its collections. */
export const flows: [ReturnType<typeof flow>, ...ReturnType<typeof flow>[]] = [
  flow(sap, archive, 30, 'Supplier invoices'),
  flow(contracts, archive, 16, 'Umowy ramowe'),
  flow(docusign, imanage, 12, 'Signed NDAs'),
  flow(salesforce, opentext, 10, 'Offers'),
  flow(mailroom, opentext, 9, 'Einkauf – Belege'),
  flow(contracts, imanage, 7, 'Mietverträge'),
  flow(people, archive, 6, 'Personnel files'),
  flow(workday, archive, 5, 'Payslips'),
  flow(sap, snowflake, 3, 'Invoice index'),
  flow(contracts, dataRoom, 2, 'Salle de données'),
];

const exported = 'document.exported';
const failed = 'document.export.failed';
const renamed = 'connection.renamed';
const created = 'collection.created';

const hook = (
  path: string,
  description: string | null,
  events: string[],
  ...systems: (Source | Destination)[]
) => ({ path, description, events, connections: systems.map(({ connection }) => connection) });

/** The webhooks, without their ids and signatures. */
export const hooks = [
  hook('teams/finance', 'Finance channel', [exported, failed], sap, archive),
  hook('teams/legal', 'Legal: signed contracts', [exported], docusign, imanage),
  hook('pagerduty', 'On call', [failed], sap, contracts, docusign, archive),
  hook('bi/ingest', null, [exported, created], snowflake),
  hook('crm/update', 'Angebote zurück ins CRM', [exported], salesforce, opentext),
  hook('audit', 'Audit trail', [exported, failed, renamed, created]),
  hook('hr/files', 'Personnel files', [exported, failed], people, workday, archive),
  hook('dataroom', 'Salle de données', [exported], contracts, mailroom, dataRoom),
];

const companies =
  'Müller & Söhne GmbH|Northwind Traders|Société Lumière|Żabka Logistyka|株式会社みどり|Contoso Ltd.|Nørrebro Papir A/S|Fabrikam Inc.|Ибис Консалт|Tailspin Toys|Construções São João|Woodgrove Bank';
const persons = 'Anna Lindqvist|José Ferreira|Chloë O’Brien|Łukasz Wójcik|Mei-Ling 陳|Tom Baker|Aylin Yıldız';

type Title = readonly [kind: string, (company: string, person: string, n: number) => string];

const titles: Readonly<Record<Topic, readonly Title[]>> = {
  contract: [
    ['contract', (company, _, n) => `Framework agreement ${n} – ${company}`],
    ['contract', company => `Rahmenvertrag über Wartung, ${company}`],
    ['nda', company => `Mutual non-disclosure agreement: ${company}`],
    ['amendment', (company, _, n) => `Amendment no. ${(n % 6) + 1} to the contract with ${company}`],
    ['lease', (_, person, n) => `Lease "Unit ${n % 90}" (${person})`],
  ],
  purchase: [
    ['invoice', (company, _, n) => `Invoice ${n}, ${company}`],
    ['invoice', (company, _, n) => `Rechnung Nr. ${n} / ${company}`],
    ['purchase-order', (company, _, n) => `Purchase order ${n}: ${company}`],
    ['delivery-note', (company, _, n) => `Lieferschein ${n} – ${company}`],
  ],
  people: [
    ['employment-contract', (_, person) => `Employment contract, ${person}`],
    ['payslip', (_, person, n) => `Payslip no. ${(n % 12) + 1} – ${person}`],
    ['certificate', (_, person) => `Attestation de travail : ${person}`],
  ],
  sales: [
    ['offer', (company, _, n) => `Offer ${n} to ${company}`],
    ['offer', (company, _, n) => `見積書 ${n}・${company}`],
    ['statement-of-work', (company, person) => `Statement of work, ${company} (${person})`],
  ],
};

/** The title and kind of a document; a few are untitled or of no known kind. */
export function titleAndKind(random: Random, topic: Topic): { title: string | null; kind: string | null } {
  const [kind, titleOf] = random.pick(titles[topic]);
  const [company, person] = [companies, persons].map(names => random.pick(names.split('|')));
  const title = titleOf(`${company}`, `${person}`, random.integer(1_000, 99_999));
  return { title: random.chance(0.01) ? null : title, kind: random.chance(0.02) ? null : kind };
}
