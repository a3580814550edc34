import type { Acceptance } from '../../store/tables/accepted.ts';
import type { RecordedRun } from '../../store/tables/run.ts';
import { acceptedLine } from '../accepted.ts';
import { count, counted } from '../numbers.ts';
import { totalsOf, whyOf } from '../run-summary.ts';
import { type Html, html, section, table } from './html.ts';
import { type PageParts, timeTag } from './page.ts';

/** The most runs that the page shows. */
export const runsMax = 60;

/** How verdicts look: the surer the run, the higher its bar, in percent. All others look as if the run had failed. */
const failed = { tone: 'bad', height: 25 };
const looks: Readonly<Record<string, typeof failed>> = {
  proven: { tone: 'good', height: 100 },
  incremental: { tone: 'good', height: 75 },
  accepted: { tone: 'good', height: 60 },
  partial: { tone: 'warn', height: 50 },
  running: { tone: '', height: 10 },
};
const lookOf = (verdict: string) => looks[verdict] ?? failed;

/** The newest runs, as a strip for a glance and as a table. */
export function runsParts(runs: readonly RecordedRun[], accepted: readonly Acceptance[]): PageParts {
  const used = new Set(runs.flatMap(({ resources }) => resources.flatMap(list => list.accepted)));
  const lines = accepted.filter(({ id }) => used.has(id)).map(each => html`<p>${acceptedLine(each)}</p>`);
  const rows = runs.map(run => {
    const { runId, startedAt, resources } = run;
    const verdict = verdictOf(run);
    const link = html`<a href="/changes?run=${runId}">Run ${runId}</a>`;
    const badge = html`<span class="badge ${lookOf(verdict).tone}">${verdict}</span> ${whyOf(run)}`;
    const since = resources.flatMap(({ readSince }) => readSince ?? []).sort()[0];
    const requests = resources.reduce((sum, list) => sum + list.requests, 0);
    const counts = [...Object.values(totalsOf(resources)), requests].map(count);
    return [link, timeTag(startedAt), badge, since && timeTag(since), ...counts];
  });
  const columns = ['Run', 'Started', 'Verdict', 'Read since', 'New', 'Changed', 'Removed', 'Requests'];
  return {
    heading: 'Runs',
    intro: html`<p>The newest ${counted(runs.length, 'run')}. “docmirror runs” shows older ones.</p>${lines}`,
    main: html`${section('glance', 'At a glance', strip(runs))}
${section('all', 'Run by run', table('list', 'Runs', columns, rows))}`,
  };
}

/** The least sure word that is true of all lists of a run; its status if it did not complete. */
function verdictOf({ status, resources }: RecordedRun): string {
  if (status !== 'completed') return status;
  if (resources.some(({ accepted }) => accepted.length > 0)) return 'accepted';
  return resources.every(({ completeness }) => completeness === 'proven') ? 'proven' : 'incremental';
}

function strip(runs: readonly RecordedRun[]): Html {
  const slot = 100 / Math.max(30, runs.length);
  const bars = runs.toReversed().map((run, at) => {
    const verdict = verdictOf(run);
    const hint = [`Run ${run.runId}`, run.startedAt, verdict, whyOf(run)].filter(Boolean).join(', ');
    return html`<g><title>${hint}</title><rect fill-opacity="0" x="${slot * at}%" width="${slot}%" height="100%"/>
${bar(verdict, slot * (at + 0.125), slot * 0.75)}</g>`;
  });
  const keys = [...Map.groupBy(runs, verdictOf)].map(
    ([verdict, { length }]) =>
      html`<span><svg class="key" aria-hidden="true">${bar(verdict, 0, 100)}</svg> ${verdict}: ${count(length)}\u2003</span>`,
  );
  return html`<svg class="chart nights" role="img" aria-label="A bar for each run, the oldest first">${bars}</svg>
<p>${keys}</p>`;
}

/** The bar of a verdict; place and width in percent. */
function bar(verdict: string, x: number, width: number): Html {
  const { tone, height } = lookOf(verdict);
  return html`<rect class="${tone}" x="${x}%" width="${width}%" y="${100 - height}%" height="${height}%"/>`;
}
