import words from './findings.json' with { type: 'json' };
import type { Finding, FindingCode } from './proof/findings.ts';

// What people read of findings: in `reason`, in the log, by `docmirror help CODE` and in docs/troubleshooting.md. Programs go by codes and facts.

/** A finding in words. `{name}` is a fact, and `{list}` in a command names a list. Commands have lines of their own. */
interface Words {
  /** What it says, without a full stop; of some codes by the variant that `variantOf` tells. */
  readonly says: string | Readonly<Record<string, string>>;
  /** Facts that it does not name. */
  readonly others?: readonly string[];
  /** What to do. */
  readonly advice: string;
}

/** All codes, in `findings.json`: a table for people, which is read and checked as one. */
export const findingWords: Readonly<Record<FindingCode, Words>> = words;

/** Codes that are told and change nothing else: a list without another one is complete. */
const toldOnly: ReadonlySet<FindingCode> = new Set([
  'field_gone',
  'field_new',
  'field_volatile',
  'time_unreadable',
]);

/** The findings because of which a list is not complete: all but those that are only told. */
export function findingsThatCount(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ code }) => !toldOnly.has(code));
}

/** The sentences of findings, in one line; null if there are none. */
export function sentencesOf(findings: readonly Finding[]): string | null {
  return findings.map(sentenceOf).join('; ') || null;
}

/** What a finding says, in a sentence without a full stop. */
export function sentenceOf(finding: Finding): string {
  const { says } = findingWords[finding.code];
  const said = typeof says === 'string' ? says : (says[variantOf(finding)] ?? '');
  const facts = new Map<string, unknown>(Object.entries(finding));
  if (finding.code === 'answers_old') facts.set('age', ageText(finding.ageMs));
  const goesOn = finding.code === 'ended_early' && finding.goesOn ? '; the next run goes on from there' : '';
  return (said + goesOn).replaceAll(
    /\{(\w+)\}( such)?( (?:record|page|id)s)?/g,
    (_, name, such = '', things = '') => {
      const fact = facts.get(name);
      const shown = Array.isArray(fact) ? fact.join(name === 'pages' ? ', ' : ' and ') : String(fact);
      return shown + such + (fact === 1 ? things.slice(0, -1) : things);
    },
  );
}

/** Which of several sentences a finding has. */
function variantOf(finding: Finding): string {
  switch (finding.code) {
    case 'end_not_shown':
      return finding.total === finding.end ? 'alone' : 'other';
    case 'total_is_no_count':
      return finding.kind;
    case 'page_size_ignored':
      return finding.served === null ? 'none' : 'other';
    case 'page_number_ignored':
      return finding.answered === null ? 'again' : 'other';
    case 'copies_differ':
      return finding.count === null ? 'turns' : 'stay';
    case 'ended_early':
      return finding.isPaused ? 'paused' : 'ended';
    case 'removals_withheld':
      return finding.why;
    default:
      return '';
  }
}

function ageText(ageMs: number): string {
  const minutes = Math.round(ageMs / 60_000);
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}

/** What a code means and what to do, with `{name}` in the place of a fact; null if it is no code of a finding. */
export function findingHelp(code: string): string | null {
  if (!isFindingCode(code)) return null;
  const { says, advice } = findingWords[code];
  const said = typeof says === 'string' ? says : Object.values(says).join('; or ');
  return `${said}. ${advice.replaceAll(' {list}', '')}`;
}

/** Whether a text is the code of a finding. */
export const isFindingCode = (code: string): code is FindingCode => Object.hasOwn(findingWords, code);
