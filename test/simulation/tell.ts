// Tells the story of a seed or of a kept case: each answer, how each run ended, and which promises were broken:
// node test/simulation/tell.ts SEED | NAME
import type { Answer, Ask } from './answers.ts';
import { Disk } from './disk.ts';
import { generate } from './generate.ts';
import { type PlayedRun, play } from './play.ts';
import { regressionCalled } from './regressions.ts';

const [what = ''] = process.argv.slice(2);
const isSeed = /^\d+$/.test(what);
const scenario = isSeed ? generate(Number(what)) : regressionCalled(what).scenario;
using disk = new Disk();
const { findings, excused } = await play(scenario, disk, false, { answered, ended });
for (const [word, those] of Object.entries({ broken: findings, excused }))
  for (const { kind, list, run, what } of those)
    console.log(`${word}: ${kind} of ${list} in run ${run}: ${what}`);

function answered({ list, pageNo, pageSize }: Ask, answer: Answer): void {
  console.log(
    `${list}, page ${pageNo} of ${pageSize}: ${answer.kind === 'page' ? pageIn(answer) : answer.kind}`,
  );
}

function pageIn({ body, shown }: Extract<Answer, { readonly kind: 'page' }>): string {
  const records = shown.entries.map(({ uid, text }) => (text === 0 ? uid : `${uid}v${text}`));
  const { pageNo, pageSize, totalRecordCount } = JSON.parse(body).pagination;
  return `page ${pageNo} of ${pageSize}, ${totalRecordCount} in all: ${records.join(' ')}`;
}

function ended({ report }: PlayedRun): void {
  for (const { resource, ...words } of report?.lists ?? [])
    console.log(
      `  ${resource} ${words.status}, ${words.completeness}, +${words.inserted} ~${words.updated} -${words.removed}, ${words.undecided} undecided: ${words.reason ?? words.error?.message ?? ''}`,
    );
  console.log(report === null ? '  killed' : `  exit ${report.exitCode} ${report.error ?? ''}`);
}
