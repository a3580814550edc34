import { printableInOneLine } from '../printable.ts';
import type { OutputOf } from './outputs.ts';
import { wrap } from './table.ts';
import type { Toned } from './tones.ts';

/** The result of one check of `doctor`. */
export type CheckResult = OutputOf['doctor']['checks'][number];

const marks = { ok: 'ok', warning: 'warn', failed: 'FAIL', skipped: '–' };

const tones = { ok: 'good', warning: 'warn', failed: 'bad', skipped: null } as const;

/** The mark of a result, in its colour. */
export function checkTones({ status }: CheckResult): Toned[] {
  const tone = tones[status];
  return tone === null ? [] : [{ words: marks[status], tone }];
}

/** One result for people, with the advice below it, in lines of at most `width` characters. */
export function checkText({ check, status, found, todo, code }: CheckResult, width: number): string {
  const head = `${marks[status].padEnd(4)}  ${check.padEnd(12)}  `;
  const indent = ' '.repeat(head.length + 2);
  const words = printableInOneLine(found) + (code === null ? '' : ` [${code}]`);
  const advice = todo === null ? [] : [`${indent}→ ${printableInOneLine(todo.replaceAll(/\s+/g, ' '))}`];
  return [head + words, ...advice].map(line => `${wrap(line, width, indent).join('\n')}\n`).join('');
}

/** The result of all checks, for people. */
export function diagnosisText({ checks, exitCode }: OutputOf['doctor']): string {
  const failed = checks.filter(({ status }) => status === 'failed').length;
  if (failed === 0) return '\nEverything that a run needs is there.\n';
  return `\nChecks that failed: ${failed}. "docmirror sync" would exit with ${exitCode}.\n`;
}
