import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Scene, setScene } from '../support/scene.ts';
import { type Served, servedToken, serveScene } from '../support/served.ts';
import { collection, documentExport, type SampleItem } from '../support/stand-in.ts';

const chromiumPath = '/usr/bin/chromium';
const evil = '<script>document.title = "owned"</script><img src=x onerror=alert(1)>"\'&';
const reason = existsSync(chromiumPath) ? '' : ` (skipped: there is no ${chromiumPath})`;

describe.skipIf(reason !== '')(`the served pages in Chromium${reason}`, () => {
  let scene: Scene;
  let served: Served;
  let browser: Browser;
  beforeAll(async () => {
    scene = await setScene({}, { exports: 80 });
    const exports = scene.service.lists['document-exports'] as SampleItem[];
    exports.push(
      documentExport(900, {
        sourceDocumentTitle: 'w'.repeat(400),
        destinationReference: `s3://${'x'.repeat(900)}`,
        exportedAt: new Date(Date.now() - 86_400_000).toISOString(),
      }),
    );
    await scene.sync();
    scene.service.lists.collections[0] = collection(1, { name: evil });
    scene.service.lists.collections[1] = collection(2, { name: `long ${'name'.repeat(200)}` });
    scene.service.lists.collections.splice(3, 1);
    await scene.sync();
    browser = await chromium.launch({
      executablePath: chromiumPath,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
      ],
    });
  });
  afterAll(async () => {
    await browser?.close();
    await scene?.[Symbol.asyncDispose]();
  });

  // A process of the tests' own lives no longer than a minute.
  beforeEach(async () => {
    served = await serveScene(scene);
  });
  afterEach(() => served[Symbol.asyncDispose]());

  async function withPage(
    options: { width: number; dark?: boolean; javaScriptEnabled?: boolean },
    path: string,
    look: (page: Page, requested: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const { width, dark = false, javaScriptEnabled = true } = options;
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: dark ? 'dark' : 'light',
      javaScriptEnabled,
      httpCredentials: { username: 'anyone', password: servedToken },
    });
    const page = await context.newPage();
    const [seen, requested]: [string[], string[]] = [[], []];
    page.on('console', message => seen.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', error => seen.push(String(error)));
    page.on('dialog', dialog => seen.push(dialog.message()));
    page.on('request', request => requested.push(request.url()));
    await page.goto(served.url + path);
    await look(page, requested);
    expect(seen).toEqual([]);
    await context.close();
  }

  const paths = [
    '/',
    '/?days=365&timezone=Europe/Zurich',
    '/runs',
    '/service',
    '/connections?sort=newestExport&order=desc',
    '/records/collections/1',
    '/records/collections/2',
    '/records/document-exports/81',
    '/records/collections/4',
    '/search',
    '/search?q=document',
    '/search?q=wwww',
    '/search?q=nothing-like-it',
    '/document-exports',
    '/document-exports?q=wwww&sort=sourceDocumentTitle&order=desc',
    '/document-exports?from=2030-01-01T00:00:00Z&kind=none',
    '/collections',
    '/webhooks',
    '/connections',
    '/connections/101',
    '/changes?resource=collections',
    '/changes',
  ];
  const looks = [
    { width: 390, dark: true },
    { width: 700, dark: true },
    { width: 768, dark: true },
    { width: 1280, dark: false },
    { width: 1600, dark: false },
  ];

  test.each(looks)('are readable, quiet and accessible: %j', { timeout: 180_000 }, async look => {
    for (const path of paths) {
      await withPage(look, path, async (page, requested) => {
        const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
        expect(widths, path).toEqual([look.width, look.width]);
        expect(await page.title()).toMatch(/^Document exports|docmirror/);
        expect(requested).toEqual([served.url + path]);
        if (look.width !== 390 && look.width !== 1280) return;
        await page.evaluate(axe.source);
        const { violations } = (await page.evaluate('axe.run()')) as axe.AxeResults;
        expect(violations.map(({ id, nodes }) => `${path}: ${id}: ${nodes[0]?.html}`)).toEqual([]);
      });
    }
  });

  test('are gone through with the keyboard alone, without JavaScript', async () => {
    await withPage({ width: 1280, javaScriptEnabled: false }, '/records/collections/1', async page => {
      for (const [tag, text] of [
        ['A', 'Report'],
        ['A', 'Document exports'],
        ['A', 'Collections'],
        ['A', 'Webhooks'],
        ['A', 'Connections'],
        ['A', 'Changes'],
        ['A', 'Runs'],
        ['A', 'Service'],
        ['INPUT', ''],
        ['BUTTON', 'Search'],
        ['A', 'run 1'],
      ]) {
        await page.keyboard.press('Tab');
        const focused = page.locator(':focus');
        expect(await focused.evaluate(each => each.tagName)).toBe(tag);
        expect(await focused.textContent()).toBe(text);
        expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
      }
      expect(await page.locator('nav [aria-current=page]').textContent()).toBe('Collections');
      await page.getByRole('searchbox').focus();
      await page.keyboard.type('collection 3');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/search?q=collection+3');
      const link = page.getByRole('link', { name: 'Collection 3' });
      await link.focus();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/records/collections/3');
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Collection 3');
    });
  });

  test('are filtered, sorted and turned without JavaScript', async () => {
    await withPage({ width: 1280, javaScriptEnabled: false }, '/document-exports', async page => {
      await page.getByLabel('Words').fill('document');
      await page.getByRole('button', { name: 'Filter' }).click();
      await page.waitForURL('**/document-exports?q=document');
      await page.getByRole('link', { name: 'Title', exact: true }).click();
      await page.waitForURL('**/document-exports?q=document&sort=sourceDocumentTitle&order=asc');
      await page.getByRole('link', { name: 'Next page' }).click();
      expect(await page.getByRole('link', { name: 'Previous page' }).count()).toBe(1);
      await page.locator('.list tbody td a').first().click();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/^Connection/);
    });
  });

  test('keep tables down to 700 pixels and on paper, with references and times unbroken', async () => {
    for (const [width, media, display] of [
      [699, 'screen', 'block'],
      [700, 'screen', 'table'],
      [718, 'print', 'table'],
      [390, 'print', 'table'],
    ] as const) {
      await withPage({ width, javaScriptEnabled: false }, '/document-exports', async page => {
        await page.emulateMedia({ media });
        const style = await page.evaluate("getComputedStyle(document.querySelector('table.list')).display");
        expect(style).toBe(display);
        const broken = await page
          .locator('time, .whole')
          .evaluateAll(all => all.filter(each => each.getClientRects().length > 1).length);
        expect(broken).toBe(0);
        expect(await page.locator('form').first().isVisible()).toBe(media === 'screen');
      });
    }
  });

  test('have the numbers of a chart on demand', async () => {
    await withPage({ width: 1280, javaScriptEnabled: false }, '/', async page => {
      const numbers = page.locator('details').first();
      expect(await numbers.locator('table').isVisible()).toBe(false);
      await numbers.locator('summary').click();
      expect(await numbers.locator('table').isVisible()).toBe(true);
      expect((await page.locator('svg.chart').boundingBox())?.width).toBeGreaterThan(200);
    });
  });
});
