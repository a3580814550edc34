import parsePrometheus from 'parse-prometheus-text-format';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { healthOf } from '../../src/serve/health.ts';
import { mirrorMetrics, watchMetrics } from '../../src/serve/metrics.ts';
import type { MirrorNumbers } from '../../src/store/read/report-reader.ts';
import { ReportReader } from '../../src/store/read/report-reader.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { documentExport } from '../support/stand-in.ts';

interface Family {
  readonly name: string;
  readonly type: string;
  readonly metrics: readonly { readonly value: string; readonly labels?: Record<string, string> }[];
}

async function scrape(read: () => MirrorNumbers | null): Promise<Map<string, Family>> {
  const text = await mirrorMetrics({ version: '1.2.3', labels: {} }, read).text();
  return new Map((parsePrometheus(text) as Family[]).map(family => [family.name, family]));
}

function valuesOf(families: Map<string, Family>, name: string): Record<string, number> {
  const family = families.get(name);
  if (family === undefined) throw new Error(`There is no metric ${name}.`);
  return Object.fromEntries(
    family.metrics.map(({ labels, value }) => [Object.values(labels ?? {}).join(' '), Number(value)]),
  );
}

describe('the metrics of a mirror', () => {
  let scene: Scene;
  let reader: ReportReader;
  const startedAt = Date.now() / 1000;

  beforeAll(async () => {
    scene = await setScene();
    await scene.sync();
    const { lists } = scene.service;
    lists['document-exports'].splice(0, 2, documentExport(1, { sourceDocumentTitle: 'new title' }));
    lists.collections.push({ id: 999, name: 'one more' });
    await scene.sync();
    scene.service.options.status = { webhooks: 500, collections: 500, 'document-exports': 500 };
    await scene.sync('--give-up-after', '1500ms');
    reader = new ReportReader(scene.database);
  });

  afterAll(async () => {
    reader[Symbol.dispose]();
    await scene[Symbol.asyncDispose]();
  });

  test('are accepted by a parser of Prometheus text, each with help and a type', async () => {
    const families = await scrape(() => reader.figures());
    expect(families.size).toBeGreaterThan(20);
    expect(
      [...families.values()].filter(({ type }) => !['COUNTER', 'GAUGE', 'HISTOGRAM'].includes(type)),
    ).toEqual([]);
  });

  test('count runs by how they ended', async () => {
    const families = await scrape(() => reader.figures());
    expect(valuesOf(families, 'docmirror_runs_total')).toEqual({
      'cancelled manual': 0,
      'completed manual': 2,
      'failed manual': 1,
      'interrupted manual': 0,
      'partial manual': 0,
      'cancelled schedule': 0,
      'completed schedule': 0,
      'failed schedule': 0,
      'interrupted schedule': 0,
      'partial schedule': 0,
    });
    expect(valuesOf(families, 'docmirror_runs_in_progress')).toEqual({ '': 0 });
  });

  test("give each list's records, changes, traffic and completeness", async () => {
    const families = await scrape(() => reader.figures());
    expect(valuesOf(families, 'docmirror_list_records')).toEqual({
      'document-exports': 129,
      collections: 8,
      webhooks: 3,
    });
    expect(valuesOf(families, 'docmirror_list_inserted_total')).toEqual({
      'document-exports': 130,
      collections: 8,
      webhooks: 3,
    });
    expect(valuesOf(families, 'docmirror_list_updated_total')['document-exports']).toBe(1);
    expect(valuesOf(families, 'docmirror_list_removed_total')['document-exports']).toBe(1);
    expect(valuesOf(families, 'docmirror_list_retries_total').collections).toBeGreaterThan(0);
    expect(valuesOf(families, 'docmirror_list_requests_total').collections).toBeGreaterThanOrEqual(4);
    expect(valuesOf(families, 'docmirror_list_received_bytes_total')['document-exports']).toBeGreaterThan(
      10_000,
    );
    const completeness = valuesOf(families, 'docmirror_list_completeness');
    expect(Object.keys(completeness)).toHaveLength(9);
    expect(Object.values(completeness).every(value => value === 0)).toBe(true);
  });

  test('give the last completed run, not the failed one after it', async () => {
    const families = await scrape(() => reader.figures());
    const times = valuesOf(families, 'docmirror_list_last_completed_timestamp_seconds');
    for (const time of Object.values(times)) {
      expect(time).toBeGreaterThan(startedAt - 1);
      expect(time).toBeLessThan(Date.now() / 1000);
    }
    expect(valuesOf(families, 'docmirror_list_last_run_duration_seconds').webhooks).toBeGreaterThan(0);
  });

  test('say so if there is no mirror yet, and are right again when there is one', async () => {
    let numbers: MirrorNumbers | null = null;
    const metrics = mirrorMetrics({ version: '1.2.3', labels: {} }, () => numbers);
    expect(await metrics.text()).toMatch(/^docmirror_mirror_readable 0$/m);
    numbers = reader.figures();
    const text = await metrics.text();
    expect(text).toMatch(/^docmirror_mirror_readable 1$/m);
    expect(await metrics.text()).toContain('docmirror_runs_total{status="completed",trigger="manual"} 2');
    numbers = null;
    expect(await metrics.text()).not.toMatch(/^docmirror_list_records\{/m);
  });

  test('have each series before the first failure, and before the first run', async () => {
    const seriesOf = async (read: () => MirrorNumbers | null) => {
      const metrics = mirrorMetrics({ version: '1.2.3', labels: { tenant: 'acme' }, trigger: 'cron' }, read);
      const lines = (await metrics.text()).split('\n').filter(line => line.startsWith('docmirror_'));
      return new Map(lines.map(line => [line.slice(0, line.lastIndexOf(' ')), line.split(' ').at(-1)]));
    };
    await using fresh = await setScene();
    await fresh.sync();
    using one = new ReportReader(fresh.database);
    const afterFailures = await seriesOf(() => reader.figures());
    const afterOneRun = await seriesOf(() => one.figures());
    const before = await seriesOf(() => null);
    const namesOf = (series: Map<string, unknown>) => [...series.keys()].sort();
    expect(namesOf(afterOneRun)).toEqual(namesOf(afterFailures));
    expect(namesOf(afterOneRun).filter(name => name.includes('"cron"'))).toHaveLength(5);
    // These have no number yet: a 0 would be wrong.
    const unknown =
      /_(records|last_completed_timestamp_seconds|last_run_(duration_seconds|pages_per_second))\{/;
    expect(namesOf(before)).toEqual(namesOf(afterOneRun).filter(name => !unknown.test(name)));
    const values = [...before].filter(([name]) => !name.startsWith('docmirror_build_info'));
    expect(new Set(values.map(([, value]) => value))).toEqual(new Set(['0']));
    expect(before.size).toBeGreaterThan(50);
    const unreadable = await seriesOf(() => {
      throw new Error('damaged');
    });
    expect(namesOf(unreadable).filter(name => /_total/.test(name))).toEqual([]);
  });

  test('contain no record, no address of the service and no token', async () => {
    const text = await mirrorMetrics({ version: '1.2.3', labels: {} }, () => reader.figures()).text();
    expect(text).not.toMatch(/Document \d|Connection|hooks\.example|127\.0\.0\.1|secret/);
  });

  test('of a watch give its clock, too', async () => {
    const metrics = watchMetrics({ version: '1.2.3', labels: {} }, () => null);
    metrics.tickSkipped();
    metrics.tickSkipped();
    metrics.nextTick(new Date(1_800_000_000_000));
    const text = await metrics.text();
    expect(text).toMatch(/^docmirror_watch_ticks_skipped_total 2$/m);
    expect(text).toMatch(/^docmirror_watch_next_run_timestamp_seconds 1800000000$/m);
  });
});

describe('the health of a mirror', () => {
  const nowMs = Date.parse('2026-11-20T12:00:00Z');
  const ages = [
    { resource: 'webhooks', lastCompletedAt: '2026-11-20T11:00:00.000Z' },
    { resource: 'collections', lastCompletedAt: '2026-11-20T11:30:00.000Z' },
  ];

  test.each([
    [3_600_001, 200, 'ok'],
    [3_600_000, 200, 'ok'],
    [3_599_999, 503, 'stale'],
    [0, 503, 'stale'],
    [null, 200, 'ok'],
  ])('with a greatest age of %j ms is %i, %s', (maxAgeMs, statusCode, status) => {
    const health = healthOf({ maxAgeMs, ages: () => ages }, nowMs);
    expect(health).toMatchObject({ statusCode, body: { status } });
    expect(health.body.lists?.map(({ ageSeconds }) => ageSeconds)).toEqual([3600, 1800]);
  });

  test('is stale if a list has never completed', () => {
    const never = [{ resource: 'webhooks', lastCompletedAt: null }];
    expect(healthOf({ maxAgeMs: 1e12, ages: () => never }, nowMs).statusCode).toBe(503);
    expect(healthOf({ maxAgeMs: null, ages: () => never }, nowMs).statusCode).toBe(200);
  });

  test('is bad, without a detail, if the mirror can not be read', () => {
    const failing = () => {
      throw new Error('secret detail');
    };
    expect(healthOf({ maxAgeMs: null, ages: failing }, nowMs)).toEqual({
      statusCode: 503,
      body: { status: 'unreadable' },
    });
  });
});
