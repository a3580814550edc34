import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { resourceNames } from '../contract/lists.ts';
import type { ListNumbers, MirrorNumbers } from '../store/read/report-reader.ts';

/** Metrics in the text form of Prometheus. */
export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
}

/** The metrics that only a watch has. */
export interface WatchMetrics extends Metrics {
  tickSkipped(): void;
  nextTick(at: Date): void;
}

/** The metrics that only a server of records has. */
export interface ServeMetrics extends Metrics {
  tokenRefused(): void;
}

/** The program and the process that the metrics describe. */
interface MetricsOf {
  readonly version: string;
  /** Every metric has these labels. */
  readonly labels: Readonly<Record<string, string>>;
  /** False leaves out the metrics of this process, for example its memory and its time. */
  readonly ofProcess?: boolean;
  /** The trigger of future runs, if it is neither `manual` nor `schedule`. */
  readonly trigger?: string | null;
}

function registryWith(labels: MetricsOf['labels']): Registry {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  return registry;
}

const endedStatuses = ['completed', 'partial', 'failed', 'cancelled', 'interrupted'];
const completenesses = ['proven', 'incremental', 'unproven'];

/** The numbers before the first run. Every series exists from the start, so that Prometheus sees its first increase. */
const beforeFirstRun: MirrorNumbers = {
  runs: [],
  lists: resourceNames.map(resource => ({
    resource,
    recordCount: null,
    lastCompletedAt: null,
    last: null,
    unknownFields: 0,
    totals: {
      inserted: 0,
      updated: 0,
      removed: 0,
      rejected: 0,
      requests: 0,
      retries: 0,
      bytes: 0,
      durationMs: 0,
    },
  })),
};

/**
 * Makes the metrics of a mirror. They come from the record of runs, so they stay correct when a process restarts, and every process
 * gives the same numbers.
 *
 * @param read is called at each scrape. It returns null if there is no mirror yet, and throws if the mirror can't be read.
 */
export function mirrorMetrics(
  { version, labels, ofProcess = true, trigger = null }: MetricsOf,
  read: () => MirrorNumbers | null,
): Metrics {
  const registry = registryWith(labels);
  if (ofProcess) collectDefaultMetrics({ register: registry });
  return metricsOf(registry, { version, trigger }, read);
}

/** Makes the metrics of a server: those of its mirror, and the count of refused tokens. */
export function serveMetrics({ version, labels }: MetricsOf, read: () => MirrorNumbers | null): ServeMetrics {
  const registry = registryWith(labels);
  collectDefaultMetrics({ register: registry });
  const refused = new Counter({
    name: 'docmirror_serve_refused_tokens_total',
    help: 'Requests that gave a wrong token, since the server started.',
    registers: [registry],
  });
  return { ...metricsOf(registry, { version, trigger: null }, read), tokenRefused: () => refused.inc() };
}

/** Makes the metrics of a watch: those of its mirror and those of its clock. */
export function watchMetrics(
  { version, labels, trigger = null }: MetricsOf,
  read: () => MirrorNumbers | null,
): WatchMetrics {
  const registry = registryWith(labels);
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const skipped = new Counter({
    name: 'docmirror_watch_ticks_skipped_total',
    help: 'Ticks that were left out because the run before them was still going, since the watch started.',
    registers,
  });
  const next = new Gauge({
    name: 'docmirror_watch_next_run_timestamp_seconds',
    help: 'When the next run is due, in seconds since 1970.',
    registers,
  });
  return {
    ...metricsOf(registry, { version, trigger }, read),
    tickSkipped: () => skipped.inc(),
    nextTick: at => next.set(at.getTime() / 1000),
  };
}

function metricsOf(
  registry: Registry,
  { version, trigger }: { readonly version: string; readonly trigger: string | null },
  read: () => MirrorNumbers | null,
): Metrics {
  const registers = [registry];
  const build = 'Always 1; the label is the version of docmirror.';
  new Gauge({ name: 'docmirror_build_info', help: build, labelNames: ['version'], registers }).set(
    { version },
    1,
  );
  const readable = new Gauge({
    name: 'docmirror_mirror_readable',
    help: '1 if the mirror can be read, 0 if it is missing or unreadable.',
    registers,
  });
  const updates = [
    runMetrics(registry, trigger),
    unknownFieldsGauge(registry),
    ...listMetrics.map(metric => metric(registry)),
  ];
  return {
    contentType: registry.contentType,
    // The mirror is read once for all metrics, so that all show the same state.
    text: () => {
      const { isReadable, numbers } = numbersOf(read);
      readable.set(isReadable ? 1 : 0);
      for (const update of updates) update(numbers);
      return registry.metrics();
    },
  };
}

/** An unreadable mirror has no series. If a counter fell to 0, its whole value would look like an increase afterwards. */
function numbersOf(read: () => MirrorNumbers | null): { isReadable: boolean; numbers: MirrorNumbers } {
  try {
    const numbers = read();
    return { isReadable: numbers !== null, numbers: numbers ?? beforeFirstRun };
  } catch {
    return { isReadable: false, numbers: { runs: [], lists: [] } };
  }
}

type Update = (numbers: MirrorNumbers) => void;

function runMetrics(registry: Registry, trigger: string | null): Update {
  const runs = new Counter({
    name: 'docmirror_runs_total',
    help: 'Runs in the record of the mirror, by how they ended and what started them.',
    labelNames: ['status', 'trigger'],
    registers: [registry],
  });
  const running = new Gauge({
    name: 'docmirror_runs_in_progress',
    help: 'Runs that are going on.',
    registers: [registry],
  });
  const died = new Gauge({
    name: 'docmirror_runs_died',
    help: 'Runs whose process is gone before it recorded their end; the next run records them as interrupted.',
    registers: [registry],
  });
  return numbers => {
    runs.reset();
    const ended = numbers.runs.filter(({ status }) => status !== 'running' && status !== 'died');
    const usual = numbers.lists.length === 0 ? [] : ['manual', 'schedule', trigger ?? 'manual'];
    for (const each of new Set([...usual, ...numbers.runs.map(run => run.trigger)]))
      for (const status of endedStatuses) runs.inc({ status, trigger: each }, 0);
    for (const run of ended) runs.inc({ status: run.status, trigger: run.trigger }, run.count);
    const countOf = (wanted: string) =>
      numbers.runs.filter(({ status }) => status === wanted).reduce((sum, { count }) => sum + count, 0);
    running.set(countOf('running'));
    died.set(countOf('died'));
  };
}

function gauge(name: string, help: string, numberOf: (list: ListNumbers) => number | null) {
  return listMetric(Gauge, name, help, numberOf);
}

function counter(name: string, help: string, numberOf: (totals: ListNumbers['totals']) => number) {
  return listMetric(Counter, `${name}_total`, help, ({ totals }) => numberOf(totals));
}

/** A metric with one value for each list. A list whose value is null is left out. */
function listMetric(
  Metric: typeof Gauge | typeof Counter,
  name: string,
  help: string,
  numberOf: (list: ListNumbers) => number | null,
) {
  return (registry: Registry): Update => {
    const metric = new Metric({
      name: `docmirror_list_${name}`,
      help,
      labelNames: ['resource'],
      registers: [registry],
    });
    return ({ lists }) => {
      metric.reset();
      for (const list of lists) {
        const value = numberOf(list);
        if (value !== null) metric.inc({ resource: list.resource }, value);
      }
    };
  };
}

function completenessGauge(registry: Registry): Update {
  const metric = new Gauge({
    name: 'docmirror_list_completeness',
    help: "1 for what the list's last run could say of its completeness, 0 for the rest.",
    labelNames: ['resource', 'completeness'],
    registers: [registry],
  });
  return ({ lists }) => {
    metric.reset();
    for (const { resource, last } of lists) {
      for (const completeness of completenesses) {
        metric.set({ resource, completeness }, last?.completeness === completeness ? 1 : 0);
      }
    }
  };
}

function unknownFieldsGauge(registry: Registry): Update {
  const metric = new Gauge({
    name: 'docmirror_unknown_fields',
    help: 'Fields that the service sends in the list and that have no column.',
    labelNames: ['resource'],
    registers: [registry],
  });
  return ({ lists }) => {
    metric.reset();
    for (const { resource, unknownFields } of lists) metric.set({ resource }, unknownFields);
  };
}

const seconds = (ms: number): number => Math.max(0, ms) / 1000;

const listMetrics: readonly ((registry: Registry) => Update)[] = [
  gauge(
    'last_completed_timestamp_seconds',
    "When the list's last completed run ended, in seconds since 1970.",
    ({ lastCompletedAt }) => (lastCompletedAt === null ? null : Date.parse(lastCompletedAt) / 1000),
  ),
  gauge('records', 'Records of the list in the mirror.', list => list.recordCount),
  gauge('last_run_duration_seconds', "How long the list's last run took.", ({ last }) =>
    last === null ? null : seconds(last.durationMs),
  ),
  gauge('last_run_pages_per_second', "Pages that the list's last run walked, a second.", ({ last }) =>
    last === null || last.durationMs <= 0 ? null : last.pages / seconds(last.durationMs),
  ),
  gauge(
    'last_run_rejected',
    "Records that the list's last run could not read.",
    ({ last }) => last?.rejected ?? 0,
  ),
  gauge(
    'last_run_removals_withheld',
    "Removals that the list's last run withheld.",
    ({ last }) => last?.removalsWithheld ?? 0,
  ),
  gauge(
    'last_run_undecided',
    "Known records whose presence the list's last run could not decide.",
    ({ last }) => last?.undecided ?? 0,
  ),
  completenessGauge,
  counter('inserted', 'Records inserted by all runs.', totals => totals.inserted),
  counter('updated', 'Records updated by all runs.', totals => totals.updated),
  counter('removed', 'Records removed by all runs.', totals => totals.removed),
  counter('rejected', 'Records that could not be read, by all runs.', totals => totals.rejected),
  counter('requests', 'Requests sent by all runs, retries included.', totals => totals.requests),
  counter('retries', 'Requests that were sent again, by all runs.', totals => totals.retries),
  counter('received_bytes', 'Bytes received by all runs.', totals => totals.bytes),
  counter('run_seconds', 'Time that all runs took for the list.', totals => seconds(totals.durationMs)),
];
