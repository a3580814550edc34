import type { Played } from './play.ts';
import type { Scenario } from './scenario.ts';

/** The features of a scenario that a plain one does not have, in words that `--only` takes. */
export function featuresOf({ service, lists, runs, synced }: Scenario): string[] {
  const all = synced.map(name => lists[name]);
  const has = {
    ids: synced.some(name => name !== 'document-exports'),
    ties: all.some(({ ties }) => ties > 1),
    duplicates: lists['document-exports'].doubles.some(({ text }) => text === 0),
    'shared-keys': lists['document-exports'].doubles.some(({ text }) => text !== 0),
    ...Object.fromEntries(all.flatMap(({ traffic }) => (traffic === null ? [] : [[traffic.kind, true]]))),
    ...Object.fromEntries(all.map(({ order }) => [`order-${order}`, true])),
    cache: service.cache !== null,
    replica: service.replicaLag > 0,
    'large-pages': service.maxSize > 25,
    moving: runs.some(({ during }) => during.length > 0),
    edited: runs.some(({ before }) => before.length > 0),
    reordered: runs.some(({ before, during }) =>
      [...before, ...during.map(({ change }) => change)].some(({ kind }) => kind === 'reorder'),
    ),
    names: runs.some(({ before, during }) =>
      [...before, ...during.map(({ change }) => change)].some(({ kind }) => kind === 'reword'),
    ),
    [`totals-${service.totals.kind}`]: true,
    [`counts-${service.pageCounts}`]: true,
    [`sizes-${service.sizes}`]: true,
    [`beyond-${service.beyond}`]: true,
    [`pageno-${service.pageNo}`]: true,
    noise: service.noise,
    'pagination-first': service.paginationFirst,
    parallel: runs.some(({ concurrency }) => concurrency > 1),
    incremental: runs.some(({ incremental }) => incremental),
    guarded: runs.some(({ guarded }) => guarded),
    pruned: runs.some(({ keepHours }) => keepHours !== null),
    faults: runs.some(({ faults }) => faults.length > 0),
    shifts: runs.some(({ shift }) => shift !== null),
    skips: runs.some(({ skips }) => skips.length > 0),
    tampers: runs.some(({ tampers }) => tampers.length > 0),
    restored: runs.some(({ rollback }) => rollback > 0),
    meddled: runs.some(({ meddles }) => meddles.some(({ request }) => request === 0)),
    'meddled-amid': runs.some(({ meddles }) => meddles.some(({ request }) => request > 0)),
    kills: runs.some(({ crash }) => crash?.way === 'kill'),
    throws: runs.some(({ crash }) => crash?.way === 'throw'),
    signals: runs.some(({ crash }) => crash?.way === 'signal'),
  };
  return Object.entries(has).flatMap(([name, isThere]) => (isThere ? [name] : []));
}

/** How often each feature met each verdict: a feature that never meets a claim is not tried. */
export class Coverage {
  /** By feature, then by verdict. */
  readonly counts: Map<string, Map<string, number>>;

  constructor(counts: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map()) {
    this.counts = new Map([...counts].map(([feature, verdicts]) => [feature, new Map(verdicts)]));
  }

  add(scenario: Scenario, played: Played): void {
    const verdicts = played.runs.flatMap(({ report }) => verdictsOf(report));
    if (played.excused.length > 0) verdicts.push('excused');
    for (const feature of ['(all)', ...featuresOf(scenario)]) {
      for (const verdict of verdicts) this.#count(feature, verdict, 1);
    }
  }

  addAll({ counts }: Pick<Coverage, 'counts'>): void {
    for (const [feature, verdicts] of counts) {
      for (const [verdict, count] of verdicts) this.#count(feature, verdict, count);
    }
  }

  /** A table as lines of text. */
  lines(): string[] {
    const verdicts = [...new Set([...this.counts.values()].flatMap(each => [...each.keys()]))].sort();
    const row = (name: string, cells: readonly (string | number)[]) =>
      [name.padEnd(24), ...cells.map(cell => String(cell).padStart(14))].join('');
    const features = [...this.counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return [
      row('lists of runs', verdicts),
      ...features.map(([feature, counts]) =>
        row(
          feature,
          verdicts.map(verdict => counts.get(verdict) ?? 0),
        ),
      ),
    ];
  }

  #count(feature: string, verdict: string, count: number): void {
    const verdicts = this.counts.get(feature) ?? new Map<string, number>();
    this.counts.set(feature, verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + count));
  }
}

function verdictsOf(report: Played['runs'][number]['report']): string[] {
  if (report === null) return ['killed'];
  if (report.error !== null) return ['thrown'];
  return report.lists.map(({ completeness, status }) => completeness ?? status);
}
