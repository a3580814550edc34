import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeBigMirror } from '../support/big-mirror.ts';
import { type RunningCli, spawnCli, temporaryFolder } from '../support/run-cli.ts';
import { servedToken } from '../support/served.ts';

const rowCount = 1_000_000;
const probeCount = 200;
const headers = { authorization: `Bearer ${servedToken}`, 'accept-encoding': 'identity' };

const hasProc = existsSync('/proc/self/status');
const folder = temporaryFolder();
const database = join(folder.path, 'mirror.sqlite');
beforeAll(() => makeBigMirror(database, rowCount), 300_000);
afterAll(() => folder[Symbol.asyncDispose]());

interface Served extends AsyncDisposable {
  readonly url: string;
  readonly cli: RunningCli;
}

async function serve(): Promise<Served> {
  const env = { DOCMIRROR_DATABASE: database, DOCMIRROR_LOG_LEVEL: 'warn' };
  const args = ['serve', '--port', '0', '--token', servedToken];
  const cli = spawnCli(args, { env, timeoutMs: 300_000 });
  const { stdout } = cli.child;
  if (stdout === null) throw new Error('The server has no standard output.');
  const url =
    String((await once(stdout, 'data'))[0])
      .trim()
      .split(' ')
      .at(-1) ?? '';
  return { url, cli, [Symbol.asyncDispose]: () => cli[Symbol.asyncDispose]() };
}

async function textAt({ url }: Served, path: string): Promise<string> {
  const answer = await fetch(url + path, { headers });
  expect([path, answer.status]).toEqual([path, 200]);
  return await answer.text();
}

/** Reads a file at 10 KB a second until its server goes. */
async function readSlowly({ url }: Served, path: string): Promise<IncomingMessage> {
  const [answer] = (await once(httpGet(url + path, { headers }), 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  const timer = setInterval(() => answer.read(1_024), 100);
  answer.once('close', () => clearInterval(timer));
  return answer;
}

/** The time of the processor that all threads of a server have used, in milliseconds. */
function processorMs({ cli }: Served): number {
  const tasks = `/proc/${cli.child.pid}/task`;
  const times = readdirSync(tasks).map(task => readFileSync(join(tasks, task, 'schedstat'), 'utf8'));
  return times.reduce((sum, time) => sum + Number(time.split(' ')[0]) / 1e6, 0);
}

function peakMb({ cli }: Served): number {
  const [, kib] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${cli.child.pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1_024;
}

const searches = Array.from(
  { length: 8 },
  (_, at) => `/search?q=${encodeURIComponent(`title zürich ${at}`)}`,
);
const heavy = [
  ...searches,
  '/?days=365',
  '/changes?page=500',
  '/search?q=REF-999',
  '/document-exports?q=title+99',
];
const shortOnes = ['/document-exports?page=7', '/v2/document-exports?pageNo=3', '/v2/collections'];

describe('with 1,000,000 exports', { timeout: 300_000 }, () => {
  test.skipIf(!hasProc)(
    'probes are answered within 250 ms and lists within 1 s, whatever else is asked for, and no answer is another one',
    async () => {
      await using served = await serve();
      const quiet = new Map<string, string>();
      for (const path of [...heavy, ...shortOnes]) quiet.set(path, await textAt(served, path));
      const loads = heavy.map(async path =>
        expect(withoutTimes(await textAt(served, path))).toBe(withoutTimes(quiet.get(path) ?? '')),
      );
      await readSlowly(served, '/changes.csv');
      const download = fetch(`${served.url}/document-exports.csv`, { headers }).then(async answer => {
        let lines = -1;
        for await (const piece of answer.body ?? []) lines += linesIn(piece);
        return { lines, count: Number(answer.headers.get('x-total-count')) };
      });
      const measured = await measure(served);
      await Promise.all(loads);
      expect(await download).toEqual({ lines: rowCount, count: rowCount });
      const [probeMs, pageMs, mb] = [
        Math.max(...measured.probes),
        Math.max(...measured.pages),
        peakMb(served),
      ];
      console.log(
        `probes ${Math.round(probeMs)} ms, lists ${Math.round(pageMs)} ms, peak ${Math.round(mb)} MB`,
      );
      for (const path of shortOnes) expect(await textAt(served, path)).toBe(quiet.get(path));
      expect(probeMs).toBeLessThan(250);
      expect(pageMs).toBeLessThan(1_000);
      expect(mb).toBeLessThan(400);
    },
  );

  test.each([
    ['while searches and downloads are answered', 2_000, true, 10_000],
    ['as soon as all of it was asked for', 0, true, 10_000],
    ['while only searches are computed', 500, false, 5_000],
  ])('SIGTERM %s ends it in time with 143', async (_when, afterMs, withFiles, endsMs) => {
    await using served = await serve();
    const asked = heavy.map(path => fetch(served.url + path, { headers }).then(answer => answer.text()));
    if (withFiles) {
      asked.push(fetch(`${served.url}/document-exports.csv`, { headers }).then(answer => answer.text()));
      await readSlowly(served, '/changes.csv');
    }
    const settled = Promise.allSettled(asked);
    await wait(afterMs);
    const beganAt = performance.now();
    served.cli.child.kill('SIGTERM');
    expect(await served.cli.done).toMatchObject({ code: 143, stderr: expect.not.stringContaining('fault') });
    const endedMs = performance.now() - beganAt;
    console.log(`ended after ${Math.round(endedMs)} ms`);
    expect(endedMs).toBeLessThan(endsMs);
    await settled;
  });

  test.skipIf(!hasProc)('HEAD of any address takes at most 5 ms of the processor', async () => {
    await using served = await serve();
    const paths = [
      ...[
        '/',
        '/runs',
        '/service',
        '/search?q=title',
        '/changes?page=500',
        '/document-exports?q=title',
        '/connections',
      ],
      ...['/records/document-exports/500', '/connections/7', '/v2/document-exports?pageSize=1000'],
      ...['/v2/changes', '/document-exports.csv', '/changes.csv?q=title', '/openapi.json'],
    ];
    const times = 40;
    for (const path of paths) {
      const head = async () => {
        const answer = await fetch(served.url + path, { headers, method: 'HEAD' });
        expect([path, answer.status]).toEqual([path, 200]);
      };
      for (let time = 0; time < times; time++) await head();
      const before = processorMs(served);
      for (let time = 0; time < times; time++) await head();
      expect([path, (processorMs(served) - before) / times]).toEqual([path, expect.toSatisfy(ms => ms < 5)]);
    }
  });
});

/** Asks from a process of its own, because this one is busy with what it downloads. */
async function measure({ url }: Served): Promise<{ probes: number[]; pages: number[] }> {
  const program = `
    import { setTimeout as wait } from 'node:timers/promises';
    const [url, headers, paths, count] = JSON.parse(process.argv[1]);
    const timed = async path => {
      const beganAt = performance.now();
      const answer = await fetch(url + path, { headers });
      await answer.text();
      if (answer.status !== 200) throw new Error(path + ' ' + answer.status);
      return performance.now() - beganAt;
    };
    const [probes, pages] = [[], []];
    for (let probe = 0; probe < count; probe++) {
      probes.push(await timed(['/livez', '/healthz', '/metrics'][probe % 3]));
      if (probe % 10 === 0) pages.push(await timed(paths[probe / 10 % paths.length]));
      await wait(20);
    }
    console.log(JSON.stringify({ probes, pages }));`;
  const given = JSON.stringify([url, headers, shortOnes, probeCount]);
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    program,
    given,
  ]);
  return JSON.parse(stdout);
}

function linesIn(piece: Uint8Array): number {
  let count = 0;
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) count++;
  return count;
}

/** A page of the report says how long ago things were. */
function withoutTimes(page: string): string {
  return page.replaceAll(/\d+ (seconds?|minutes?|min|s) ago|\d\d:\d\d(:\d\d)?/g, '');
}
