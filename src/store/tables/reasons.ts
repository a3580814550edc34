import { canonicalJson, isObject } from '../../contract/json.ts';
import { tryToRead } from '../../errors.ts';
import { isFindingCode } from '../../findings.ts';
import type { Finding } from '../../proof/findings.ts';

/** Findings as `reasons` has them: canonical JSON. */
export function reasonsText(findings: readonly Finding[]): string {
  return canonicalJson(findings);
}

/** The findings in `reasons`; null if there are none, because an older docmirror wrote the row, or another program changed it. */
export function reasonsIn(text: string | null): readonly Finding[] | null {
  const found: unknown = text === null ? null : tryToRead(() => JSON.parse(text));
  return areFindings(found) ? found : null;
}

function areFindings(found: unknown): found is readonly Finding[] {
  return Array.isArray(found) && found.every(each => isObject(each) && isFindingCode(String(each.code)));
}

/**
 * The codes of `reasons` in SQL, separated by a space, each once; null if there are none. It is canonical JSON, in which no text has a quote
 * that is not escaped, so that a reader without functions for JSON can read the view.
 */
export const reasonCodes = (column: string): string => {
  const part = `substr(rest, instr(rest, '"code":"') + 8)`;
  return `(WITH RECURSIVE parts(code, rest) AS (SELECT NULL, ${column}
    UNION ALL SELECT substr(${part}, 1, instr(${part}, '"') - 1), ${part} FROM parts WHERE instr(rest, '"code":"') > 0)
    SELECT group_concat(code, ' ') FROM (SELECT DISTINCT code FROM parts WHERE code IS NOT NULL))`;
};
