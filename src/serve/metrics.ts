import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  figuresBeforeFirstRun,
  type ListNumbers,
  type MirrorFigures,
  readFigures,
} from '../store/read/runs/figures.ts';
import { version } from '../version.ts';

type Labels = Readonly<Record<string, string>>;

/** The value of a metric, and the labels that it has besides those of its mirror; null is left out. */
export type Sample = readonly [value: number | null, labels?: Labels];

/** A metric: its name, its help and its values. It is a counter if its name ends with `_total`. */
export type Family = readonly [
  name: string,
  help: string,
  samplesOf: (figures: LabelledFigures) => readonly Sample[],
];

/** The numbers of a mirror at a moment, and the labels of all its metrics. */
export interface LabelledFigures extends MirrorFigures {
  /** False if the mirror is missing or can't be read. */
  readonly isReadable: boolean;
  /** Why it can't be read; null if it can, or if it is missing. */
  readonly error: unknown;
  /** Those of the mirror with its log, and the free ones of its file system; null if its folder can't be read. */
  readonly bytes: number | null;
  readonly freeBytes: number | null;
  /** The trigger of future runs, if it is neither `manual` nor `schedule`. */
  readonly trigger: string | null;
}

/** The numbers of a mirror for its metrics, with these labels or, if there are none, those of its newest run. */
export function labelledFigures(
  database: string,
  labels: Labels,
  trigger: string | null = null,
): LabelledFigures {
  const disk = diskOf(database);
  try {
    const isReadable = existsSync(database);
    // Every series exists before the first run, so that Prometheus sees its first increase.
    const figures = isReadable ? readFigures(database) : figuresBeforeFirstRun;
    const own = Object.keys(labels).length > 0 ? labels : figures.labels;
    return { ...figures, ...disk, labels: own, isReadable, error: null, trigger };
  } catch (error) {
    // An unreadable mirror has no series. If a counter fell to 0, its whole value would look like an increase afterwards.
    return { runs: [], lists: [], ...disk, labels, isReadable: false, error, trigger };
  }
}

function diskOf(database: string): Pick<LabelledFigures, 'bytes' | 'freeBytes'> {
  try {
    const { bavail, bsize } = statfsSync(dirname(resolve(database)));
    const sizes = [database, `${database}-wal`].map(
      path => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
    );
    return { bytes: sizes.reduce((sum, size) => sum + size), freeBytes: bavail * bsize };
  } catch {
    return { bytes: null, freeBytes: null };
  }
}

const endedStatuses = ['completed', 'partial', 'failed', 'cancelled', 'deadline', 'interrupted'];
const completenesses = ['proven', 'incremental', 'unproven'];

const countOf =
  (status: string) =>
  ({ runs }: LabelledFigures): readonly Sample[] => [
    [runs.reduce((sum, run) => sum + (run.status === status ? run.count : 0), 0)],
  ];

/** The metric of a number of each list: its name after `docmirror_list_`, its help, and its value before the first run. */
const ofLists = (member: keyof ListNumbers, name: string, help: string, before: 0 | null = 0): Family => [
  `docmirror_list_${name}`,
  help,
  ({ lists }) => lists.map(({ resource, ...numbers }): Sample => [numbers[member] ?? before, { resource }]),
];

/** Every number of a list has its metric. */
const listMetrics: { readonly [Member in keyof ListNumbers]: Family } = {
  completedSinceS: ofLists(
    'completedSinceS',
    'last_completed_timestamp_seconds',
    "Since when the list's last completed run is true, in seconds since 1970.",
    null,
  ),
  records: ofLists('records', 'records', 'Records of the list in the mirror.', null),
  lastSeconds: ofLists(
    'lastSeconds',
    'last_run_duration_seconds',
    "How long the list's last run took.",
    null,
  ),
  lastPagesPerSecond: ofLists(
    'lastPagesPerSecond',
    'last_run_pages_per_second',
    "Pages that the list's last run read, a second.",
    null,
  ),
  lastRejected: ofLists(
    'lastRejected',
    'last_run_rejected',
    "Records that the list's last run could not read.",
  ),
  lastRemovalsWithheld: ofLists(
    'lastRemovalsWithheld',
    'last_run_removals_withheld',
    "Removals that the list's last run withheld.",
  ),
  lastUndecided: ofLists(
    'lastUndecided',
    'last_run_undecided',
    "Known records whose presence the list's last run could not decide.",
  ),
  inserted: ofLists('inserted', 'inserted_total', 'Records inserted by all runs.'),
  updated: ofLists('updated', 'updated_total', 'Records updated by all runs.'),
  removed: ofLists('removed', 'removed_total', 'Records removed by all runs.'),
  rejected: ofLists('rejected', 'rejected_total', 'Records that could not be read, by all runs.'),
  requests: ofLists('requests', 'requests_total', 'Requests sent by all runs, retries included.'),
  retries: ofLists('retries', 'retries_total', 'Requests that were sent again, by all runs.'),
  bytes: ofLists('bytes', 'received_bytes_total', 'Bytes received by all runs.'),
  seconds: ofLists('seconds', 'run_seconds_total', 'Time that all runs took for the list.'),
};

const families: readonly Family[] = [
  ['docmirror_build_info', 'Always 1; the label is the version of docmirror.', () => [[1, { version }]]],
  [
    'docmirror_mirror_readable',
    '1 if the mirror can be read, 0 if it is missing or unreadable.',
    ({ isReadable }) => [[isReadable ? 1 : 0]],
  ],
  ['docmirror_mirror_bytes', 'Bytes of the mirror with its log.', ({ bytes }) => [[bytes]]],
  ['docmirror_disk_free_bytes', "Free bytes of the mirror's file system.", ({ freeBytes }) => [[freeBytes]]],
  [
    'docmirror_runs_total',
    'Runs in the record of the mirror, by how they ended and what started them.',
    ({ runs, lists, trigger }) => {
      const usual = lists.length === 0 ? [] : ['manual', 'schedule', trigger ?? 'manual'];
      const triggers = new Set([...usual, ...runs.map(run => run.trigger)]);
      return [...triggers].flatMap(each =>
        endedStatuses.map((status): Sample => {
          const run = runs.find(one => one.status === status && one.trigger === each);
          return [run?.count ?? 0, { status, trigger: each }];
        }),
      );
    },
  ],
  ['docmirror_runs_in_progress', 'Runs that are going on.', countOf('running')],
  [
    'docmirror_runs_died',
    'Runs whose process is gone before it recorded their end; the next run records them as interrupted.',
    countOf('died'),
  ],
  [
    'docmirror_unknown_fields',
    'Fields that the service sends in the list and that have no column.',
    ({ lists }) => lists.map(({ resource, unknownFields }) => [unknownFields, { resource }]),
  ],
  [
    'docmirror_list_completeness',
    "1 for what the list's last run could say of its completeness, 0 for the rest.",
    ({ lists }) =>
      lists.flatMap(({ resource, completeness }) =>
        completenesses.map(
          (each): Sample => [Number(each === completeness), { resource, completeness: each }],
        ),
      ),
  ],
  ...Object.values(listMetrics),
];

/**
 * The metrics of mirrors, and further ones, in the text form of Prometheus: each is described once, before the samples of all mirrors.
 *
 * @param own the metrics of each mirror itself.
 */
export function metricsText(
  mirrors: readonly LabelledFigures[],
  more: readonly Family[] = [],
  own: readonly Family[] = families,
): string {
  const escaped = (text: string) => text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
  const texts = [...own, ...more].map(([name, help, samplesOf]) => {
    const lines = mirrors.flatMap(mirror =>
      samplesOf(mirror).map(([value, labels]) => {
        const pairs = Object.entries({ ...mirror.labels, ...labels }).map(
          ([label, text]) => `${label}="${escaped(text)}"`,
        );
        const braced = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
        return value === null ? '' : `${name}${braced} ${value}\n`;
      }),
    );
    const type = name.endsWith('_total') ? 'counter' : 'gauge';
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
  });
  return texts.join('\n');
}
