import { printableInOneLine } from '../printable.ts';
import type { OutputOf } from './outputs.ts';
import { wrap } from './table.ts';

/** The result of one check of `doctor`. */
export type Finding = OutputOf['doctor']['checks'][number];

const marks = { ok: 'ok', warning: 'warn', failed: 'FAIL', skipped: '–' };

/** One finding for people, with the advice below it, in lines of at most `width` characters. */
export function findingText({ check, status, found, todo, code }: Finding, width: number): string {
  const head = `${marks[status].padEnd(4)}  ${check.padEnd(12)}  `;
  const indent = ' '.repeat(head.length + 2);
  const words = printableInOneLine(found) + (code === null ? '' : ` [${code}]`);
  const advice = todo === null ? [] : [`${indent}→ ${printableInOneLine(todo.replaceAll(/\s+/g, ' '))}`];
  return [head + words, ...advice].map(line => `${wrap(line, width, indent).join('\n')}\n`).join('');
}

/** The result of all findings, for people. */
export function diagnosisText({ checks, exitCode }: OutputOf['doctor']): string {
  const failed = checks.filter(({ status }) => status === 'failed').length;
  if (failed === 0) return '\nEverything that a run needs is there.\n';
  return `\nChecks that failed: ${failed}. "docmirror sync" would exit with ${exitCode}.\n`;
}
