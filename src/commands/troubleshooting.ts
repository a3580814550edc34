import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../version.ts';

/** A word that can be the code of an error. */
const codeForm = /^[a-z]+(?:_[a-z]+)*$/;

/** The section of docs/troubleshooting.md about an error code; null if the code does not exist. */
export function explainCode(code: string): string | null {
  if (!codeForm.test(code)) return null;
  const page = readFileSync(join(packageFolder, 'docs', 'troubleshooting.md'), 'utf8');
  const section = new RegExp(`^### \`${code}\`\\n.*?(?=^##|$(?![\\s\\S]))`, 'ms').exec(page);
  return section === null ? null : `${section[0].trimEnd()}\n`;
}
