import { printable, printableInOneLine } from '../printable.ts';
import { wrap } from './wrap.ts';

/** What one check of `doctor` found. */
export interface Finding {
  /** What was tried. */
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly found: string;
  /** What to do about it; null where there is nothing to do. */
  readonly todo: string | null;
  /** The code of the error that it met, by which "docmirror help" explains it; null if there is none. */
  readonly code: string | null;
}

interface Diagnosis {
  readonly findings: readonly Finding[];
  /** What `sync` would end with, as far as can be told. */
  readonly exitCode: number;
}

const marks = { ok: 'ok', warning: 'warn', failed: 'FAIL', skipped: '–' };
const markWidth = 4;
const checkWidth = 12;

/** One finding for people, and below it what to do, in lines of at most `width` characters. */
export function findingText({ check, status, found, todo, code }: Finding, width: number): string {
  const indent = ' '.repeat(markWidth + checkWidth + 4);
  const line = `${marks[status].padEnd(markWidth)}  ${check.padEnd(checkWidth)}  ${printableInOneLine(found)}${code === null ? '' : ` [${code}]`}`;
  const advice = todo === null ? [] : wrap(`${indent}→ ${printable(todo)}`, width, `${indent}  `);
  return [...wrap(line, width, indent), ...advice].map(each => `${each}\n`).join('');
}

/** What all findings come to, for people. */
export function diagnosisText({ findings, exitCode }: Diagnosis): string {
  const failed = findings.filter(({ status }) => status === 'failed').length;
  if (failed === 0) return '\nEverything that a run needs is there.\n';
  return `\n${failed === 1 ? 'One check' : `${failed} checks`} failed. "docmirror sync" would exit with ${exitCode}.\n`;
}

/** The findings as one JSON object on one line. */
export function diagnosisJson({ findings, exitCode }: Diagnosis): string {
  const ok = findings.every(({ status }) => status !== 'failed');
  return `${JSON.stringify({ ok, exitCode, checks: findings })}\n`;
}
