import type { ReportData } from '../../store/read/report-data.ts';
import { changeSection } from './change-section.ts';
import { exportSections } from './export-sections.ts';
import { framed, navigation, type Page, type Root } from './frame.ts';
import { type Html, html } from './html.ts';
import { attention, listCards, moment } from './list-sections.ts';
import { runSection } from './run-section.ts';
import { concernsOf, type Freshness } from './verdict.ts';

/** What a report says of itself besides the data: the docmirror that made it, and what it takes for too old. */
interface ReportOptions extends Freshness {
  readonly version: string;
  /** Where the pages of the records are; null where there are none. */
  readonly root: Root;
}

/** The report as one HTML page that needs nothing else: no script, no network, no other file. */
export async function reportPage(data: ReportData, options: ReportOptions): Promise<Page> {
  const concerns = concernsOf(data, options);
  const body = html`<body>
    <header>
      <h1>docmirror report</h1>
      <p>${stateOf(data)}. This report was made ${moment(new Date(options.nowMs).toISOString())}.</p>
      ${options.root !== null && navigation(options.root)}
    </header>
    <main>
      ${attention(concerns, data)}
      ${listCards(data, options)}
      ${await exportSections(data)}
      ${await runSection(data)}
      ${changeSection(data, options.root)}
      ${glossary()}
    </main>
    <footer><p>Made by docmirror ${options.version}. Times are UTC. Secret parts of addresses are never shown.</p></footer>
  </body>`;
  return framed('docmirror report', body, options.root);
}

/** What is mirrored, and as of when: the list that was longest not completed tells. */
function stateOf({ baseUrl, lists }: ReportData): Html {
  if (baseUrl === null) return 'A mirror that has not been synced yet';
  const [oldest] = lists.map(({ lastCompletedAt }) => lastCompletedAt ?? '').toSorted();
  return html`What <strong>${baseUrl}</strong> lists, ${oldest ? html`last completed ${moment(oldest)}` : 'not completed yet'}`;
}

function glossary(): Html {
  return html`<section aria-labelledby="words">
  <h2 id="words">What the words mean</h2>
  <dl class="glossary">
    <dt>proven</dt><dd>Two walks over the whole list agreed, record for record. Only then are records removed.</dd>
    <dt>incremental</dt><dd>The edges and counts of the list agree with the last full sweep, plus what is new.</dd>
    <dt>unproven</dt><dd>The service contradicted itself. What was seen is stored, and nothing is removed.</dd>
    <dt>withheld</dt><dd>Records that are gone but were kept, for too many went at once, or what was rejected may be among them.</dd>
    <dt>rejected</dt><dd>Records that could not be read. Their text is kept aside.</dd>
  </dl>
</section>`;
}
