import { printable } from '../../printable.ts';
import type { ReportData } from '../../store/read/report-data.ts';
import { cut } from '../cut.ts';
import { changeSection } from './change-section.ts';
import { Clock } from './clock.ts';
import { exportSections } from './export-sections.ts';
import { framed, navigation, type Page, type Root } from './frame.ts';
import { type Html, html } from './html.ts';
import { attention } from './list-sections.ts';
import { numberCards } from './number-cards.ts';
import { behindConcerns, quietConcerns } from './quiet.ts';
import { runSection } from './run-section.ts';
import { concernsOf, type Freshness } from './verdict.ts';

/** Details of a report besides its data: the version of docmirror, and the age that counts as too old. */
interface ReportOptions extends Freshness {
  readonly version: string;
  /** The path to the pages of the records; null if there are none. */
  readonly root: Root;
  /** The title; undefined for docmirror's own. */
  readonly title?: string | undefined;
}

const titleMax = 200;

/** The report as one HTML page that needs nothing else: no script, no network, no other file. */
export function reportPage(data: ReportData, options: ReportOptions): Page {
  const concerns = [...quietConcerns(data), ...behindConcerns(data, options), ...concernsOf(data, options)];
  const clock = new Clock(data.period.timezone);
  const title = cut(printable(options.title ?? 'Document exports'), titleMax);
  const body = html`<body class="report">
    <header>
      <h1>${title}</h1>
      <p class="period">${clock.span(data.period.span)}</p>
      <p>${stateOf(data, clock)}. This report was made ${clock.moment(new Date(options.nowMs).toISOString())}.</p>
      ${options.root !== null && navigation(options.root)}
    </header>
    <main>
      ${attention(concerns, data)}
      ${numberCards(data)}
      ${exportSections(data)}
      ${changeSection(data, options.root)}
      ${runSection(data, options)}
      ${glossary()}
    </main>
    <footer><p>Made by docmirror ${options.version}. Times are in ${clock.timezone}. Endpoints are cut to scheme and host.</p></footer>
  </body>`;
  return framed(title, body, options.root);
}

/** The mirrored service and the time of the oldest list. */
function stateOf({ baseUrl, lists }: ReportData, clock: Clock): Html {
  if (baseUrl === null) return 'A mirror that has not been synced yet';
  const [oldest] = lists.map(({ lastCompletedAt }) => lastCompletedAt ?? '').toSorted();
  return html`From <strong>${baseUrl}</strong>, ${oldest ? html`last completed ${clock.moment(oldest)}` : 'not completed yet'}`;
}

function glossary(): Html {
  return html`<section class="glossary-of" aria-labelledby="words">
  <h2 id="words">What the words mean</h2>
  <dl class="glossary">
    <dt>proven</dt><dd>The answers of the service show that the copy of the list is complete.</dd>
    <dt>incremental</dt><dd>The list was proven before, and its growing end was read since.</dd>
    <dt>unproven</dt><dd>The answers do not show that the list is complete. What was seen is stored. Only records that were shown to be gone are removed.</dd>
    <dt>withheld</dt><dd>Records that are gone but were kept, because too many went at once, or because a rejected record might be one of them.</dd>
    <dt>rejected</dt><dd>Records that could not be read. Their text is in rejected_records.</dd>
  </dl>
</section>`;
}
