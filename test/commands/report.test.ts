import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Scene, setScene } from '../support/scene.ts';
import { documentExport, type SampleItem } from '../support/stand-in.ts';

const dayMs = 86_400_000;
const archive = { id: 401, name: 'Archive' };
const legal = { id: 402, name: 'Legal' };
const quietSource = { id: 301, name: 'Mailroom' };
const busySource = { id: 302, name: 'SAP' };

/** Begin of today in UTC, in milliseconds: the report is made now, so the scene is, too. */
const todayMs = Math.floor(Date.now() / dayMs) * dayMs;

// At the begin of the day, which is over at whatever time the test runs.
function daysAgo(days: number, time = '00:00:00Z'): string {
  return `${new Date(todayMs - days * dayMs).toISOString().slice(0, 10)}T${time}`;
}

/** Exports of three months: SAP goes on until yesterday, the mailroom stopped 20 days ago. */
function someExports(): SampleItem[] {
  const sap = Array.from({ length: 90 }, (_, at) =>
    documentExport(at, {
      sourceConnection: busySource,
      destinationConnection: archive,
      sourceDocumentKind: 'invoice',
      exportedAt: daysAgo(90 - at),
    }),
  );
  const mailroom = Array.from({ length: 40 }, (_, at) =>
    documentExport(200 + at, {
      sourceConnection: quietSource,
      destinationConnection: legal,
      sourceDocumentKind: 'letter',
      exportedAt: daysAgo(59 - at),
    }),
  );
  return [...sap, ...mailroom, documentExport(990, { exportedAt: 'yesterday' })];
}

let scene: Scene;

beforeAll(async () => {
  scene = await setScene();
  scene.service.lists['document-exports'] = someExports();
  await scene.sync();
});
afterAll(() => scene[Symbol.asyncDispose]());

async function report(...args: string[]): Promise<string> {
  const out = join(scene.folder, 'report.html');
  expect(await scene.run('report', '--out', out, ...args)).toMatchObject({ code: 0, stderr: '' });
  return readFileSync(out, 'utf8');
}

/** The text of a section, without its charts and tags. */
function words(html: string, id: string): string {
  const section = html.split('<section').find(each => each.includes(`aria-labelledby="${id}"`)) ?? '';
  return section
    .replace(/<svg.*?<\/svg>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
}

describe('the report of a period', () => {
  test('compares the last 30 days with the 30 days before, if nothing else is asked for', async () => {
    const html = await report();
    // SAP: 29 days up to yesterday, and 30 before. Mailroom: 10 of the last 30 days, and 30 before.
    expect(words(html, 'numbers')).toMatch(/Exports 39 .*60 before/);
    expect(words(html, 'exports')).toContain('Exports per day');
    expect(words(html, 'exports')).toContain(
      'Without a date that can be read, and so in no period: 1 export.',
    );
    expect(words(html, 'exports')).toMatch(/Legal 10 .* 30 /);
    expect(words(html, 'exports')).toMatch(/invoice 29 .* 30 /);
  });

  test('is named by --title, and counts from --since up to --until, each day in --timezone', async () => {
    const [since, until] = [daysAgo(10).slice(0, 10), daysAgo(8).slice(0, 10)];
    const html = await report('--title', 'Contracts <of> us', '--since', since, '--until', until);
    expect(html).toContain('<title>Contracts &lt;of> us</title>');
    expect(html).toContain('<h1>Contracts &lt;of> us</h1>');
    expect(words(html, 'numbers')).toMatch(/Exports 2 .*2 before/);
    // The day begins in Auckland at 11:00 or 12:00 UTC, so of these two it has the second.
    scene.service.lists['document-exports'] = [
      ...someExports(),
      documentExport(900, { exportedAt: daysAgo(9, '23:30:00Z') }),
      documentExport(901, { exportedAt: daysAgo(11, '23:30:00-13:00') }),
    ];
    await scene.sync('--full');
    const there = await report('--since', since, '--until', until, '--timezone', 'Pacific/Auckland');
    expect(words(there, 'numbers')).toMatch(/Exports 3 /);
    expect(there).toContain('Times are in Pacific/Auckland');
    const here = await report('--since', since, '--until', until);
    expect(words(here, 'numbers')).toMatch(/Exports 4 /);
    expect(here).toContain('Times are in UTC');
  });

  test.each([
    [['--since', '2026-11-20', '--until', '2026-11-20'], '--since: must be before --until'],
    [['--since', 'yesterday'], '--since: expected a date or time'],
  ])('is refused for %j', async (flags, message) => {
    const result = await scene.run('report', ...flags);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(message);
  });
});

test('a chart has three numbers at its side, what each bar says on hovering, and names its highest bar', async () => {
  const html = await report('--since', '7d', '--until', daysAgo(0).slice(0, 10), '--title', 'Chart');
  const [, chart = ''] = /<div class="plot">(.*?)<\/div>/s.exec(html) ?? [];
  expect(chart).toMatch(/<span>2<\/span><span>1<\/span><span>0<\/span>/);
  expect(chart).toContain(`<title>${daysAgo(5).slice(0, 10)}: 1; before: 1</title>`);
  expect(chart.match(/<title>/g)).toHaveLength(7);
  // On one of the days before there were two.
  expect(chart).toContain('; before: 2</title>');
  expect(html).toContain('The highest bar is 1.');
});

describe('the top of the report', () => {
  test.each(['30d', '7d', '24h'])('names a connection that went quiet, also before the %s', async since => {
    const html = await report('--since', since);
    expect(words(html, 'attention')).toMatch(/Mailroom.*20 days/);
    expect(words(html, 'attention')).not.toContain('SAP');
    expect(html).not.toContain('All is well');
  });
});

test('counts exports that the service no longer lists in the period of their time, and says how many they are', async () => {
  await using forgetful = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
  const all = Array.from({ length: 55 }, (_, at) => documentExport(at, { exportedAt: daysAgo(55 - at) }));
  for (const items of [all, all.slice(-28)]) {
    forgetful.service.lists['document-exports'] = items;
    await forgetful.sync('--allow-mass-removal');
  }
  const out = join(forgetful.folder, 'report.html');
  expect(await forgetful.run('report', '--out', out)).toMatchObject({ code: 0 });
  const html = readFileSync(out, 'utf8');
  const [, now = '', before = ''] = /Exports (\d+) .*?(\d+) before/.exec(words(html, 'numbers')) ?? [];
  expect(Number(now)).toBeGreaterThanOrEqual(29);
  expect(Number(now) + Number(before)).toBe(55);
  const gone = Number(now) - 28;
  expect(words(html, 'numbers')).toContain(
    `The service no longer lists ${gone} export${gone === 1 ? '' : 's'} and ${27 - gone} of those before.`,
  );
});

test('a connection is not quiet before its silence is five usual gaps', async () => {
  await using other = await setScene();
  const every = (source: { id: number; name: string }, gap: number, last: number) =>
    Array.from({ length: 8 }, (_, at) =>
      documentExport(source.id * 100 + at, {
        sourceConnection: source,
        exportedAt: daysAgo(last + gap * at),
      }),
    );
  other.service.lists['document-exports'] = [
    ...every(quietSource, 3, 16),
    ...every({ id: 303, name: 'Postroom' }, 3, 14),
    ...every(busySource, 1, 1),
  ].reverse();
  await other.sync();
  const out = join(other.folder, 'quiet.html');
  await other.run('report', '--out', out);
  const attention = words(readFileSync(out, 'utf8'), 'attention');
  expect(attention).toContain('Mailroom');
  expect(attention).not.toContain('Postroom');
});

describe('what changed in the period', () => {
  test('is reported as new, renamed or changed, and removed', async () => {
    await using other = await setScene();
    other.service.lists['document-exports'] = someExports();
    await other.sync();
    const renamed = { ...archive, name: 'Archive (EU)' };
    other.service.lists['document-exports'] = [
      ...someExports()
        .slice(1)
        .map(each =>
          each.destinationConnection === archive ? { ...each, destinationConnection: renamed } : each,
        ),
      documentExport(950, {
        sourceConnection: { id: 350, name: 'Workday' },
        destinationConnection: renamed,
        sourceDocumentKind: 'payslip',
        exportedAt: daysAgo(1),
      }),
    ];
    other.service.lists.collections.pop();
    await other.sync('--full');
    const out = join(other.folder, 'changes.html');
    await other.run('report', '--out', out);
    const text = words(readFileSync(out, 'utf8'), 'changes');
    expect(text).toMatch(/New: .*Workday.*Renamed/);
    expect(text).toMatch(/New: .*payslip.*Renamed/);
    expect(text).toMatch(/Renamed.*Archive → Archive \(EU\).*Removed/);
    expect(text).toMatch(/Removed.*Collections 7/);
    await other.run('report', '--out', out, '--until', daysAgo(1).slice(0, 10));
    expect(words(readFileSync(out, 'utf8'), 'changes')).not.toContain('Workday');
  });
});
