import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { attempt } from '../errors.ts';
import { figuresBeforeFirstRun, listNumbers, readFigures } from '../store/read/runs/figures.ts';
import { version } from '../version.ts';
import texts from './metrics.json' with { type: 'json' };

type Labels = Readonly<Record<string, string>>;

/** The value of a metric, and the labels that it has besides those of its mirror; null is left out. */
export type Sample = readonly [value: number | null, labels?: Labels];

/** The values of metrics by their names. `metrics.json` says what each is; one is a counter if its name ends with `_total`. */
export type Families = Readonly<
  Partial<
    Record<keyof typeof texts | `docmirror_list_${string}`, (figures: LabelledFigures) => readonly Sample[]>
  >
>;

/** The numbers of a mirror at a moment, and the labels of all its metrics. */
export type LabelledFigures = ReturnType<typeof labelledFigures>;

/**
 * The numbers of a mirror for its metrics, with these labels or, if there are none, those of its newest run. `error` says why it can't be
 * read; it is null if the mirror is missing.
 *
 * @param trigger that of future runs, if it is neither `manual` nor `schedule`.
 */
export function labelledFigures(database: string, labels: Labels, trigger: string | null = null) {
  const disk = attempt(() => {
    const { bavail, bsize } = statfsSync(dirname(resolve(database)));
    const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return { bytes: sizeOf(database) + sizeOf(`${database}-wal`), freeBytes: bavail * bsize };
  });
  const about = { bytes: disk?.bytes ?? null, freeBytes: disk?.freeBytes ?? null, trigger };
  try {
    const isReadable = existsSync(database);
    // Every series exists before the first run, so that Prometheus sees its first increase.
    const figures = isReadable ? readFigures(database) : figuresBeforeFirstRun;
    const own = Object.keys(labels).length > 0 ? labels : figures.labels;
    return { ...figures, ...about, labels: own, isReadable, error: null };
  } catch (error) {
    // An unreadable mirror has no series. If a counter fell to 0, its whole value would look like an increase afterwards.
    return { runs: [], lists: [], ...about, labels, isReadable: false, error };
  }
}

const completenesses = ['proven', 'incremental', 'unproven'];
const endedStatuses = ['completed', 'partial', 'failed', 'cancelled', 'deadline', 'interrupted'];

function countOf({ runs }: LabelledFigures, status: string): Sample[] {
  const found = runs.filter(run => run.status === status);
  return [[found.reduce((sum, run) => sum + run.count, 0)]];
}

const numberFamilies = Object.entries(listNumbers).map(([name, { before }]) => {
  const samplesOf = ({ lists }: LabelledFigures) =>
    lists.map(({ resource, numbers }): Sample => [numbers[name] ?? before, { resource }]);
  return [`docmirror_list_${name}`, samplesOf] as const;
});
const helpOfNumbers = Object.entries(listNumbers).map(([name, { help }]) => [`docmirror_list_${name}`, help]);
const helpTexts: Readonly<Record<string, string>> = { ...texts, ...Object.fromEntries(helpOfNumbers) };

const families: Families = {
  docmirror_build_info: () => [[1, { version }]],
  docmirror_mirror_readable: ({ isReadable }) => [[isReadable ? 1 : 0]],
  docmirror_mirror_bytes: ({ bytes }) => [[bytes]],
  docmirror_disk_free_bytes: ({ freeBytes }) => [[freeBytes]],
  docmirror_runs_total({ runs, lists, trigger }) {
    const usual = lists.length === 0 ? [] : ['manual', 'schedule', trigger ?? 'manual'];
    const triggers = new Set([...usual, ...runs.map(run => run.trigger)]);
    const pairs = [...triggers].flatMap(each => endedStatuses.map(status => ({ status, trigger: each })));
    return pairs.map(pair => {
      const run = runs.find(({ status, trigger: by }) => status === pair.status && by === pair.trigger);
      return [run?.count ?? 0, pair];
    });
  },
  docmirror_runs_in_progress: figures => countOf(figures, 'running'),
  docmirror_runs_died: figures => countOf(figures, 'died'),
  docmirror_unknown_fields: ({ lists }) =>
    lists.map(({ resource, unknownFields }) => [unknownFields, { resource }]),
  docmirror_list_completeness: ({ lists }) =>
    lists.flatMap(({ resource, completeness: last }) =>
      completenesses.map((each): Sample => [Number(each === last), { resource, completeness: each }]),
    ),
  docmirror_list_finding: ({ lists }) =>
    lists.flatMap(({ resource, findings }) =>
      findings.map(({ code, isAccepted }): Sample => [1, { resource, code, accepted: String(isAccepted) }]),
    ),
  ...Object.fromEntries(numberFamilies),
};

/** The metrics of mirrors, their `own` and `more`, in the text form of Prometheus: each is described once, before all samples. */
export function metricsText(mirrors: readonly LabelledFigures[], more: Families = {}, own = families) {
  const escaped = (text: string) => text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
  const pairOf = ([label, text]: [string, string]) => `${label}="${escaped(text)}"`;
  const parts = Object.entries({ ...own, ...more }).map(([name, samplesOf]) => {
    const lines = mirrors.flatMap(mirror =>
      (samplesOf?.(mirror) ?? []).map(([value, labels]) => {
        const pairs = Object.entries({ ...mirror.labels, ...labels }).map(pairOf);
        const braced = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
        return value === null ? '' : `${name}${braced} ${value}\n`;
      }),
    );
    const type = name.endsWith('_total') ? 'counter' : 'gauge';
    return `# HELP ${name} ${helpTexts[name]}\n# TYPE ${name} ${type}\n${lines.join('')}`;
  });
  return parts.join('\n');
}
