import { printableInOneLine } from '../printable.ts';
import type { OutputOf } from './outputs/outputs.ts';
import { wrap } from './wrap.ts';

/** The result of one check of `doctor`. */
export type Finding = OutputOf['doctor']['checks'][number];

const marks = { ok: 'ok', warning: 'warn', failed: 'FAIL', skipped: '–' };
const [markWidth, checkWidth] = [4, 12];

/** One finding for people, with the advice below it, in lines of at most `width` characters. */
export function findingText({ check, status, found, todo, code }: Finding, width: number): string {
  const indent = ' '.repeat(markWidth + checkWidth + 4);
  const line = `${marks[status].padEnd(markWidth)}  ${check.padEnd(checkWidth)}  ${printableInOneLine(found)}${code === null ? '' : ` [${code}]`}`;
  const advice =
    todo === null
      ? []
      : wrap(`${indent}→ ${printableInOneLine(todo.replaceAll(/\s+/g, ' '))}`, width, `${indent}  `);
  return [...wrap(line, width, indent), ...advice].map(each => `${each}\n`).join('');
}

/** The result of all findings, for people. */
export function diagnosisText({ checks, exitCode }: OutputOf['doctor']): string {
  const failed = checks.filter(({ status }) => status === 'failed').length;
  if (failed === 0) return '\nEverything that a run needs is there.\n';
  return `\n${failed === 1 ? 'One check' : `${failed} checks`} failed. "docmirror sync" would exit with ${exitCode}.\n`;
}
