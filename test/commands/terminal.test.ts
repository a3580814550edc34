import { eastAsianWidth } from 'get-east-asian-width';
import { describe, expect, test } from 'vitest';
import { onTerminal, type Shown } from '../support/on-terminal.ts';
import { setScene } from '../support/scene.ts';
import type { RecordedRequest } from '../support/stand-in.ts';

const widthOf = (text: string) =>
  [...text].reduce((columns, character) => columns + eastAsianWidth(character.codePointAt(0) as number), 0);

/** Nothing of a log: no field, and nothing that a terminal of that width breaks, but what has to stay whole to be copied. */
function expectForPeople({ texts }: Shown, columns: number): void {
  const isWhole = /^[0-9a-f]{64}$|^ {4}docmirror /;
  expect(texts.filter(text => widthOf(text) > columns && !isWhole.test(text))).toEqual([]);
  expect(texts.filter(text => /\b[a-z]\w*=\S/i.test(text))).toEqual([]);
}

const longList = { latencyMs: 60, maxPageSize: 100 };
const unavailable = (isIt: (request: RecordedRequest) => boolean) => (request: RecordedRequest) =>
  isIt(request) ? ({ kind: 'status', status: 503 } as const) : undefined;

describe.concurrent('a sync on a terminal', () => {
  test('says what it does before the first answer, then how far each list is, and at the end the result', async () => {
    await using scene = await setScene(longList, { exports: 4_000 });
    const begun = Promise.withResolvers<void>();
    scene.service.onRequest = () => begun.promise;
    const { DOCMIRROR_LOG_LEVEL: _, ...env } = scene.env;
    const shown = await onTerminal(['sync'], env, {
      onShown: text => text.includes('collections  asking for the first page') && begun.resolve(),
    });
    expect(shown.code).toBe(0);
    expectForPeople(shown, 80);
    const moving = shown.texts.filter(text => text.startsWith('document-exports  ['));
    expect(moving).toContainEqual(
      expect.stringMatching(
        /^document-exports {2}\[#+\.+\] +\d+% {2}\d+ s left {2}[\d,]+ records {2}[\d,]+\/s$/,
      ),
    );
    expect(shown.lines[0]).toMatch(/^List +Seen +New/);
    expect(shown.lines.join('\n')).toContain('4,010 new. All lists proven.');
    expect(shown.raw).toContain('\u001b[32mcomplete: proven\u001b[39m');
  });

  test('says in the same place that it tries again and why, and no line is left of it', async () => {
    const faults = unavailable(
      ({ resource, pageNo, n }) => resource === 'document-exports' && (pageNo ?? 1) > 1 && n < 8,
    );
    await using scene = await setScene({ ...longList, faults }, { exports: 1_000 });
    const { DOCMIRROR_LOG_LEVEL: _, ...env } = scene.env;
    const shown = await onTerminal(['sync'], { ...env, NO_COLOR: '1' });
    expect(shown.code).toBe(0);
    expectForPeople(shown, 80);
    const retry = /^document-exports {2}\[#*\.+\] +\d+% {2}retrying \(try \d\): answered 503$/;
    expect(shown.texts).toContainEqual(expect.stringMatching(retry));
    expect(shown.lines.join('\n')).not.toMatch(/retrying|trying again/);
    // NO_COLOR
    expect(shown.raw).not.toContain('\u001b[3');
  });

  test('says until when the service wants to be left alone, also in 40 columns', async () => {
    const headers = { 'retry-after': '2' };
    const faults = ({ n }: RecordedRequest) =>
      n === 1 ? ({ kind: 'status', status: 429, headers } as const) : undefined;
    await using scene = await setScene({ faults });
    const { DOCMIRROR_LOG_LEVEL: _, ...env } = scene.env;
    const shown = await onTerminal(['sync', '--resource', 'webhooks'], env, { columns: 40 });
    expect(shown.code).toBe(0);
    expectForPeople(shown, 40);
    expect(shown.texts).toContainEqual(expect.stringMatching(/^webhooks {2}rate limited until [\d:]{8}Z/));
  });

  test('tells a wrong token once, with what to do', async () => {
    await using scene = await setScene();
    const { DOCMIRROR_LOG_LEVEL: _, ...env } = scene.env;
    const shown = await onTerminal(['sync'], { ...env, DOCMIRROR_TOKEN: 'wrong' });
    expect(shown.code).toBe(12);
    expectForPeople(shown, 80);
    const said = shown.lines.join(' ').replaceAll(/\s+/g, ' ');
    expect(said.match(/the token was refused/g)).toHaveLength(1);
    expect(said).toContain('document-exports, collections, webhooks: GET http://');
    expect(said).toContain('What to do: - Get a new token');
  });

  test('writes no control codes to a terminal that can only print', async () => {
    await using scene = await setScene();
    const { DOCMIRROR_LOG_LEVEL: _, ...env } = scene.env;
    const shown = await onTerminal(['sync'], { ...env, TERM: 'dumb' });
    expect(shown.code).toBe(0);
    expect(shown.raw).not.toContain('\u001b');
    expect(shown.lines[0]).toMatch(/^List +Seen +New/);
  });

  test('logs what the user asks for, as sentences', async () => {
    const faults = unavailable(({ n }) => n === 1);
    await using scene = await setScene({ faults });
    const shown = await onTerminal(['sync', '--log-level', 'info'], scene.env, { columns: 80 });
    const logged = shown.lines.filter(line => /^[\d:]{8} /.test(line));
    expect(logged).toContainEqual(
      expect.stringMatching(/warn {2}trying again: GET .* answered 503: .* \[overloaded\]/),
    );
    expect(logged.filter(line => /info {2}\S+: list completed \(/.test(line))).toHaveLength(3);
  });
});

test('status colours each verdict, also in the middle of a line', async () => {
  await using scene = await setScene();
  await scene.sync();
  const { raw } = await onTerminal(['status'], scene.env, { columns: 100 });
  expect(raw.split('\u001b[32mcomplete: proven\u001b[39m  ')).toHaveLength(4);
});

test('CSV on a terminal shows control characters of the data, and elsewhere it has them as they are', async () => {
  await using scene = await setScene();
  await scene.sync();
  const args = ['query', "SELECT 'a' || char(27, 91, 51, 49, 109, 155) || 'ü' AS title", '--format', 'csv'];
  const { raw } = await onTerminal(args, scene.env);
  expect(raw).toContain('title\r\na\\u001b[31m\\u009bü\r\n');
  expect((await scene.run(...args)).stdout).toBe('title\na\u001b[31m\u009bü\n');
});

test('sentences of status, demo and errors fit a terminal', async () => {
  await using scene = await setScene({ status: { webhooks: 404 } });
  await scene.sync();
  const env = { ...scene.env, DOCMIRROR_LOG_LEVEL: 'error' };
  const status = await onTerminal(['status'], env, { columns: 60 });
  expect(status.lines.join(' ').replaceAll(/\s+/g, ' ')).toContain(
    'there is no page at this address [not_found]',
  );
  const wrong = await onTerminal(['status', '--max-age', 'soon'], env, { columns: 60 });
  expect(wrong.lines.length).toBeGreaterThan(2);
  const demo = await onTerminal(['demo', '--records', '60'], env, { columns: 60, cwd: scene.folder });
  const isWhole = /^ {2}(sqlite3|docmirror) |^For a service|^The mirror is|^[0-9a-f]{64}$/;
  expect(demo.lines.filter(line => line.startsWith('~ '))).not.toEqual([]);
  for (const { lines } of [status, wrong, demo])
    expect(lines.filter(line => widthOf(line) > 60 && !isWhole.test(line))).toEqual([]);
});

test('a table on a terminal cuts a cell of a million characters, and elsewhere has all of it', async () => {
  await using scene = await setScene();
  await scene.sync();
  const args = ['query', "SELECT replace(hex(zeroblob(500000)), '0', 'x') AS title, 7 AS n"];
  const { lines } = await onTerminal(args, scene.env);
  expect(lines.slice(0, 2)).toEqual([`${'x'.repeat(1_000)}…`, '  n: 7']);
  expect((await scene.run(...args)).stdout).toContain('x'.repeat(1_000_000));
});
