import type { Random } from './random.ts';
import type { ConnectionRef } from './shapes.ts';

/** A system that documents come from, and how it names and numbers them. */
export interface Source {
  readonly connection: ConnectionRef;
  readonly topic: 'contract' | 'purchase' | 'people' | 'sales';
  readonly reference: (random: Random) => string;
  /** The form of its version numbers; null if it has none. */
  readonly version: ((revision: number) => string) | null;
}

/** A system that documents go to, and where it puts them. */
export interface Destination {
  readonly connection: ConnectionRef;
  readonly reference: (random: Random, at: Date, sourceReference: string) => string;
}

/** Documents on one way; the greater the weight, the more of them. */
export interface Flow {
  readonly source: Source;
  readonly destination: Destination;
  readonly weight: number;
}

const number = (random: Random, digits: number) => random.integer(10 ** (digits - 1), 10 ** digits - 1);
const majorMinor = (revision: number) => `${revision}.0`;
const month = (at: Date) => at.toISOString().slice(0, 7).replace('-', '/');

const source = (
  id: number,
  name: string,
  topic: Source['topic'],
  version: Source['version'],
  reference: Source['reference'],
): Source => ({ connection: { id, name }, topic, version, reference });

const destination = (id: number, name: string, reference: Destination['reference']): Destination => ({
  connection: { id, name },
  reference,
});

/**
 * The systems that documents come from, by short names: each with its connection and how it titles and numbers documents.
 */
export const sources = {
  contracts: source(3, 'SharePoint – Contracts', 'contract', majorMinor, r => `CTR-${number(r, 6)}`),
  people: source(4, 'SharePoint – Human Resources', 'people', majorMinor, r => `HR-${number(r, 5)}`),
  sap: source(7, 'SAP S/4HANA', 'purchase', String, r => `45${number(r, 8)}`),
  docusign: source(11, 'DocuSign', 'contract', null, r => r.uuid()),
  salesforce: source(12, 'Salesforce', 'sales', String, r => `069${r.hex(12).toUpperCase()}`),
  mailroom: source(16, 'Postfach Einkauf (Zürich)', 'purchase', null, r => `<${r.hex(16)}@mail.example.com>`),
  workday: source(21, 'Workday', 'people', String, r => `WD-${number(r, 7)}`),
} as const;

/** The systems that documents go to, by short names: each with its connection and how it refers to a document. */
export const destinations = {
  archive: destination(2, 'Archive (S3)', (r, at) => `s3://acme-archive/${month(at)}/${r.hex(12)}.pdf`),
  opentext: destination(9, 'OpenText Content Server', r => `node/${number(r, 8)}`),
  imanage: destination(14, 'iManage – Legal', r => `LEGAL!${number(r, 7)}.1`),
  snowflake: destination(18, 'Snowflake (document index)', (_r, _at, reference) => `DOCS.RAW/${reference}`),
  dataRoom: destination(25, 'Datenraum Société Générale', r => `room-7/${number(r, 4)}`),
} as const;

/** Which source exports to which destination, and how often, as a weight among the others. */
export const flows: readonly [Flow, ...Flow[]] = [
  { source: sources.sap, destination: destinations.archive, weight: 30 },
  { source: sources.contracts, destination: destinations.archive, weight: 16 },
  { source: sources.docusign, destination: destinations.imanage, weight: 12 },
  { source: sources.salesforce, destination: destinations.opentext, weight: 10 },
  { source: sources.mailroom, destination: destinations.opentext, weight: 9 },
  { source: sources.contracts, destination: destinations.imanage, weight: 7 },
  { source: sources.people, destination: destinations.archive, weight: 6 },
  { source: sources.workday, destination: destinations.archive, weight: 5 },
  { source: sources.sap, destination: destinations.snowflake, weight: 3 },
  { source: sources.contracts, destination: destinations.dataRoom, weight: 2 },
];
