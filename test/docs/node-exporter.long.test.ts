import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawnCli } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

// The metrics of a tenant whose docmirror is 0.5.0 (globex) and of one of today (acme) are in one folder of node_exporter.

const packages = { 'prometheus-node-exporter': 'prometheus-node-exporter', promtool: 'prometheus' };
const missing = Object.entries(packages).flatMap(([program, name]) =>
  spawnSync(program, ['--version']).status === 0 ? [] : [name],
);
const skipped = missing.length === 0 ? '' : ` (skipped: Debian's ${missing.join(' and ')} not installed)`;

const rules = join(import.meta.dirname, '../../deploy/prometheus-rules.yaml');
const tenants = ['globex', 'acme'];

/** A line for each sample: the series with its labels, and its value. */
const samplePattern = /^(docmirror_\w+(?:\{.*\})?) (\S+)$/gm;

type Edit = (text: string) => string;
interface Fault {
  /** The alerts that come of it. */
  readonly alerts: readonly string[];
  readonly edit: Edit;
  /** How many alerts there are of each tenant. */
  readonly count?: number;
  /** Whether it is a counter, which does not go back. */
  readonly isCounter?: true;
}

/** Changes the values of a metric where its labels are so. */
function change(name: string, to: (value: number) => number | null, labels = ''): Edit {
  const lines = new RegExp(`^(${name}(?:\\{.*${labels}.*\\})?) (\\S+)\\n`, 'gm');
  return text =>
    text.replace(lines, (_, series, value) => {
      const changed = to(Number(value));
      return changed === null ? '' : `${series} ${changed}\n`;
    });
}

const lists = 3;
const byTwo = (n: number) => n + 2;
const before = (hours: number) => (seconds: number) => seconds - hours * 3_600;
const runs = (status: string) => change('docmirror_runs_total', byTwo, `status="${status}",trigger="manual"`);

const faults: readonly Fault[] = [
  { alerts: ['DocmirrorAbsent', 'DocmirrorMirrorAbsent'], edit: () => '' },
  { alerts: ['DocmirrorNothingMirrored'], edit: change('docmirror_mirror_readable', () => 0) },
  {
    alerts: ['DocmirrorListStale'],
    edit: change('docmirror_list_last_completed_timestamp_seconds', before(27)),
    count: lists,
  },
  {
    alerts: ['DocmirrorListNeverCompleted'],
    edit: change('docmirror_list_last_completed_timestamp_seconds', () => null),
    count: lists,
  },
  {
    alerts: ['DocmirrorWatchStuck'],
    edit: change('docmirror_watch_next_run_timestamp_seconds', before(24 * 400)),
  },
  { alerts: ['DocmirrorRunsFail'], edit: runs('failed'), isCounter: true },
  { alerts: ['DocmirrorRunsPartial'], edit: runs('partial'), isCounter: true },
  { alerts: ['DocmirrorRunsTooLong'], edit: runs('deadline'), isCounter: true },
  { alerts: ['DocmirrorRunDied'], edit: change('docmirror_runs_died', () => 1) },
  {
    alerts: ['DocmirrorCommandFails'],
    edit: change('docmirror_command_last_exit_code', () => 12, 'command="sync"'),
  },
  {
    alerts: ['DocmirrorBackupStale'],
    edit: change('docmirror_backup_last_success_timestamp_seconds', before(27)),
  },
  { alerts: ['DocmirrorDiskAlmostFull'], edit: change('docmirror_disk_free_bytes', () => 1_000) },
  {
    alerts: ['DocmirrorRemovalsWithheld'],
    edit: change('docmirror_list_last_run_removals_withheld', () => 7),
    count: lists,
  },
  {
    alerts: ['DocmirrorNeedsALook'],
    edit: change('docmirror_list_last_run_rejected', () => 1),
    count: lists,
  },
  { alerts: ['DocmirrorUnknownFields'], edit: change('docmirror_unknown_fields', () => 1), count: lists },
  {
    alerts: ['DocmirrorRunsOverlap'],
    edit: change('docmirror_watch_ticks_skipped_total', n => n + 5),
    isCounter: true,
  },
];

test('each delivered alert has a fault here', () => {
  const delivered = [...readFileSync(rules, 'utf8').matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name);
  expect(faults.flatMap(({ alerts }) => alerts)).toEqual(expect.arrayContaining(delivered));
  expect(faults.flatMap(({ alerts }) => alerts)).toHaveLength(delivered.length);
});

describe.skipIf(missing.length > 0)(`node_exporter${skipped}`, () => {
  let scene: Scene;
  let folder: string;
  let exporter: ReturnType<typeof spawn>;
  let url = '';
  /** The files of the tenants, by their names without the prefix that decides which comes first. */
  let texts: ReadonlyMap<string, string>;

  beforeAll(async () => {
    scene = await setScene();
    folder = join(scene.folder, 'textfile');
    mkdirSync(folder);
    const file = join(scene.folder, 'acme.prom');
    Object.assign(scene.env, { DOCMIRROR_LABELS: 'tenant=acme', DOCMIRROR_METRICS_FILE: file });
    expect(await scene.run('sync')).toMatchObject({ code: 0 });
    expect(await scene.run('backup', scene.folder, '--keep', '3')).toMatchObject({ code: 0 });
    const { DOCMIRROR_METRICS_FILE: _file, ...env } = scene.env;
    await using watch = spawnCli(['watch', '--schedule', '0 0 1 1 *', '--http', '127.0.0.1:0'], { env });
    const [said] = await once(watch.child.stdout as NonNullable<typeof watch.child.stdout>, 'data');
    const ofWatch = await (await fetch(`${String(said).trim().split(' ').at(-1)}/metrics`)).text();
    texts = new Map([
      ['globex.prom', readFileSync(join(import.meta.dirname, '../serve/metrics-0.5.0.prom'), 'utf8')],
      ['acme.prom', readFileSync(file, 'utf8')],
      ['acme-backup.prom', readFileSync(join(scene.folder, 'acme-backup.prom'), 'utf8')],
      ['acme-watch.prom', ofWatch.replace(/^.*docmirror_(?!watch_).*\n/gm, '')],
    ]);
    const only = ['--collector.disable-defaults', '--collector.textfile', '--web.disable-exporter-metrics'];
    const at = [`--collector.textfile.directory=${folder}`, '--web.listen-address=127.0.0.1:0'];
    exporter = spawn('prometheus-node-exporter', [...only, ...at], { stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    while (url === '') {
      const [chunk] = await once(exporter.stderr as NonNullable<typeof exporter.stderr>, 'data');
      log += chunk;
      const address = /Listening on" address=(\S+)/.exec(log)?.[1];
      if (address !== undefined) url = `http://${address}/metrics`;
    }
    exporter.stderr?.resume();
  });

  afterAll(async () => {
    exporter?.kill('SIGKILL');
    await scene?.[Symbol.asyncDispose]();
  });

  /** Puts the files of the tenants into the folder, and gives what node_exporter makes of them: the values by the series. */
  async function scrape(first: string, edit: Edit = text => text): Promise<Map<string, number>> {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    for (const [name, text] of texts) {
      const edited = edit(text);
      const prefix = name.startsWith(first) ? 'a' : 'b';
      if (edited !== '') writeFileSync(join(folder, `${prefix}-${name}`), edited);
    }
    const scraped = await (await fetch(url)).text();
    expect(scraped).toMatch(/^node_textfile_scrape_error 0$/m);
    return seriesOf(scraped);
  }

  /** The labels in the order of their names, as node_exporter writes them. */
  const seriesOf = (text: string) =>
    new Map(
      [...text.matchAll(samplePattern)].map(([, series = '', value]) => {
        const [name, labels = ''] = series.split(/[{}]/);
        const sorted = (labels.match(/\w+="[^"]*"/g) ?? []).sort().join(',');
        return [`${name}{${sorted}}`, Number(value)] as const;
      }),
    );

  test.each(tenants)('shows each series of each tenant if the file of %s is the first', async first => {
    const written = new Map([...texts.values()].flatMap(text => [...seriesOf(text)]));
    for (const tenant of tenants)
      expect(
        [...written.keys()].filter(series => series.includes(`tenant="${tenant}"`)).length,
      ).toBeGreaterThan(80);
    expect(await scrape(first)).toEqual(written);
  });

  // A sample each five minutes: as it should be, then the fault, then as it should be for long.
  const phases = [
    { fromHour: 0, samples: 36 },
    { fromHour: 3, samples: 72 },
    { fromHour: 9, samples: 192 },
  ];

  /** The samples of a series in a phase. Times go on, and count from the beginning. */
  function samplesOf(
    series: string,
    value: number | undefined,
    at: number,
    startOf: ReadonlyMap<string, number>,
  ) {
    const { fromHour, samples } = phases[at] as (typeof phases)[number];
    if (value === undefined) return `_x${samples}`;
    if (!series.includes('_timestamp_')) return `${value}x${samples - 1}`;
    const tenant = tenants.find(each => series.includes(`tenant="${each}"`)) ?? '';
    return `${value - (startOf.get(tenant) ?? 0) + fromHour * 3_600}+300x${samples - 1}`;
  }

  test.each(tenants)(
    'lets each alert of each tenant fire and resolve if the file of %s is the first',
    async first => {
      const healthy = await scrape(first);
      const startOf = new Map(
        tenants.map(tenant => {
          const ended = `docmirror_command_last_end_timestamp_seconds{command="sync",tenant="${tenant}"}`;
          return [tenant, healthy.get(ended) ?? Number.NaN];
        }),
      );
      const expr = 'count by (alertname, alertstate, tenant) (ALERTS)';
      const tests = [];
      for (const { alerts, edit, count = 1, isCounter } of faults) {
        const faulty = await scrape(first, edit);
        const scrapes = [healthy, faulty, isCounter ? faulty : healthy];
        const input = [...healthy.keys()].map(series => ({
          series,
          values: scrapes.map((values, at) => samplesOf(series, values.get(series), at, startOf)).join(' '),
        }));
        const fired = alerts.flatMap(name =>
          (name === 'DocmirrorAbsent' ? [''] : tenants.map(tenant => `,tenant="${tenant}"`)).map(of => ({
            labels: `{alertname="${name}",alertstate="firing"${of}}`,
            value: count,
          })),
        );
        const asked = { '2h55m': [], '8h': fired, '24h': [] };
        tests.push({
          name: alerts.join(),
          interval: '5m',
          input_series: input,
          promql_expr_test: Object.entries(asked).map(([at, samples]) => ({
            expr,
            eval_time: at,
            exp_samples: samples,
          })),
        });
      }
      const file = join(scene.folder, 'alerts.yaml');
      // JSON is YAML.
      writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '5m', tests }));
      const { stdout } = await promisify(execFile)('promtool', ['test', 'rules', file]);
      expect(stdout).toContain('SUCCESS');
    },
  );
});
