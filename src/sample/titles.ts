import type { Source } from './connections.ts';
import type { Random } from './random.ts';

interface Template {
  readonly kind: string;
  readonly title: (company: string, person: string, number: number) => string;
}

const companies = [
  'Müller & Söhne GmbH',
  'Northwind Traders',
  'Société Lumière',
  'Żabka Logistyka',
  '株式会社みどり',
  'Contoso Ltd.',
  'Nørrebro Papir A/S',
  'Fabrikam Inc.',
  'Ибис Консалт',
  'Tailspin Toys',
  'Construções São João',
  'Woodgrove Bank',
] as const;

const people = [
  'Anna Lindqvist',
  'José Ferreira',
  'Chloë O’Brien',
  'Łukasz Wójcik',
  'Mei-Ling 陳',
  'Tom Baker',
  'Aylin Yıldız',
] as const;

const templates: Readonly<Record<Source['topic'], readonly [Template, ...Template[]]>> = {
  contract: [
    { kind: 'contract', title: (company, _, n) => `Framework agreement ${n} – ${company}` },
    { kind: 'contract', title: company => `Rahmenvertrag über Wartung, ${company}` },
    { kind: 'nda', title: company => `Mutual non-disclosure agreement: ${company}` },
    {
      kind: 'amendment',
      title: (company, _, n) => `Amendment no. ${(n % 6) + 1} to the contract with ${company}`,
    },
    { kind: 'lease', title: (_, person, n) => `Lease "Unit ${n % 90}" (${person})` },
  ],
  purchase: [
    { kind: 'invoice', title: (company, _, n) => `Invoice ${n}, ${company}` },
    { kind: 'invoice', title: (company, _, n) => `Rechnung Nr. ${n} / ${company}` },
    { kind: 'purchase-order', title: (company, _, n) => `Purchase order ${n}: ${company}` },
    { kind: 'delivery-note', title: (company, _, n) => `Lieferschein ${n} – ${company}` },
  ],
  people: [
    { kind: 'employment-contract', title: (_, person) => `Employment contract, ${person}` },
    { kind: 'payslip', title: (_, person, n) => `Payslip no. ${(n % 12) + 1} – ${person}` },
    { kind: 'certificate', title: (_, person) => `Attestation de travail : ${person}` },
  ],
  sales: [
    { kind: 'offer', title: (company, _, n) => `Offer ${n} to ${company}` },
    { kind: 'offer', title: (company, _, n) => `見積書 ${n}・${company}` },
    { kind: 'statement-of-work', title: (company, person) => `Statement of work, ${company} (${person})` },
  ],
};

const untitledShare = 0.01;
const unknownKindShare = 0.02;

/** The title and kind of a document; a few are untitled or of no known kind. */
export function titleAndKind(
  random: Random,
  topic: Source['topic'],
): { title: string | null; kind: string | null } {
  const template = random.pick(templates[topic]);
  const title = template.title(random.pick(companies), random.pick(people), random.integer(1_000, 99_999));
  return {
    title: random.chance(untitledShare) ? null : title,
    kind: random.chance(unknownKindShare) ? null : template.kind,
  };
}
