import { createHash } from 'node:crypto';
import { renderToString } from 'preact-render-to-string';
import type { ReportData } from '../../store/read/report-data.ts';
import { changeSection } from './change-section.ts';
import { exportSections } from './export-sections.ts';
import { type Html, html } from './html.ts';
import { attention, listCards, moment } from './list-sections.ts';
import { runSection } from './run-section.ts';
import { styleSheet } from './style-sheet.ts';
import { concernsOf, type Freshness } from './verdict.ts';

/** What a report says of itself besides the data: the docmirror that made it, and what it takes for too old. */
export interface ReportOptions extends Freshness {
  readonly version: string;
}

/** A report, and the content security policy that lets it show itself and nothing else. */
export interface ReportPage {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

const styleHash = createHash('sha256').update(styleSheet).digest('base64');

/** It loads nothing and runs nothing; only the one style sheet in it counts. */
export const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'`;

/** The report as one HTML page that needs nothing else: no script, no network, no other file. */
export async function reportPage(data: ReportData, options: ReportOptions): Promise<ReportPage> {
  const concerns = concernsOf(data, options);
  const body = html`<body>
    <header>
      <h1>docmirror report</h1>
      <p>${data.baseUrl === null ? 'A mirror that has not been synced yet' : html`What <strong>${data.baseUrl}</strong> lists`}, as of ${moment(new Date(options.nowMs).toISOString())}</p>
    </header>
    <main>
      ${attention(concerns, data)}
      ${listCards(data, options)}
      ${await exportSections(data)}
      ${await runSection(data)}
      ${changeSection(data)}
      ${glossary}
    </main>
    <footer><p>Made by docmirror ${options.version}. Times are UTC. Secret parts of addresses are never shown.</p></footer>
  </body>`;
  const page = html`<html lang="en">${head}${body}</html>`;
  return { html: `<!doctype html>\n${renderToString(page as never)}\n`, contentSecurityPolicy };
}

const head: Html = html`<head>
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <meta name="color-scheme" content="light dark" />
  <meta name="referrer" content="no-referrer" />
  <meta name="robots" content="noindex" />
  <meta http-equiv="content-security-policy" content=${contentSecurityPolicy} />
  <link rel="icon" href="data:," />
  <title>docmirror report</title>
  <style dangerouslySetInnerHTML=${{ __html: styleSheet }}></style>
</head>`;

const glossary: Html = html`<section aria-labelledby="words">
  <h2 id="words">What the words mean</h2>
  <dl class="glossary">
    <dt>proven</dt><dd>Two walks over the whole list agreed, record for record. Only then are records removed.</dd>
    <dt>counts agree</dt><dd>One walk saw every page and every count was right; nothing the mirror knew was missing.</dd>
    <dt>incremental</dt><dd>The edges and counts of the list agree with the last full sweep, plus what is new.</dd>
    <dt>unproven</dt><dd>The service contradicted itself. What was seen is stored, and nothing is removed.</dd>
    <dt>withheld</dt><dd>Records that are gone but were kept, for too many went at once.</dd>
    <dt>rejected</dt><dd>Records that could not be read. Their text is kept aside.</dd>
  </dl>
</section>`;
