import { canonicalJson, isObject } from '../../contract/json.ts';
import { tryToRead } from '../../errors.ts';
import { isFindingCode } from '../../findings.ts';
import type { Finding } from '../../proof/findings.ts';
import { choice } from './view-sql.ts';

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

/** The codes of `reasons` in SQL, separated by a space; null if there are none. */
export const reasonCodes = (column: string): string =>
  `(SELECT group_concat(code, ' ') FROM (SELECT DISTINCT json_extract(value, '$.code') AS code
    FROM json_each(${choice(`json_valid(${column})`, column, "'[]'")}) WHERE type = 'object'))`;
