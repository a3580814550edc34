import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freshnessNow, healthOf } from '../../src/serve/probes.ts';
import { make, type Scene, setScene } from '../support/scene.ts';
import { collection, documentExport } from '../support/stand-in.ts';

// A year of nights, as those see it who are told of runs: by exit codes, `status`, `/healthz`, pings, metrics and alerts.

const nights = 365;
const hourMs = 3_600_000;
const firstNightMs = Date.parse('2027-01-01T02:00:00Z');
/** A night's run and what is seen of it, as `sync`, `status --strict`, `status --max-age 26h`, `/healthz` and the ping at its end say it. */
type Seen = readonly [sync: number, strict: number, maxAge: number, health: string, ping: string];

const good: Seen = [0, 0, 0, 'ok', '/ping'];
const told: Seen = [3, 4, 0, 'ok', '/ping/fail'];
const never: Seen = [3, 4, 4, 'stale', '/ping/fail'];
const fails = 'DocmirrorCommandFails sync';
const oddExport = 'DocmirrorNeedsALook document-exports';
const oddList = ['DocmirrorListNeverCompleted collections', 'DocmirrorNeedsALook collections'];
const stale = ['collections', 'document-exports', 'webhooks'].map(list => `DocmirrorListStale ${list}`);

interface Phase {
  readonly from: number;
  readonly what: string;
  /** What happens on the day before. */
  readonly before: (scene: Scene) => Promise<unknown> | unknown;
  readonly seen: Seen;
  /** The alerts that fire 20 hours after the run of its last night. */
  readonly alerts: readonly string[];
}

const isOdd = (n: number) => documentExport(n, { sourceDocumentVersion: n });
const accepting = async (scene: Scene, ...args: string[]) => {
  expect(await scene.run('accept', ...args, '--why', 'known')).toMatchObject({ code: 0, stderr: '' });
};
const everyList = (status: number) => ({ 'document-exports': status, collections: status, webhooks: status });

const phases: readonly Phase[] = [
  {
    from: 1,
    what: 'one record that nobody can read, and a list of join rows',
    before: ({ service }) => service.lists['document-exports'].splice(7, 0, isOdd(1001)),
    seen: never,
    alerts: [fails, ...oddList, oddExport],
  },
  {
    from: 11,
    what: 'both are accepted, the record until a day',
    before: async scene => {
      await accepting(scene, 'document-exports', 'record_rejected', '--record', '1', '--until', '2027-07-20');
      await accepting(scene, 'collections', 'pages_short');
    },
    seen: good,
    alerts: [],
  },
  {
    from: 101,
    what: 'an outage begins',
    before: ({ service }) => Object.assign(service.options, { status: everyList(503) }),
    seen: [1, 4, 0, 'ok', '/ping/fail'],
    // By then, 44 hours have gone since the last completed run.
    alerts: [fails, ...stale],
  },
  {
    from: 102,
    what: 'the outage goes on',
    before: () => undefined,
    seen: [1, 4, 4, 'stale', '/ping/fail'],
    alerts: [fails, ...stale],
  },
  {
    from: 104,
    what: 'the outage is over',
    before: ({ service }) => Object.assign(service.options, { status: {} }),
    seen: good,
    alerts: [],
  },
  {
    from: 201,
    what: 'the day has come until which the record was accepted',
    before: () => undefined,
    seen: told,
    alerts: [fails, oddExport],
  },
  {
    from: 251,
    what: 'as many as there are now are accepted',
    before: scene => accepting(scene, 'document-exports', 'record_rejected'),
    seen: good,
    alerts: [],
  },
  {
    from: 301,
    what: 'a second record that nobody can read',
    before: ({ service }) => service.lists['document-exports'].push(isOdd(1002)),
    seen: told,
    alerts: [fails, oddExport],
  },
  {
    from: 331,
    what: 'the service mends both',
    before: ({ service }) => {
      const { lists } = service;
      lists['document-exports'] = lists['document-exports'].map((item, at) =>
        typeof item === 'object' && typeof item.sourceDocumentVersion === 'number'
          ? documentExport(1100 + at)
          : item,
      );
    },
    seen: good,
    alerts: [],
  },
  {
    from: 351,
    what: 'nobody accepts the list of join rows any more',
    before: scene => scene.run('accept', '--withdraw', '2', '--why', 'the view is mended'),
    seen: never,
    alerts: [fails, ...oddList],
  },
];

/** A list that counts rows of a join, and has each record once on a page: each page is short. */
function joinRows(pageNo: number, asked: number): string {
  const pageSize = Math.min(20, asked);
  const rows = make(60, n => collection(n)).flatMap((item, at) => (at % 2 === 0 ? [item, item] : [item]));
  const items = [...new Set(rows.slice((pageNo - 1) * pageSize, pageNo * pageSize))];
  const pageCount = Math.ceil(rows.length / pageSize);
  return JSON.stringify({
    items,
    pagination: { pageCount, pageNo, pageSize, totalRecordCount: rows.length },
  });
}

interface Night {
  readonly seen: Seen;
  readonly metrics: string;
}

const played: Night[] = [];
let scene: Scene;
beforeAll(async () => {
  scene = await setScene({}, { exports: 30, webhooks: 2 });
  scene.service.options.rawBody = (resource, pageNo, pageSize) =>
    resource === 'collections' ? joinRows(pageNo, pageSize) : undefined;
  const pinged: string[] = [];
  const pings = createServer((request, response) => {
    pinged.push(request.url ?? '');
    response.end();
  }).listen(0, '127.0.0.1');
  await once(pings, 'listening');
  const metricsFile = join(scene.folder, 'docmirror.prom');
  Object.assign(scene.env, {
    DOCMIRROR_PING_URL: `http://127.0.0.1:${(pings.address() as AddressInfo).port}/ping`,
    DOCMIRROR_METRICS_FILE: metricsFile,
    DOCMIRROR_LOG_LEVEL: 'error',
    DOCMIRROR_GIVE_UP_AFTER: '0s',
  });
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    for (let night = 1; night <= nights; night++) {
      vi.setSystemTime(firstNightMs + (night - 1) * 24 * hourMs - 12 * hourMs);
      await phases.find(({ from }) => from === night)?.before(scene);
      vi.setSystemTime(firstNightMs + (night - 1) * 24 * hourMs);
      const codeOf = async (...args: string[]) => (await scene.run(...args)).code ?? -1;
      const sync = await codeOf('sync');
      const [strict, maxAge] = [
        await codeOf('status', '--strict'),
        await codeOf('status', '--max-age', '26h'),
      ];
      const { status } = healthOf(freshnessNow(scene.database), 26 * hourMs);
      played.push({
        seen: [sync, strict, maxAge, status, pinged.at(-1) ?? ''],
        metrics: readFileSync(metricsFile, 'utf8'),
      });
    }
  } finally {
    vi.useRealTimers();
    pings.close().closeAllConnections();
  }
}, 900_000);
afterAll(() => scene[Symbol.asyncDispose]());

const lastNightOf = (at: number) => (phases[at + 1]?.from ?? nights + 1) - 1;

test.each(phases.map((phase, at) => ({ ...phase, to: lastNightOf(at) })))(
  'nights $from to $to are told of in the same way everywhere: $what',
  ({ from, to, seen }) => {
    const others = played.flatMap((night, at) =>
      at + 1 < from || at + 1 > to || `${night.seen}` === `${seen}` ? [] : [[at + 1, night.seen]],
    );
    expect(others).toEqual([]);
    expect(played).toHaveLength(nights);
  },
);

test('a list that was read all the year has its acceptances and runs in a sound mirror', async () => {
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

describe.skipIf(!hasPromtool)(`promtool${hasPromtool ? '' : ' (skipped: it is not installed)'}`, () => {
  /** The samples of each series, one an hour; times count from the first night. */
  function seriesOf(): { series: string; values: string }[] {
    const all = played.map(({ metrics }) => {
      const samples = metrics.matchAll(/^(docmirror_(?!build|disk|mirror_bytes)\S+) (\S+)$/gm);
      return new Map(
        [...samples].map(([, name = '', text]) => {
          const value = Number(text);
          return [name, name.includes('_timestamp_') ? value - firstNightMs / 1000 : value] as const;
        }),
      );
    });
    return [...new Set(all.flatMap(night => [...night.keys()]))].map(series => {
      const values = all.map(night => (night.has(series) ? `${night.get(series)}x23` : '_x24'));
      return { series, values: values.join(' ') };
    });
  }

  test('plays the delivered alerts beside them', async () => {
    // No backups are made here.
    const expr =
      'count by (alertname, resource, command) (ALERTS{alertstate="firing",alertname!="DocmirrorBackupStale"})';
    const asked = phases.map(({ alerts }, at) => {
      const samples = alerts.map(alert => {
        const [alertname, of = ''] = alert.split(' ');
        const label = alertname === 'DocmirrorCommandFails' ? 'command' : 'resource';
        return { labels: `{alertname="${alertname}",${label}="${of}"}`, value: 1 };
      });
      return { expr, eval_time: `${24 * (lastNightOf(at) - 1) + 20}h`, exp_samples: samples };
    });
    const file = join(scene.folder, 'year.yaml');
    const rules = join(import.meta.dirname, '../../deploy/prometheus-rules.yaml');
    const tests = [{ interval: '1h', input_series: seriesOf(), promql_expr_test: asked }];
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '1h', tests }));
    const { stdout } = await promisify(execFile)('promtool', ['test', 'rules', file]);
    expect(stdout).toContain('SUCCESS');
  }, 600_000);
});
