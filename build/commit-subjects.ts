// Checks the subjects of commits: node build/commit-subjects.ts FILE | --since REVISION
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const lengthMax = 72;
const subjectForm = /^[\w./-]+(?:, [\w./-]+)*: [a-z][\w-]*\b/;

/** The rules that the subject of a commit breaks, in words. Merges and reverts are made by git, so they can have any form. */
export function faultsOfSubject(subject: string): string[] {
  if (/^(?:Merge|Revert|fixup!|squash!) /.test(subject)) return [];
  return [
    ...(subject.length > lengthMax ? [`${subject.length} characters, at most ${lengthMax}`] : []),
    ...(subjectForm.test(subject) ? [] : ['not of the form "area: verb object"']),
  ];
}

if (import.meta.main) {
  const [first = '', second = ''] = process.argv.slice(2);
  const isHook = first !== '--since';
  const subjects = isHook
    ? [readFileSync(first, 'utf8').split('\n')[0] ?? '']
    : execFileSync('git', ['log', '--format=%s', `${second}..HEAD`], { encoding: 'utf8' }).split('\n');
  const lines = subjects
    .filter(subject => subject !== '')
    .flatMap(subject => faultsOfSubject(subject).map(fault => `${fault}: ${subject}`));
  for (const line of lines) console.log(line);
  if (isHook && lines.length > 0) process.exitCode = 1;
}
