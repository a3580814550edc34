import { printable, printableInOneLine } from '../printable.ts';
import type { DoctorOutput, Finding } from './outputs/files.ts';
import { wrap } from './wrap.ts';

export type { Finding };

interface Diagnosis {
  readonly findings: readonly Finding[];
  /** The exit code that `sync` would have, as far as can be known. */
  readonly exitCode: number;
}

const marks = { ok: 'ok', warning: 'warn', failed: 'FAIL', skipped: '–' };
const markWidth = 4;
const checkWidth = 12;

/** One finding for people, with the advice below it, in lines of at most `width` characters. */
export function findingText({ check, status, found, todo, code }: Finding, width: number): string {
  const indent = ' '.repeat(markWidth + checkWidth + 4);
  const line = `${marks[status].padEnd(markWidth)}  ${check.padEnd(checkWidth)}  ${printableInOneLine(found)}${code === null ? '' : ` [${code}]`}`;
  const advice = todo === null ? [] : wrap(`${indent}→ ${printable(todo)}`, width, `${indent}  `);
  return [...wrap(line, width, indent), ...advice].map(each => `${each}\n`).join('');
}

/** The result of all findings, for people. */
export function diagnosisText({ findings, exitCode }: Diagnosis): string {
  const failed = findings.filter(({ status }) => status === 'failed').length;
  if (failed === 0) return '\nEverything that a run needs is there.\n';
  return `\n${failed === 1 ? 'One check' : `${failed} checks`} failed. "docmirror sync" would exit with ${exitCode}.\n`;
}

/** The output of `doctor --json`. */
export function doctorOutputOf({ findings, exitCode }: Diagnosis): DoctorOutput {
  return { ok: findings.every(({ status }) => status !== 'failed'), exitCode, checks: findings };
}
